#include "util/text/utf8.h"

#include <array>

namespace vernier {

Utf8Character DecodeUtf8(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return {1, lead};
  const size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < size) return {};
  uint32_t point = lead & (0xffu >> (size + 1));
  for (size_t i = 1; i < size; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xc0u) != 0x80u) return {};
    point = point << 6 | (next & 0x3fu);
  }
  constexpr std::array<uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = point >= 0xd800 && point < 0xe000;
  if (point < kLeast[size] || surrogate || point > 0x10ffff) return {};
  return {size, point};
}

std::string ReplaceInvalidUtf8(std::string_view text) {
  constexpr std::string_view kReplacement = "\xef\xbf\xbd";
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    const size_t size = DecodeUtf8(text).size;
    valid += size > 0 ? text.substr(0, size) : kReplacement;
    text.remove_prefix(size > 0 ? size : 1);
  }
  return valid;
}

}  // namespace vernier
