#include "io/bytes/text_encoding.h"

#include <cstdint>

namespace vernier {
namespace {

constexpr char32_t kEscapeBase = 0xdc00;

bool IsContinuation(unsigned char byte) { return (byte & 0xc0) == 0x80; }
bool IsSurrogate(char32_t c) { return c >= 0xd800 && c <= 0xdfff; }
bool IsEscapedByte(char32_t c) { return c >= 0xdc80 && c <= 0xdcff; }

struct Decoded {
  char32_t code_point;
  size_t length;  // 0: not well formed
};

// Accepts encoded surrogates; the caller decides about them.
Decoded DecodeSequence(std::string_view text, size_t position) {
  const auto lead = static_cast<unsigned char>(text[position]);
  if (lead < 0x80) return {lead, 1};
  const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() - position < length) return {0, 0};
  char32_t value = lead & (0xffu >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(text[position + i]);
    if (!IsContinuation(byte)) return {0, 0};
    value = (value << 6) | (byte & 0x3f);
  }
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (value < kSmallest[length] || value > 0x10ffff) return {0, 0};
  return {value, length};
}

}  // namespace

char32_t NextCodePoint(std::string_view text, size_t& position) {
  const Decoded decoded = DecodeSequence(text, position);
  if (decoded.length == 0 || IsEscapedByte(decoded.code_point)) {
    return kEscapeBase + static_cast<unsigned char>(text[position++]);
  }
  position += decoded.length;
  return decoded.code_point;
}

void AppendCodePoint(std::string& text, char32_t c) {
  const auto put = [&text](char32_t byte) { text += static_cast<char>(byte); };
  if (IsEscapedByte(c)) return put(c - kEscapeBase);
  if (c < 0x80) return put(c);
  if (c < 0x800) {
    put(0xc0 | (c >> 6));
    return put(0x80 | (c & 0x3f));
  }
  if (c < 0x10000) {
    put(0xe0 | (c >> 12));
  } else {
    put(0xf0 | ((c >> 18) & 7));
    put(0x80 | ((c >> 12) & 0x3f));
  }
  put(0x80 | ((c >> 6) & 0x3f));
  put(0x80 | (c & 0x3f));
}

size_t CountCodePoints(std::string_view text) {
  size_t count = 0;
  for (size_t position = 0; position < text.size(); ++count) NextCodePoint(text, position);
  return count;
}

size_t ValidUtf8Prefix(std::string_view text) {
  size_t position = 0;
  while (position < text.size()) {
    const Decoded decoded = DecodeSequence(text, position);
    if (decoded.length == 0 || IsSurrogate(decoded.code_point)) return position;
    position += decoded.length;
  }
  return position;
}

}  // namespace vernier
