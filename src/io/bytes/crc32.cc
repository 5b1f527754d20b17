#include "io/bytes/crc32.h"

#include <zlib.h>

#include <algorithm>
#include <vector>

namespace vernier {
namespace {

constexpr size_t kPart = size_t{4} << 20;

}  // namespace

uint32_t Crc32(std::span<const std::byte> bytes, ThreadPool& threads) {
  std::vector<uLong> parts((bytes.size() + kPart - 1) / kPart);
  const auto part = [bytes](size_t index) {
    return bytes.subspan(index * kPart, std::min(kPart, bytes.size() - index * kPart));
  };
  threads.Run(parts.size(), [&](size_t index, size_t) {
    const std::span<const std::byte> own = part(index);
    parts[index] = ::crc32_z(0, reinterpret_cast<const Bytef*>(own.data()), own.size());
  });
  uLong crc = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    crc = ::crc32_combine(crc, parts[i], static_cast<z_off_t>(part(i).size()));
  }
  return static_cast<uint32_t>(crc);
}

}  // namespace vernier
