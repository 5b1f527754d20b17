// Suggestions for a mistyped name.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace vernier {

/// At most `limit` of the candidates that resemble `word`, best first: Python's
/// difflib.get_close_matches with its cutoff of 0.6, for texts shorter than 200 bytes.
std::vector<std::string> CloseMatches(std::string_view word,
                                      std::span<const std::string_view> candidates,
                                      size_t limit = 5);

}  // namespace vernier
