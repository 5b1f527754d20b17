#include "picture/typeface.h"

#include <algorithm>
#include <charconv>

#include "picture/glyph_tables.h"

namespace vernier {
namespace {

// The length of a UTF-8 sequence by its first byte; 0 for a byte that starts none.
int SequenceLength(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first < 0xE0) return 2;
  if (first >= 0xE0 && first < 0xF0) return 3;
  if (first >= 0xF0 && first < 0xF5) return 4;
  return 0;
}

// The smallest character that may be written in so many bytes.
constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};

bool IsShowable(char32_t c) {
  const bool control = c < 0x20 || (c >= 0x7F && c < 0xA0);
  const bool surrogate = c >= 0xD800 && c < 0xE000;
  // XML has no place for these either.
  const bool no_character = (c & 0xFFFE) == 0xFFFE;
  return !control && !surrogate && !no_character && c < 0x110000;
}

char32_t Decode(std::string_view sequence) {
  static constexpr unsigned char kFirstBits[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
  char32_t c = static_cast<unsigned char>(sequence[0]) & kFirstBits[sequence.size()];
  for (const char byte : sequence.substr(1)) {
    const auto bits = static_cast<unsigned char>(byte);
    if ((bits & 0xC0) != 0x80) return kReplacementCharacter;
    c = (c << 6) | (bits & 0x3F);
  }
  return c >= kSmallest[sequence.size()] && IsShowable(c) ? c : kReplacementCharacter;
}

std::string_view TakeLine(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

// The number behind `word` in a line; 0 if there is none.
int NumberAfter(std::string_view line, std::string_view word, int base = 10) {
  const size_t at = line.find(word);
  if (at == std::string_view::npos) return 0;
  const std::string_view digits = line.substr(at + word.size());
  int value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  return value;
}

uint8_t Ink(char digit) {
  if (digit >= '0' && digit <= '9') return static_cast<uint8_t>(digit - '0');
  if (digit >= 'a' && digit <= 'f') return static_cast<uint8_t>(digit - 'a' + 10);
  return 0;
}

}  // namespace

char32_t NextCharacter(std::string_view& text) {
  const int length = SequenceLength(static_cast<unsigned char>(text.front()));
  const auto size = static_cast<size_t>(length);
  char32_t c = kReplacementCharacter;
  if (length > 0 && size <= text.size()) c = Decode(text.substr(0, size));
  text.remove_prefix(c == kReplacementCharacter ? 1 : size);
  return c;
}

GlyphTable::GlyphTable(std::string_view table) {
  const std::string_view head = TakeLine(table);
  height_ = NumberAfter(head, "height ");
  ascent_ = NumberAfter(head, "ascent ");
  while (!table.empty()) {
    const std::string_view line = TakeLine(table);
    Glyph glyph;
    glyph.character = static_cast<char32_t>(NumberAfter(line, "U+", 16));
    glyph.advance = NumberAfter(line, "advance ");
    for (int row = 0; row < height_; ++row) {
      for (const char digit : TakeLine(table)) glyph.ink.push_back(Ink(digit));
    }
    glyph.ink.resize(static_cast<size_t>(glyph.advance * height_));
    glyphs_.push_back(std::move(glyph));
  }
}

const Glyph& GlyphTable::Find(char32_t character) const {
  const auto found =
      std::lower_bound(glyphs_.begin(), glyphs_.end(), character,
                       [](const Glyph& glyph, char32_t c) { return glyph.character < c; });
  // U+FFFD is the last of the table.
  return found != glyphs_.end() && found->character == character ? *found : glyphs_.back();
}

int GlyphTable::Width(std::string_view text) const {
  int width = 0;
  while (!text.empty()) width += Find(NextCharacter(text)).advance;
  return width;
}

bool GlyphTable::Knows(std::string_view text) const {
  while (!text.empty()) {
    if (const char32_t c = NextCharacter(text); !Has(c)) return false;
  }
  return true;
}

Typeface::Typeface() : normal_(kNormalGlyphs), heading_(kHeadingGlyphs) {}

std::string Typeface::Fit(std::string_view text, int width, TextSize size) const {
  if (Width(text, size) <= width) return std::string(text);
  std::vector<std::string_view> characters;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view before = rest;
    NextCharacter(rest);
    characters.push_back(before.substr(0, before.size() - rest.size()));
  }
  const auto joined = [&](size_t kept) {
    std::string out;
    for (size_t i = 0; i < (kept + 1) / 2; ++i) out += characters[i];
    out += "…";
    for (size_t i = characters.size() - kept / 2; i < characters.size(); ++i) out += characters[i];
    return out;
  };
  size_t low = 0;
  for (size_t high = characters.size() - 1; low < high;) {
    const size_t middle = (low + high + 1) / 2;
    if (Width(joined(middle), size) <= width) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return joined(low);
}

}  // namespace vernier
