#include "backend/wire/tensor_block.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <random>

namespace vernier {
namespace {

Tensor MakeTensor(DType dtype, Dims dims, size_t size) {
  std::vector<std::byte> bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 7 + 1);
  Result<Tensor> tensor = Tensor::Copy(dtype, std::move(dims), bytes);
  EXPECT_TRUE(tensor.ok()) << tensor.status().message();
  return *std::move(tensor);
}

TensorMap SmallTensors() {
  const std::vector<std::string> words = {"", "ünï", "a longer text"};
  return {{"x", MakeTensor(DType::kFloat32, {2, 3}, 24)},
          {"empty", MakeTensor(DType::kInt64, {0, 5}, 0)},
          {"scalar", MakeTensor(DType::kBool, {}, 1)},
          {"words", *Tensor::FromStrings({3}, words)},
          {"nibbles", MakeTensor(DType::kInt4, {3}, 2)}};
}

TensorMap LargeTensors() {
  TensorMap tensors = SmallTensors();
  tensors.push_back({"large", MakeTensor(DType::kFloat64, {100, 100}, 80'000)});
  return tensors;
}

UniqueFd Duplicate(const UniqueFd& fd) {
  return UniqueFd(fd.valid() ? ::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0) : -1);
}

Result<DecodedBlock> Decode(const TensorBlock& block) {
  return DecodeTensors(block.description, Duplicate(block.memory));
}

void ExpectSame(const TensorMap& actual, const TensorMap& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    EXPECT_EQ(actual[i].name, expected[i].name);
    EXPECT_EQ(actual[i].tensor.dtype(), expected[i].tensor.dtype());
    EXPECT_EQ(actual[i].tensor.dims(), expected[i].tensor.dims());
    const std::span<const std::byte> a = actual[i].tensor.bytes(), e = expected[i].tensor.bytes();
    EXPECT_TRUE(std::equal(a.begin(), a.end(), e.begin(), e.end())) << actual[i].name;
  }
}

// Touches every byte that a reader of the tensors may touch.
uint64_t Digest(const DecodedBlock& block) {
  uint64_t digest = 0;
  for (const auto& [name, tensor] : block.tensors) {
    for (const std::byte b : tensor.bytes()) digest = digest * 31 + static_cast<uint64_t>(b);
    if (tensor.dtype() != DType::kString) continue;
    for (int64_t i = 0; i < tensor.element_count(); ++i) digest += tensor.StringAt(i).size();
  }
  return digest;
}

TEST(TensorBlock, SmallTensorsTravelInTheDescription) {
  const Result<TensorBlock> block = EncodeTensors(SmallTensors());
  ASSERT_TRUE(block.ok());
  EXPECT_FALSE(block->memory.valid());
  const Result<DecodedBlock> decoded = Decode(*block);
  ASSERT_TRUE(decoded.ok()) << decoded.status().message();
  ExpectSame(decoded->tensors, SmallTensors());
}

TEST(TensorBlock, LargeTensorsTravelInSealedMemory) {
  const Result<TensorBlock> block = EncodeTensors(LargeTensors());
  ASSERT_TRUE(block.ok());
  ASSERT_TRUE(block->memory.valid());
  EXPECT_EQ(::ftruncate(block->memory.get(), 0), -1);
  EXPECT_EQ(::pwrite(block->memory.get(), "x", 1, 0), -1);
  EXPECT_EQ(::mmap(nullptr, 1, PROT_WRITE, MAP_SHARED, block->memory.get(), 0), MAP_FAILED);
  // The same block may be sent again.
  for (int i = 0; i < 2; ++i) {
    const Result<DecodedBlock> decoded = Decode(*block);
    ASSERT_TRUE(decoded.ok()) << decoded.status().message();
    ExpectSame(decoded->tensors, LargeTensors());
  }
}

TEST(TensorBlock, TensorsOutliveTheDescriptorAndTheBlock) {
  TensorMap kept;
  for (const TensorMap& tensors : {SmallTensors(), LargeTensors()}) {
    Result<TensorBlock> block = EncodeTensors(tensors);
    ASSERT_TRUE(block.ok());
    kept = Decode(*block)->tensors;
    block = TensorBlock();
    ExpectSame(kept, tensors);
  }
}

TEST(TensorBlock, NothingAtAll) {
  const Result<TensorBlock> block = EncodeTensors({});
  ASSERT_TRUE(block.ok());
  const Result<DecodedBlock> decoded = Decode(*block);
  ASSERT_TRUE(decoded.ok());
  EXPECT_TRUE(decoded->tensors.empty());
}

TEST(TensorBlock, SkippedOutputsKeepTheirReason) {
  TensorBlockBuilder builder;
  builder.AddSkipped("list", "a sequence");
  const std::byte one{1};
  builder.Add("flag", DType::kBool, {}, std::span(&one, 1));
  const Result<TensorBlock> block = builder.Finish();
  ASSERT_TRUE(block.ok());
  const Result<DecodedBlock> decoded = Decode(*block);
  ASSERT_TRUE(decoded.ok());
  ASSERT_EQ(decoded->skipped.size(), 1u);
  EXPECT_EQ(decoded->skipped[0].name, "list");
  EXPECT_EQ(decoded->skipped[0].why, "a sequence");
  ASSERT_EQ(decoded->tensors.size(), 1u);
  EXPECT_EQ(decoded->tensors[0].name, "flag");
}

TEST(TensorBlock, EveryTensorIsAligned) {
  for (const TensorMap& tensors : {SmallTensors(), LargeTensors()}) {
    const Result<DecodedBlock> decoded = Decode(*EncodeTensors(tensors));
    ASSERT_TRUE(decoded.ok());
    for (const auto& [name, tensor] : decoded->tensors) {
      EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.bytes().data()) % 64, 0u) << name;
    }
  }
}

TEST(HostileBlock, TruncationAtEveryByteIsAnError) {
  for (const TensorMap& tensors : {SmallTensors(), LargeTensors()}) {
    const Result<TensorBlock> block = EncodeTensors(tensors);
    ASSERT_TRUE(block.ok());
    for (size_t size = 0; size < block->description.size(); ++size) {
      const Result<DecodedBlock> decoded =
          DecodeTensors(std::span(block->description).first(size), Duplicate(block->memory));
      ASSERT_FALSE(decoded.ok()) << size << " of " << block->description.size();
      EXPECT_EQ(decoded.status().code(), StatusCode::kBackend);
    }
  }
}

TEST(HostileBlock, BytesAfterTheEndAreAnError) {
  for (const TensorMap& tensors : {SmallTensors(), LargeTensors()}) {
    Result<TensorBlock> block = EncodeTensors(tensors);
    ASSERT_TRUE(block.ok());
    block->description.push_back(std::byte{0});
    EXPECT_FALSE(Decode(*block).ok());
  }
}

TEST(HostileBlock, BitFlipsAreAnErrorOrValid) {
  std::mt19937_64 random(1);
  for (const TensorMap& tensors : {SmallTensors(), LargeTensors()}) {
    const Result<TensorBlock> block = EncodeTensors(tensors);
    ASSERT_TRUE(block.ok());
    size_t refused = 0;
    const auto decode = [&](const std::vector<std::byte>& description) {
      const Result<DecodedBlock> decoded = DecodeTensors(description, Duplicate(block->memory));
      if (decoded.ok()) Digest(*decoded);
      refused += !decoded.ok();
    };
    for (size_t bit = 0; bit < block->description.size() * 8; ++bit) {
      std::vector<std::byte> flipped = block->description;
      flipped[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
      decode(flipped);
    }
    EXPECT_GT(refused, 0u);
    for (int i = 0; i < 20'000; ++i) {
      std::vector<std::byte> flipped = block->description;
      for (uint64_t flips = 1 + random() % 8; flips > 0; --flips) {
        flipped[random() % flipped.size()] ^= static_cast<std::byte>(1 << random() % 8);
      }
      decode(flipped);
    }
  }
}

TEST(HostileBlock, RandomBytesAreAnErrorOrValid) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::byte> description(random() % 200);
    // Small numbers get further than random ones.
    for (std::byte& b : description) b = static_cast<std::byte>(random() % 8 == 0 ? random() : 0);
    const Result<DecodedBlock> decoded = DecodeTensors(description, UniqueFd());
    if (decoded.ok()) Digest(*decoded);
  }
}

TEST(HostileBlock, CountThatCannotBeThereAllocatesNothing) {
  // As many entries as bytes would take ten gigabytes before the first is found missing.
  MessageWriter writer;
  const std::vector<std::byte> padding(64 << 20);
  writer.Number<uint64_t>(padding.size());
  writer.Append(padding);
  EXPECT_EQ(DecodeTensors(writer.bytes(), UniqueFd()).status().code(), StatusCode::kBackend);
}

// A description of one float32 tensor of four elements, in memory.
std::vector<std::byte> DescribeOne(uint64_t offset, uint64_t size, int64_t dim = 4) {
  MessageWriter writer;
  writer.Number<uint64_t>(1);
  writer.Text("x");
  writer.Text("");
  writer.Number(static_cast<uint8_t>(DType::kFloat32));
  writer.Number<uint64_t>(1);
  writer.Number(dim);
  writer.Number(offset);
  writer.Number(size);
  writer.Number<uint8_t>(0);
  return {writer.bytes().begin(), writer.bytes().end()};
}

UniqueFd MakeMemory(size_t size, int seals) {
  UniqueFd memory(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_EQ(::ftruncate(memory.get(), static_cast<off_t>(size)), 0);
  EXPECT_EQ(::fcntl(memory.get(), F_ADD_SEALS, seals), 0);
  return memory;
}

constexpr int kAllSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;

TEST(TensorBlock, FilledTensorsArriveBesideOthers) {
  for (const int64_t count : {4, 100'000}) {  // in the message, and in shared memory
    const std::vector<float> values(static_cast<size_t>(count), 2.5f);
    TensorBlockBuilder builder;
    const int64_t dims[] = {count};
    builder.AddFilled("filled", DType::kFloat32, dims, values.size() * 4, [&](auto to) {
      std::ranges::copy(std::as_bytes(std::span(values)), to.begin());
      return Status();
    });
    builder.Add("plain", DType::kFloat32, dims, std::as_bytes(std::span(values)));
    Result<TensorBlock> block = builder.Finish();
    ASSERT_TRUE(block.ok());
    const Result<DecodedBlock> decoded =
        DecodeTensors(block->description, std::move(block->memory));
    ASSERT_TRUE(decoded.ok());
    ASSERT_EQ(decoded->tensors.size(), 2u);
    for (const auto& [name, tensor] : decoded->tensors) {
      EXPECT_EQ(tensor.As<float>().back(), 2.5f) << name;
    }
  }
}

bool AreTheSameMemory(int a, int b) {
  struct stat x {
  }, y{};
  return ::fstat(a, &x) == 0 && ::fstat(b, &y) == 0 && x.st_ino == y.st_ino && x.st_dev == y.st_dev;
}

TEST(TensorBlock, WhatIsInSharedMemoryAlreadyIsNotCopied) {
  const auto memory = SharedMemory::Create();
  ASSERT_TRUE(memory.ok());
  const auto place = (*memory)->Allocate(40'000);
  ASSERT_TRUE(place.ok());
  std::ranges::fill(*place, std::byte{7});
  const std::vector<std::byte> elsewhere(100'000, std::byte{9});
  TensorBlockBuilder builder;
  builder.Use(*memory);
  const int64_t dims[] = {100'000};
  const int64_t placed_dims[] = {39'936};  // from a multiple of 64 on
  builder.Add("elsewhere", DType::kUint8, dims, elsewhere);
  builder.Add("placed", DType::kUint8, placed_dims, place->subspan(64));
  builder.AddFilled("filled", DType::kUint8, dims, 100'000, [](auto to) {
    std::ranges::fill(to, std::byte{5});
    return Status();
  });
  const Result<TensorBlock> block = builder.Finish();
  ASSERT_TRUE(block.ok()) << block.status().message();
  EXPECT_TRUE(AreTheSameMemory(block->memory.get(), (*memory)->descriptor()));
  const Result<DecodedBlock> decoded = Decode(*block);
  ASSERT_TRUE(decoded.ok()) << decoded.status().message();
  ASSERT_EQ(decoded->tensors.size(), 3u);
  const uint8_t expected[] = {9, 7, 5};
  for (size_t i = 0; i < 3; ++i) {
    const std::span<const uint8_t> values = decoded->tensors[i].tensor.As<uint8_t>();
    EXPECT_EQ(std::ranges::count(values, expected[i]), std::ssize(values)) << i;
  }
}

TEST(TensorBlock, TensorsOfSealedMemoryAreSentAsTheyAre) {
  const auto memory = SharedMemory::Create();
  ASSERT_TRUE(memory.ok());
  const auto place = (*memory)->Allocate(4096);
  ASSERT_TRUE(place.ok());
  std::ranges::fill(*place, std::byte{3});
  ASSERT_TRUE((*memory)->Seal().ok());
  const auto tensor = Tensor::WrapShared(DType::kUint8, {4096}, *place, *memory);
  ASSERT_TRUE(tensor.ok());
  const Result<TensorBlock> block = EncodeTensors({{"x", *tensor}});
  ASSERT_TRUE(block.ok());
  EXPECT_TRUE(AreTheSameMemory(block->memory.get(), (*memory)->descriptor()));
  ExpectSame(Decode(*block)->tensors, {{"x", *tensor}});
  // Beside one that lies elsewhere, all are copied: sealed memory cannot grow.
  const auto other = Tensor::Copy(DType::kUint8, {50'000}, std::vector<std::byte>(50'000));
  const TensorMap both = {{"x", *tensor}, {"y", *other}};
  const Result<TensorBlock> copied = EncodeTensors(both);
  ASSERT_TRUE(copied.ok());
  EXPECT_FALSE(AreTheSameMemory(copied->memory.get(), (*memory)->descriptor()));
  ExpectSame(Decode(*copied)->tensors, both);
}

TEST(TensorBlock, AFillThatFailsFailsTheBlock) {
  for (const int64_t count : {4, 100'000}) {
    TensorBlockBuilder builder;
    const int64_t dims[] = {count};
    builder.AddFilled("x", DType::kFloat32, dims, static_cast<size_t>(count) * 4,
                      [](auto) { return BackendError("the device is gone"); });
    EXPECT_EQ(builder.Finish().status().message(), "the device is gone");
  }
}

TEST(TensorBlock, KeptTensorsAreHandlesInTheirPlace) {
  TensorBlockBuilder builder;
  const float value = 1;
  const int64_t dims[] = {2, 3};
  builder.Add("first", DType::kFloat32, {}, std::as_bytes(std::span(&value, 1)));
  builder.AddKept("second", DType::kInt8, dims, 77);
  builder.Add("third", DType::kFloat32, {}, std::as_bytes(std::span(&value, 1)));
  Result<TensorBlock> block = builder.Finish();
  ASSERT_TRUE(block.ok());
  const Result<DecodedBlock> decoded = DecodeTensors(block->description, std::move(block->memory));
  ASSERT_TRUE(decoded.ok());
  ASSERT_EQ(decoded->tensors.size(), 2u);
  ASSERT_EQ(decoded->kept.size(), 1u);
  EXPECT_EQ(decoded->kept[0].name, "second");
  EXPECT_EQ(decoded->kept[0].dtype, DType::kInt8);
  EXPECT_EQ(decoded->kept[0].dims, (Dims{2, 3}));
  EXPECT_EQ(decoded->kept[0].handle, 77u);
  EXPECT_EQ(decoded->kept[0].position, 1u);
}

// As a worker lends it: mapped there for writing before it is sealed.
UniqueFd MakeLentMemory(size_t size) {
  UniqueFd memory = MakeMemory(size, 0);
  void* const map = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0);
  EXPECT_NE(map, MAP_FAILED);
  EXPECT_EQ(::fcntl(memory.get(), F_ADD_SEALS, SealsOfLoans()), 0);
  ::munmap(map, size);
  return memory;
}

TEST(LentBlock, IsReturnedWithTheLastOfItsTensors) {
  const UniqueFd memory = MakeLentMemory(64);
  struct stat info {};
  ASSERT_EQ(::fstat(memory.get(), &info), 0);
  const auto loans = std::make_shared<Loans>();
  Result<DecodedBlock> decoded = DecodeTensors(DescribeOne(0, 16), Duplicate(memory), loans);
  ASSERT_TRUE(decoded.ok()) << decoded.status().message();
  Tensor kept = decoded->tensors[0].tensor;
  decoded->tensors.clear();
  EXPECT_TRUE(loans->Take().empty());
  // No other process may map memory that will change.
  EXPECT_EQ(kept.memory(), nullptr);
  kept = Tensor();
  EXPECT_EQ(loans->Take(), std::vector<uint64_t>{info.st_ino});
  EXPECT_TRUE(loans->Take().empty());
}

TEST(LentBlock, IsRefusedWhereNobodyWouldReturnIt) {
  EXPECT_FALSE(DecodeTensors(DescribeOne(0, 16), MakeLentMemory(64)).ok());
  const auto loans = std::make_shared<Loans>();
  for (const int seal : {F_SEAL_SHRINK, F_SEAL_GROW, F_SEAL_FUTURE_WRITE, F_SEAL_SEAL}) {
    const int seals = SealsOfLoans() & ~seal;
    EXPECT_FALSE(DecodeTensors(DescribeOne(0, 16), MakeMemory(64, seals), loans).ok()) << seal;
  }
  EXPECT_TRUE(loans->Take().empty());
  // What is sealed for good is not to be returned.
  EXPECT_TRUE(DecodeTensors(DescribeOne(0, 16), MakeMemory(64, kAllSeals), loans).ok());
  EXPECT_TRUE(loans->Take().empty());
}

TEST(HostileBlock, TensorOutsideItsMemoryIsRefused) {
  EXPECT_TRUE(DecodeTensors(DescribeOne(64, 16), MakeMemory(80, kAllSeals)).ok());
  struct Place {
    uint64_t offset, size;
  };
  constexpr uint64_t kHuge = ~uint64_t{0};
  for (const Place& place : {Place{128, 16}, Place{64, 32}, Place{kHuge - 63, 16},
                             Place{kHuge - 63, 64}, Place{0, kHuge}, Place{64, kHuge - 63}}) {
    const Result<DecodedBlock> decoded =
        DecodeTensors(DescribeOne(place.offset, place.size), MakeMemory(80, kAllSeals));
    EXPECT_EQ(decoded.status().code(), StatusCode::kBackend) << place.offset << " " << place.size;
  }
}

TEST(HostileBlock, MisalignedTensorIsRefused) {
  for (const uint64_t offset : {1, 4, 32, 63}) {
    EXPECT_FALSE(DecodeTensors(DescribeOne(offset, 16), MakeMemory(128, kAllSeals)).ok()) << offset;
  }
}

TEST(HostileBlock, ShapeThatDoesNotFitItsBytesIsRefused) {
  for (const int64_t dim : {int64_t{-1}, int64_t{3}, int64_t{5}, int64_t{1} << 62}) {
    EXPECT_FALSE(DecodeTensors(DescribeOne(0, 16, dim), MakeMemory(64, kAllSeals)).ok()) << dim;
  }
}

TEST(HostileBlock, MemoryThatItsSenderCouldChangeIsRefused) {
  for (const int seal : {F_SEAL_SHRINK, F_SEAL_GROW, F_SEAL_WRITE, F_SEAL_SEAL}) {
    EXPECT_FALSE(DecodeTensors(DescribeOne(0, 16), MakeMemory(64, kAllSeals & ~seal)).ok()) << seal;
  }
  EXPECT_FALSE(DecodeTensors(DescribeOne(0, 16), UniqueFd()).ok());
  EXPECT_FALSE(DecodeTensors(DescribeOne(0, 16), UniqueFd(::open("/dev/zero", O_RDONLY))).ok());
  EXPECT_FALSE(
      DecodeTensors(DescribeOne(0, 16), UniqueFd(::open("/proc/self/exe", O_RDONLY))).ok());
}

TEST(HostileBlock, StringOffsetsOutsideAreRefused) {
  const std::vector<std::string> words = {"one", "two"};
  const Result<TensorBlock> block = EncodeTensors({{"words", *Tensor::FromStrings({2}, words)}});
  ASSERT_TRUE(block.ok());
  // The bytes come last: three offsets, the text, padding.
  const size_t first = block->description.size() - 64;
  for (const int64_t offset : {int64_t{-1}, int64_t{100}, int64_t{1} << 62}) {
    for (size_t index = 0; index < 3; ++index) {
      std::vector<std::byte> description = block->description;
      std::memcpy(description.data() + first + index * sizeof(offset), &offset, sizeof(offset));
      EXPECT_FALSE(DecodeTensors(description, UniqueFd()).ok()) << index << " " << offset;
    }
  }
}

}  // namespace
}  // namespace vernier
