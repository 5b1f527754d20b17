// Splitting a text into words as a POSIX shell would, without expanding anything.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "vernier/status.h"

namespace vernier {

/// Blanks separate words; single quotes keep everything, double quotes everything but backslashes
/// before `"` and `\`, a backslash outside of quotes keeps the next character. kInvalidArgument
/// for a quote that is not closed.
Result<std::vector<std::string>> SplitShellWords(std::string_view text);

}  // namespace vernier
