#include "util/text/visible_text.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "util/text/utf8.h"

namespace vernier {
namespace {

// What moves the cursor, changes the terminal or the direction of writing.
bool IsControl(uint32_t point) {
  const bool c0 = point < 0x20 && point != '\t';
  const bool c1 = point >= 0x7f && point <= 0x9f;
  const bool bidi = (point >= 0x202a && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069);
  return c0 || c1 || bidi;
}

}  // namespace

void AppendVisible(std::string_view line, std::string& out) {
  while (!line.empty()) {
    const Utf8Character character = DecodeUtf8(line);
    const size_t size = std::max<size_t>(character.size, 1);
    if (character.size > 0 && !IsControl(character.point)) {
      out += line.substr(0, size);
    } else {
      const uint32_t code =
          character.size > 0 ? character.point : static_cast<unsigned char>(line.front());
      char escape[16];
      std::snprintf(escape, sizeof(escape), code < 0x100 ? "\\x%02x" : "\\u%04x", code);
      out += escape;
    }
    line.remove_prefix(size);
  }
}

std::string VisibleLine(std::string_view text) {
  std::string visible;
  AppendVisible(text, visible);
  return visible;
}

}  // namespace vernier
