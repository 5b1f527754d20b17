// Text as pixels, from tables of glyphs that are part of the program: pictures look the same on a
// machine without fonts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "picture/figure.h"

namespace vernier {

inline constexpr char32_t kReplacementCharacter = 0xFFFD;

/// Removes the first character from `text`, which must not be empty. What is not UTF-8, and
/// control characters, become U+FFFD, one for each byte.
char32_t NextCharacter(std::string_view& text);

struct Glyph {
  char32_t character = 0;
  int advance = 0;           ///< also its width
  std::vector<uint8_t> ink;  ///< 0 to 15, row by row
};

/// Glyphs of one size; format: scripts/make-glyphs.py.
class GlyphTable {
 public:
  explicit GlyphTable(std::string_view table);

  int height() const { return height_; }
  int ascent() const { return ascent_; }
  /// The glyph of the character, or that of U+FFFD.
  const Glyph& Find(char32_t character) const;
  bool Has(char32_t character) const { return Find(character).character == character; }
  /// Pixels from start to end.
  int Width(std::string_view text) const;
  /// Does every character have a glyph of its own?
  bool Knows(std::string_view text) const;

 private:
  int height_ = 0;
  int ascent_ = 0;
  std::vector<Glyph> glyphs_;  ///< in the order of their characters
};

/// The two sizes in which pictures are lettered.
class Typeface {
 public:
  Typeface();
  const GlyphTable& table(TextSize size) const {
    return size == TextSize::kHeading ? heading_ : normal_;
  }
  int Width(std::string_view text, TextSize size = TextSize::kNormal) const {
    return table(size).Width(text);
  }
  /// `text` if it fits into `width` pixels, else its two ends with an ellipsis between them.
  std::string Fit(std::string_view text, int width, TextSize size = TextSize::kNormal) const;

 private:
  GlyphTable normal_;
  GlyphTable heading_;
};

}  // namespace vernier
