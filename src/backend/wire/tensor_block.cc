#include "backend/wire/tensor_block.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "backend/wire/no_descriptors.h"
#include "util/files/mapped_file.h"
#include "util/threads/memory_pages.h"

namespace vernier {
namespace {

constexpr uint64_t kAlignment = 64;
// Below this, creating, sealing and mapping a memfd costs more than copying through the socket.
constexpr uint64_t kInlineLimit = 32 * 1024;
// What an entry takes in a description at least: empty texts, a type, no dimensions, its place.
constexpr size_t kLeastEntry = 5 * sizeof(uint64_t) + 1;
// With the type: the bytes stayed in the worker, and the place is a handle.
constexpr uint8_t kKept = 0x80;

uint64_t AlignUp(uint64_t offset) { return (offset + kAlignment - 1) / kAlignment * kAlignment; }

// Where the bytes of a block lie once they have arrived.
struct ArrivedBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
  bool lent = false;  // who sent them can change them still
};

// Returned to the lender when the last tensor in the map is gone.
struct Loan {
  Loan(std::shared_ptr<const MappedFile> lent, std::shared_ptr<Loans> book, uint64_t inode)
      : map(std::move(lent)), loans(std::move(book)), number(inode) {}
  ~Loan() {
    map.reset();
    loans->Return(number);
  }
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;

  std::shared_ptr<const MappedFile> map;
  std::shared_ptr<Loans> loans;
  uint64_t number;
};

bool HasSeals(int seals, int wanted) { return seals >= 0 && (seals & wanted) == wanted; }

Result<ArrivedBytes> MapSealed(const UniqueFd& memory, const std::shared_ptr<Loans>& loans) {
  struct stat info {};
  const int seals = ::fcntl(memory.get(), F_GET_SEALS);
  const bool sealed = HasSeals(seals, SharedMemory::kSeals);
  const bool lent = !sealed && loans != nullptr && HasSeals(seals, SealsOfLoans());
  if ((!sealed && !lent) || ::fstat(memory.get(), &info) != 0) {
    return BackendError("a worker sent memory that is not sealed");
  }
  const auto size = static_cast<size_t>(info.st_size);
  VERNIER_ASSIGN_OR_RETURN(
      std::shared_ptr<const MappedFile> map,
      lent ? loans->Map(memory.get(), size, info.st_ino)
           : MappedFile::FromDescriptor(memory.get(), size, "tensors of a worker"));
  const std::span<const std::byte> bytes = map->bytes();
  if (!lent) return ArrivedBytes{bytes, std::move(map)};
  return ArrivedBytes{bytes, std::make_shared<const Loan>(std::move(map), loans, info.st_ino),
                      true};
}

// Only pages of tensors: between large ones lies room that has none yet.
void MapPagesOf(std::span<const std::byte> tensor) {
  constexpr size_t kWorthMapping = size_t{1} << 20;
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const size_t before = reinterpret_cast<uintptr_t>(tensor.data()) % page;
  if (tensor.size() >= kWorthMapping) MapPages({tensor.data() - before, tensor.size() + before});
}

Result<ArrivedBytes> CopyInline(MessageReader& reader) {
  const std::span<const std::byte> raw = reader.Raw(reader.Number<uint64_t>());
  // 64-byte aligned like the memfd's, so that elements can be read in place.
  VERNIER_ASSIGN_OR_RETURN(const Tensor copy,
                           Tensor::Copy(DType::kUint8, {static_cast<int64_t>(raw.size())}, raw));
  return ArrivedBytes{copy.bytes(), std::make_shared<Tensor>(copy)};
}

// A tensor as it was described; nothing of it is believed yet.
struct ArrivedEntry {
  std::string name, skipped;
  uint8_t dtype = 0;
  Dims dims;
  uint64_t offset = 0, size = 0;
};

ArrivedEntry ReadEntry(MessageReader& reader) {
  ArrivedEntry entry;
  entry.name = reader.Text();
  entry.skipped = reader.Text();
  entry.dtype = reader.Number<uint8_t>();
  entry.dims.resize(reader.Count(sizeof(int64_t)));
  for (int64_t& dim : entry.dims) dim = reader.Number<int64_t>();
  entry.offset = reader.Number<uint64_t>();
  entry.size = reader.Number<uint64_t>();
  return entry;
}

Status AddKept(ArrivedEntry entry, DecodedBlock& block) {
  const std::optional<DType> dtype = DTypeFromOnnx(entry.dtype & ~kKept);
  if (!dtype || !ElementCount(entry.dims)) {
    return BackendError("a worker kept tensor '" + entry.name + "', which is wrong");
  }
  block.kept.push_back({std::move(entry.name), *dtype, std::move(entry.dims), entry.offset,
                        block.tensors.size() + block.kept.size()});
  return {};
}

Status AddTensor(ArrivedEntry entry, const ArrivedBytes& arrived, DecodedBlock& block) {
  const uint64_t available = arrived.bytes.size();
  const std::optional<DType> dtype = DTypeFromOnnx(entry.dtype);
  if (!dtype || entry.offset % kAlignment != 0 || entry.offset > available ||
      entry.size > available - entry.offset) {
    return BackendError("a worker sent tensor '" + entry.name + "' outside its memory");
  }
  const std::span<const std::byte> bytes =
      arrived.bytes.subspan(static_cast<size_t>(entry.offset), static_cast<size_t>(entry.size));
  MapPagesOf(bytes);
  // Offsets of strings are checked once: they must be what was checked ever after.
  const bool copied = arrived.lent && *dtype == DType::kString;
  Result<Tensor> tensor = copied
                              ? Tensor::Copy(*dtype, std::move(entry.dims), bytes)
                              : Tensor::Wrap(*dtype, std::move(entry.dims), bytes, arrived.owner);
  if (!tensor.ok()) {
    return BackendError("a worker sent tensor '" + entry.name +
                        "', which is wrong: " + tensor.status().message());
  }
  block.tensors.push_back({std::move(entry.name), *std::move(tensor)});
  return {};
}

}  // namespace

void TensorBlockBuilder::Add(std::string_view name, DType dtype, std::span<const int64_t> dims,
                             std::span<const std::byte> bytes) {
  entries_.push_back({.name = std::string(name),
                      .dtype = dtype,
                      .dims = {dims.begin(), dims.end()},
                      .bytes = bytes,
                      .skipped = {},
                      .size = bytes.size(),
                      .fill = {}});
}

void TensorBlockBuilder::AddFilled(std::string_view name, DType dtype,
                                   std::span<const int64_t> dims, size_t size, Fill fill) {
  entries_.push_back({.name = std::string(name),
                      .dtype = dtype,
                      .dims = {dims.begin(), dims.end()},
                      .bytes = {},
                      .skipped = {},
                      .size = size,
                      .fill = std::move(fill)});
}

void TensorBlockBuilder::AddKept(std::string_view name, DType dtype, std::span<const int64_t> dims,
                                 uint64_t handle) {
  AddFilled(name, dtype, dims, 0, {});
  entries_.back().handle = handle;
}

void TensorBlockBuilder::AddSkipped(std::string_view name, std::string_view why) {
  AddFilled(name, DType::kUndefined, {}, 0, {});
  entries_.back().skipped = why;
}

// Where each entry's bytes go: behind what the memory has, if they are not in it. The bytes to add.
uint64_t TensorBlockBuilder::PlaceEntries() {
  uint64_t added = 0;
  uint64_t found = 0;
  for (Entry& entry : entries_) {
    const auto offset = memory_ == nullptr || entry.fill || entry.size == 0
                            ? std::nullopt
                            : memory_->OffsetOf(entry.bytes);
    entry.is_there = offset && *offset % kAlignment == 0;
    entry.offset = entry.is_there ? *offset : added;
    found += entry.is_there ? 1 : 0;
    if (!entry.is_there) added = AlignUp(added + entry.size);
  }
  const bool usable = found > 0 && !(memory_->sealed() && added > 0);
  if (memory_ == nullptr || usable) return added;
  unused_ = std::move(memory_);  // a tensor may lie in it all the same
  memory_ = nullptr;
  return PlaceEntries();
}

MessageWriter TensorBlockBuilder::Describe() const {
  MessageWriter writer;
  writer.Number<uint64_t>(entries_.size());
  for (const Entry& entry : entries_) {
    writer.Text(entry.name);
    writer.Text(entry.skipped);
    const bool kept = entry.handle != 0;
    writer.Number(static_cast<uint8_t>(static_cast<uint8_t>(entry.dtype) | (kept ? kKept : 0)));
    writer.Number<uint64_t>(entry.dims.size());
    for (const int64_t dim : entry.dims) writer.Number(dim);
    writer.Number<uint64_t>(kept ? entry.handle : entry.offset);
    writer.Number<uint64_t>(entry.size);
  }
  return writer;
}

Status TensorBlockBuilder::WriteInline(MessageWriter& writer) const {
  static constexpr std::byte kPadding[kAlignment] = {};
  for (const Entry& entry : entries_) {
    std::vector<std::byte> filled(entry.fill ? entry.size : 0);
    if (entry.fill) VERNIER_TRY(entry.fill(filled));
    writer.Append(entry.fill ? std::span<const std::byte>(filled) : entry.bytes);
    writer.Append(std::span(kPadding).first(AlignUp(entry.size) - entry.size));
  }
  return {};
}

// What `fill` writes goes straight into the memory that is sent.
Status TensorBlockBuilder::FillAll(uint64_t begin, uint64_t size) const {
  const bool any = std::any_of(entries_.begin(), entries_.end(),
                               [](const Entry& entry) { return static_cast<bool>(entry.fill); });
  if (!any) return {};
  void* const map = ::mmap(nullptr, static_cast<size_t>(size), PROT_READ | PROT_WRITE, MAP_SHARED,
                           memory_->descriptor(), static_cast<off_t>(begin));
  if (map == MAP_FAILED) {
    return Internal(std::string("shared memory cannot be mapped: ") + std::strerror(errno));
  }
  Status status;
  for (const Entry& entry : entries_) {
    if (!entry.fill || !status.ok()) continue;
    status = entry.fill({static_cast<std::byte*>(map) + (entry.offset - begin), entry.size});
  }
  // It cannot be sealed while it is mapped for writing.
  ::munmap(map, static_cast<size_t>(size));
  return status;
}

// Adds what is not in the memory yet, and seals it.
Status TensorBlockBuilder::WriteShared(uint64_t added) {
  if (memory_ == nullptr) {
    VERNIER_ASSIGN_OR_RETURN(memory_, SharedMemory::Create());
  }
  if (memory_->sealed()) return {};
  if (added > 0) {
    VERNIER_ASSIGN_OR_RETURN(const uint64_t begin, memory_->Extend(added));
    for (Entry& entry : entries_) entry.offset += entry.is_there ? 0 : begin;
    VERNIER_TRY(FillAll(begin, added));
  }
  for (const Entry& entry : entries_) {
    if (entry.is_there || entry.fill) continue;
    VERNIER_TRY(memory_->WriteAt(entry.offset, entry.bytes));
  }
  return memory_->Seal();
}

Status TensorBlockBuilder::WriteLent(std::span<std::byte> place) const {
  for (const Entry& entry : entries_) {
    const std::span<std::byte> to = place.subspan(entry.offset, entry.size);
    if (entry.fill) {
      VERNIER_TRY(entry.fill(to));
    } else if (!to.empty()) {
      std::memcpy(to.data(), entry.bytes.data(), to.size());
    }
  }
  return {};
}

Result<TensorBlock> TensorBlockBuilder::Finish() {
  const uint64_t added = PlaceEntries();
  const bool is_inline = memory_ == nullptr && added <= kInlineLimit;
  TensorBlock block;
  LentMemory::Piece* const piece =
      is_inline || memory_ != nullptr || lent_ == nullptr ? nullptr : lent_->Lend(added);
  if (piece != nullptr) {
    if (const Status status = WriteLent(piece->bytes()); !status.ok()) {
      lent_->TakeBack(piece->number());
      return status;
    }
    block.lent = piece->number();
  } else if (!is_inline) {
    VERNIER_TRY(WriteShared(added));
  }
  if (!is_inline) {
    const int memory = piece != nullptr ? piece->descriptor() : memory_->descriptor();
    block.memory = UniqueFd(::fcntl(memory, F_DUPFD_CLOEXEC, 0));
    if (!block.memory.valid()) {
      return NoDescriptorsLeft();
    }
  }
  MessageWriter writer = Describe();
  writer.Number(static_cast<uint8_t>(is_inline));
  if (is_inline) {
    writer.Number<uint64_t>(added);
    VERNIER_TRY(WriteInline(writer));
  }
  block.description.assign(writer.bytes().begin(), writer.bytes().end());
  return block;
}

Result<TensorBlock> EncodeTensors(const TensorMap& tensors, LentMemory* lent) {
  TensorBlockBuilder builder;
  builder.Borrow(lent);
  for (const auto& [name, tensor] : tensors) {
    builder.Add(name, tensor.dtype(), tensor.dims(), tensor.bytes());
    // It is sealed, so that the builder does not change it.
    if (tensor.memory()) builder.Use(std::const_pointer_cast<SharedMemory>(tensor.memory()));
  }
  return builder.Finish();
}

int SealsOfLoans() { return F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL; }

Result<DecodedBlock> DecodeTensors(std::span<const std::byte> description, UniqueFd memory,
                                   const std::shared_ptr<Loans>& loans) {
  MessageReader reader(description);
  std::vector<ArrivedEntry> entries(reader.Count(kLeastEntry));
  for (ArrivedEntry& entry : entries) entry = ReadEntry(reader);
  const bool is_inline = reader.Number<uint8_t>() != 0;
  if (reader.failed()) return BackendError("a worker sent a malformed description of tensors");
  VERNIER_ASSIGN_OR_RETURN(const ArrivedBytes arrived,
                           is_inline ? CopyInline(reader) : MapSealed(memory, loans));
  if (!reader.finished()) return BackendError("a worker sent a malformed description of tensors");
  DecodedBlock block;
  for (ArrivedEntry& entry : entries) {
    if (!entry.skipped.empty()) {
      block.skipped.push_back({std::move(entry.name), std::move(entry.skipped)});
    } else if ((entry.dtype & kKept) != 0) {
      VERNIER_TRY(AddKept(std::move(entry), block));
    } else {
      VERNIER_TRY(AddTensor(std::move(entry), arrived, block));
    }
  }
  return block;
}

}  // namespace vernier
