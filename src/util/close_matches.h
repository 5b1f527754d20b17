// Suggestions for a mistyped name.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace vernier {

/// At most `limit` of the candidates that resemble `word`, best first: Python's
/// difflib.get_close_matches, for texts shorter than 200 bytes. `cutoff` is the least share of
/// characters in common, 0 to 1. Time grows with the cube of the lengths.
std::vector<std::string> CloseMatches(std::string_view word,
                                      std::span<const std::string_view> candidates,
                                      size_t limit = 5, double cutoff = 0.6);

/// What `word` most likely stands for: a candidate that differs in case only, one that begins with
/// at least three letters of it, or the closest by CloseMatches, whatever the case. Empty where
/// none is near.
std::string NearestName(std::string_view word, std::span<const std::string_view> candidates);

/// Why `word` is refused where one of the names is expected: "'sise' is not a rule; did you mean
/// 'size'?", or, where none is near, "'x' is not a rule; the rules are: size, type".
std::string NotOneOf(std::span<const std::string_view> names, std::string_view a_name,
                     std::string_view plural, std::string_view word);

}  // namespace vernier
