// What operators make of a value on its way through a graph, and which values come out in a range.
// Internal to model.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>

namespace vernier {

/// As an end of an interval: none.
inline constexpr int64_t kAnything = std::numeric_limits<int64_t>::max();
inline constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

/// Both included.
struct Interval {
  int64_t low = kLeast, high = kAnything;
};

struct ValueStep {
  enum class Kind : uint8_t {
    kAdd,              ///< one of the numbers in `range` is added
    kMultiply,         ///< with `by`, which is not 0
    kDivide,           ///< by `by`, which is not 0
    kDivideWhole,      ///< the same of integers: cut off toward zero
    kRemainder,        ///< of a division by `by` > 0, from 0 on
    kSignedRemainder,  ///< the same with the sign of what is divided
    kMagnitude,        ///< without its sign
    kClip,             ///< brought into `range`
    kCount,            ///< each number from 0 to below it, of which all must come out as wanted
  };
  Kind kind;
  int64_t by = 0;
  Interval range;

  bool operator==(const ValueStep& other) const {
    return kind == other.kind && by == other.by && range.low == other.range.low &&
           range.high == other.range.high;
  }
};

struct StepOrigin {
  Interval values;    ///< those that come out as wanted, or enough of them
  bool free = false;  ///< any other value does so, too
};

/// The values that the steps, in their order, bring into `wanted`; nullopt where there are none, or
/// none that 64 bits hold.
std::optional<StepOrigin> OriginOf(std::span<const ValueStep> steps, Interval wanted);

}  // namespace vernier
