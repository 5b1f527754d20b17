// Values that tests feed to arithmetic. Both convert to double without a change.
#pragma once

#include <limits>

namespace vernier {

inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

}  // namespace vernier
