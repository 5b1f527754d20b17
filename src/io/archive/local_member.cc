#include "io/archive/local_member.h"

#include <cstddef>
#include <cstring>

#include "io/archive/zip_format.h"

namespace vernier {

Result<ZipMember> ReadLocalMember(const InputFile& file, uint64_t position, uint64_t end) {
  std::byte fixed[zip::kLocalSize];
  if (end - position < sizeof(fixed)) return Malformed("a member's header is cut short");
  VERNIER_TRY(file.ReadAt(position, fixed));
  const auto load = [](const std::byte* data, auto value) {
    std::memcpy(&value, data, sizeof(value));
    return value;
  };
  if (load(fixed, uint32_t{0}) != zip::kLocalSignature) return Malformed("a member has no header");
  const uint64_t rest = uint64_t{load(fixed + 26, uint16_t{0})} + load(fixed + 28, uint16_t{0});
  ZipMember member;
  member.name = "in the part";
  member.crc = load(fixed + 14, uint32_t{0});
  member.data_offset = position + sizeof(fixed) + rest;
  std::byte sizes[16];
  if (rest < sizeof(sizes) || member.data_offset > end) {
    return Malformed("a member's header is damaged");
  }
  VERNIER_TRY(file.ReadAt(member.data_offset - sizeof(sizes), sizes));
  member.size = member.packed_size = load(sizes, uint64_t{0});
  if (member.size > end - member.data_offset) return Malformed("a member extends beyond its part");
  return member;
}

}  // namespace vernier
