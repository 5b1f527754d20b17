#include "io/bytes/byte_source.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

namespace vernier {
namespace {

// Small enough for the bytes to be in the cache still when their checksum is taken.
constexpr size_t kReadBlockBytes = size_t{256} << 10;

// A multiple of three, so that pieces of base64 begin at a group wherever their whole does.
constexpr size_t kPieceBytes = size_t{768} << 10;
constexpr size_t kWorthThreads = 4 * kPieceBytes;

}  // namespace

Status MemorySource::Read(std::span<std::byte> out) {
  if (out.size() > bytes_.size()) return Malformed("the data end too early");
  if (!out.empty()) std::memcpy(out.data(), bytes_.data(), out.size());
  bytes_ = bytes_.subspan(out.size());
  return {};
}

Status FileSource::Read(std::span<std::byte> out) {
  if (out.size() > remaining_) return Malformed("the data end too early");
  VERNIER_TRY(ReadInPieces(out, threads_, [this](uint64_t begin, std::span<std::byte> piece) {
    return file_->ReadAt(position_ + begin, piece);
  }));
  position_ += out.size();
  remaining_ -= out.size();
  return {};
}

Status ReadInPieces(std::span<std::byte> out, ThreadPool* threads,
                    const std::function<Status(uint64_t, std::span<std::byte>)>& read) {
  if (threads == nullptr || out.size() < kWorthThreads) return read(0, out);
  const size_t count = (out.size() + kPieceBytes - 1) / kPieceBytes;
  std::mutex mutex;
  size_t failed = count;
  Status first;
  threads->Run(count, [&](size_t index, size_t) {
    const size_t begin = index * kPieceBytes;
    Status status = read(begin, out.subspan(begin, std::min(kPieceBytes, out.size() - begin)));
    if (status.ok()) return;
    const std::lock_guard lock(mutex);
    if (index >= failed) return;
    failed = index;
    first = std::move(status);
  });
  return first;
}

Status ChecksumSource::Read(std::span<std::byte> out) {
  while (!out.empty()) {
    const auto block = out.first(std::min(out.size(), kReadBlockBytes));
    VERNIER_TRY(source_.Read(block));
    crc_ = static_cast<uint32_t>(
        ::crc32_z(crc_, reinterpret_cast<const Bytef*>(block.data()), block.size()));
    out = out.subspan(block.size());
  }
  return {};
}

Result<uint32_t> ChecksumSource::Finish() {
  std::vector<std::byte> block(
      static_cast<size_t>(std::min<uint64_t>(source_.remaining(), kReadBlockBytes)));
  while (source_.remaining() > 0) {
    const auto size = static_cast<size_t>(std::min<uint64_t>(source_.remaining(), block.size()));
    VERNIER_TRY(Read(std::span(block).first(size)));
  }
  return crc_;
}

}  // namespace vernier
