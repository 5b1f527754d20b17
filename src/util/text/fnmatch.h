// Shell-style patterns as Python's fnmatch.fnmatchcase understands them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace vernier {

/// A pattern made ready for many names: `*` any text, `?` one character, `[abc]`, `[a-c]` and
/// `[!abc]` one character of (not of) a set; everything else stands for itself, also a backslash
/// and a `[` that is never closed. Characters are UTF-8 code points; a stray byte counts as one.
class FnPattern {
 public:
  explicit FnPattern(std::string_view pattern);

  /// Whether the whole of `name` matches.
  bool Matches(std::string_view name) const;

 private:
  struct Item {
    enum class Kind : uint8_t { kOne, kAnyOne, kAnyText, kSet } kind = Kind::kOne;
    uint32_t point = 0;
    bool negated = false;
    std::vector<std::pair<uint32_t, uint32_t>> ranges;

    bool Matches(uint32_t c) const;
  };
  static Item MakeSet(const std::vector<uint32_t>& points, size_t begin, size_t end);

  std::vector<Item> items_;
};

/// FnPattern for a single name.
inline bool MatchesPattern(std::string_view name, std::string_view pattern) {
  return FnPattern(pattern).Matches(name);
}

/// Whether the text holds one of `* ? [ ]`, which makes Polygraphy's options treat it as a pattern.
bool IsPattern(std::string_view text);

}  // namespace vernier
