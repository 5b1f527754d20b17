// Splits text into words: the value of --runner, and lists of words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "vernier/status.h"

namespace vernier {

/// Words as a POSIX shell would make them without expanding anything: blanks separate, '...' and
/// "..." and \ quote. kInvalidArgument for an open quote or a final backslash.
Result<std::vector<std::string>> SplitWords(std::string_view text);

/// What stands between blanks, whatever it is.
std::vector<std::string> SplitAtSpaces(std::string_view text);

}  // namespace vernier
