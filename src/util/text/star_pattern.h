// Names with one `*` that stands for any text: "present.*".
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace vernier {

inline int64_t StarsIn(std::string_view text) { return std::ranges::count(text, '*'); }

/// What `*` stands for in `name`; nothing where the pattern does not fit. A pattern without `*`
/// fits itself.
inline std::optional<std::string> MatchStar(std::string_view pattern, std::string_view name) {
  const size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == name ? std::optional("") : std::nullopt;
  const std::string_view head = pattern.substr(0, star), tail = pattern.substr(star + 1);
  const bool fits =
      name.size() >= head.size() + tail.size() && name.starts_with(head) && name.ends_with(tail);
  if (!fits) return std::nullopt;
  return std::string(name.substr(head.size(), name.size() - head.size() - tail.size()));
}

/// The pattern with `text` in place of its `*`, if it has one.
inline std::string FillStar(std::string pattern, std::string_view text) {
  const size_t star = pattern.find('*');
  if (star != std::string::npos) pattern.replace(star, 1, text);
  return pattern;
}

}  // namespace vernier
