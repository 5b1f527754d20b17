#include "backend/wire/lent_memory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "backend/wire/loans.h"
#include "backend/wire/tensor_block.h"

namespace vernier {
namespace {

constexpr int64_t kElements = 32 * 1024;  // 128 KiB: too many for the message itself

std::vector<float> Filled(float value, int64_t count = kElements) {
  return std::vector<float>(static_cast<size_t>(count), value);
}

Result<TensorBlock> EncodeOne(std::span<const float> values, LentMemory& lent) {
  const std::vector<int64_t> dims = {static_cast<int64_t>(values.size())};
  TensorBlockBuilder builder;
  builder.Add("y", DType::kFloat32, dims, std::as_bytes(values));
  builder.Borrow(&lent);
  return builder.Finish();
}

// What the other side has of it.
Tensor Receive(TensorBlock& block, const std::shared_ptr<Loans>& loans) {
  Result<DecodedBlock> decoded = DecodeTensors(block.description, std::move(block.memory), loans);
  EXPECT_TRUE(decoded.ok()) << decoded.status().message();
  return decoded.ok() ? decoded->tensors[0].tensor : Tensor();
}

bool AllAre(const Tensor& tensor, float value) {
  const auto elements = tensor.As<float>();
  return !elements.empty() &&
         std::all_of(elements.begin(), elements.end(), [&](float e) { return e == value; });
}

void TakeBackReturned(LentMemory& lent, Loans& loans) {
  for (const uint64_t number : loans.Take()) lent.TakeBack(number);
}

// A process that changes offsets after they were checked must not make this one read anywhere.
TEST(LentMemory, StringsAreTheReadersOwn) {
  LentMemory lent;
  const auto loans = std::make_shared<Loans>();
  const std::string text(1 << 17, 's');
  const Result<Tensor> strings = Tensor::FromStrings({1}, std::vector<std::string>{text});
  ASSERT_TRUE(strings.ok());
  TensorBlockBuilder builder;
  builder.Add("s", DType::kString, strings->dims(), strings->bytes());
  builder.Borrow(&lent);
  Result<TensorBlock> block = builder.Finish();
  ASSERT_TRUE(block.ok());
  ASSERT_NE(block->lent, 0u);
  const Tensor tensor = Receive(*block, loans);
  lent.TakeBack(block->lent);
  const std::span<std::byte> piece = lent.Lend(LentMemory::kLargest / 8)->bytes();
  std::memset(piece.data(), 0xFF, piece.size());
  EXPECT_TRUE(std::ranges::equal(tensor.bytes(), strings->bytes()));
}

TEST(LentMemory, WhatSomebodyKeepsIsNeverWrittenToAgain) {
  LentMemory lent;
  const auto loans = std::make_shared<Loans>();
  std::vector<Tensor> kept;
  // Every third result is kept, as one that is saved or compared later; the others go at once.
  for (int i = 0; i < 60; ++i) {
    Result<TensorBlock> block = EncodeOne(Filled(static_cast<float>(i)), lent);
    ASSERT_TRUE(block.ok());
    Tensor tensor = Receive(*block, loans);
    EXPECT_TRUE(AllAre(tensor, static_cast<float>(i))) << i;
    if (i % 3 == 0) kept.push_back(std::move(tensor));
    tensor = Tensor();
    TakeBackReturned(lent, *loans);
    // Poison in all that may be written to: none of it may show in what is kept.
    std::vector<LentMemory::Piece*> free;
    while (LentMemory::Piece* piece = lent.Lend(LentMemory::kLargest / 16)) {
      std::memset(piece->bytes().data(), 0xEE, piece->bytes().size());
      free.push_back(piece);
      if (free.size() == 4) break;
    }
    for (const LentMemory::Piece* piece : free) lent.TakeBack(piece->number());
  }
  for (size_t i = 0; i < kept.size(); ++i) {
    EXPECT_TRUE(AllAre(kept[i], static_cast<float>(3 * i))) << i;
  }
}

TEST(LentMemory, DoesNotGrowWithTheNumberOfResults) {
  LentMemory lent;
  const auto loans = std::make_shared<Loans>();
  for (int i = 0; i < 500; ++i) {
    Result<TensorBlock> block = EncodeOne(Filled(1), lent);
    ASSERT_TRUE(block.ok());
    EXPECT_NE(block->lent, 0u);
    (void)Receive(*block, loans);
    TakeBackReturned(lent, *loans);
  }
  EXPECT_EQ(lent.size(), 128u << 10);
}

TEST(LentMemory, ResultsOfManySizesStayWithinTheLimitAndWhole) {
  LentMemory lent;
  const auto loans = std::make_shared<Loans>();
  std::vector<std::pair<Tensor, float>> waiting;
  for (int i = 0; i < 400; ++i) {
    const auto value = static_cast<float>(i);
    const int64_t count = 9'000 + (i * 7919) % 1'500'000;  // some more than a piece holds
    Result<TensorBlock> block = EncodeOne(Filled(value, count), lent);
    ASSERT_TRUE(block.ok());
    waiting.emplace_back(Receive(*block, loans), value);
    EXPECT_EQ(waiting.back().first.element_count(), count);
    EXPECT_LE(lent.size(), LentMemory::kMost);
    if (waiting.size() < 4) continue;
    for (const auto& [tensor, wanted] : waiting) EXPECT_TRUE(AllAre(tensor, wanted)) << wanted;
    waiting.erase(waiting.begin() + i % 4);
    TakeBackReturned(lent, *loans);
  }
}

TEST(LentMemory, IsSealedForGoodWhereNoneIsLeft) {
  LentMemory lent;
  std::vector<TensorBlock> all;
  // Nothing comes back.
  for (size_t size = 0; size <= LentMemory::kMost; size += LentMemory::kLargest) {
    Result<TensorBlock> block = EncodeOne(Filled(2, LentMemory::kLargest / sizeof(float)), lent);
    ASSERT_TRUE(block.ok());
    all.push_back(*std::move(block));
  }
  EXPECT_NE(all.front().lent, 0u);
  EXPECT_EQ(all.back().lent, 0u);
  const auto loans = std::make_shared<Loans>();
  EXPECT_TRUE(AllAre(Receive(all.back(), loans), 2));
  EXPECT_TRUE(loans->Take().empty());
}

TEST(LentMemory, NobodyElseCanWriteToIt) {
  LentMemory lent;
  Result<TensorBlock> block = EncodeOne(Filled(1), lent);
  ASSERT_TRUE(block.ok());
  const int fd = block->memory.get();
  EXPECT_EQ(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), MAP_FAILED);
  const char byte = 1;
  EXPECT_LT(::pwrite(fd, &byte, 1, 0), 0);
  EXPECT_NE(::ftruncate(fd, 0), 0);
}

TEST(LentMemory, APieceWhoseFillingFailsIsThereAgain) {
  LentMemory lent;
  for (int i = 0; i < 100; ++i) {
    const std::vector<int64_t> dims = {kElements};
    TensorBlockBuilder builder;
    builder.AddFilled("y", DType::kFloat32, dims, kElements * sizeof(float),
                      [](std::span<std::byte>) { return BackendError("no device"); });
    builder.Borrow(&lent);
    EXPECT_EQ(builder.Finish().status().message(), "no device");
  }
  EXPECT_EQ(lent.size(), 128u << 10);
}

TEST(LentMemory, MapsOfTheReaderAreUsedAgain) {
  LentMemory lent;
  const auto loans = std::make_shared<Loans>();
  const std::byte* place = nullptr;
  for (int i = 0; i < 5; ++i) {
    Result<TensorBlock> block = EncodeOne(Filled(static_cast<float>(i)), lent);
    ASSERT_TRUE(block.ok());
    Tensor tensor = Receive(*block, loans);
    if (i > 0) EXPECT_EQ(tensor.bytes().data(), place);
    place = tensor.bytes().data();
    tensor = Tensor();
    TakeBackReturned(lent, *loans);
  }
}

TEST(LentMemory, TensorsOutliveTheLender) {
  auto lent = std::make_unique<LentMemory>();
  auto loans = std::make_shared<Loans>();
  Result<TensorBlock> block = EncodeOne(Filled(7), *lent);
  ASSERT_TRUE(block.ok());
  const Tensor tensor = Receive(*block, loans);
  lent.reset();
  loans.reset();
  EXPECT_TRUE(AllAre(tensor, 7));
}

}  // namespace
}  // namespace vernier
