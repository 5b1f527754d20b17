// Statistics whose quantiles are over all elements of an output; all others are over iterations.
#pragma once

#include <string_view>

namespace vernier {

inline constexpr std::string_view kElementAbsolute = "absolute_error";
inline constexpr std::string_view kElementRelative = "relative_error";

inline bool IsOfElements(std::string_view statistic) {
  return statistic == kElementAbsolute || statistic == kElementRelative;
}

}  // namespace vernier
