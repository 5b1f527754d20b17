#include "io/byte_source.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace vernier {
namespace {

// Small enough for the bytes to be in the cache still when their checksum is taken.
constexpr size_t kBlockBytes = size_t{256} << 10;

}  // namespace

Status MemorySource::Read(std::span<std::byte> out) {
  if (out.size() > bytes_.size()) return Malformed("the data end too early");
  if (!out.empty()) std::memcpy(out.data(), bytes_.data(), out.size());
  bytes_ = bytes_.subspan(out.size());
  return {};
}

Status FileSource::Read(std::span<std::byte> out) {
  if (out.size() > remaining_) return Malformed("the data end too early");
  VERNIER_TRY(file_->ReadAt(position_, out));
  position_ += out.size();
  remaining_ -= out.size();
  return {};
}

Status ChecksumSource::Read(std::span<std::byte> out) {
  while (!out.empty()) {
    const auto block = out.first(std::min(out.size(), kBlockBytes));
    VERNIER_TRY(source_.Read(block));
    crc_ = static_cast<uint32_t>(
        ::crc32_z(crc_, reinterpret_cast<const Bytef*>(block.data()), block.size()));
    out = out.subspan(block.size());
  }
  return {};
}

Result<uint32_t> ChecksumSource::Finish() {
  std::vector<std::byte> block(
      static_cast<size_t>(std::min<uint64_t>(source_.remaining(), kBlockBytes)));
  while (source_.remaining() > 0) {
    const auto size = static_cast<size_t>(std::min<uint64_t>(source_.remaining(), block.size()));
    VERNIER_TRY(Read(std::span(block).first(size)));
  }
  return crc_;
}

}  // namespace vernier
