#include "model/ranges/range_inversion.h"

#include <algorithm>
#include <utility>

namespace vernier {
namespace {

using StepKind = ValueStep::Kind;

Interval Common(Interval a, Interval b) {
  return {std::max(a.low, b.low), std::min(a.high, b.high)};
}

bool Contains(Interval outer, Interval inner) {
  return outer.low <= inner.low && inner.high <= outer.high;
}

bool IsOpen(int64_t end) { return end == kLeast || end == kAnything; }

int64_t FloorDivide(int64_t value, int64_t by) {
  const int64_t quotient = value / by;
  return value % by != 0 && (value < 0) != (by < 0) ? quotient - 1 : quotient;
}

// Ends stay open; false where one is beyond 64 bits.
bool Subtract(int64_t by, int64_t& end) {
  return IsOpen(end) || !__builtin_sub_overflow(end, by, &end);
}

// Beyond 64 bits there is nothing that could be drawn: the end is open.
int64_t Times(int64_t end, int64_t by, int64_t open) {
  int64_t product = 0;
  return IsOpen(end) || __builtin_mul_overflow(end, by, &product) ? open : product;
}

std::optional<Interval> BeforeAdd(Interval by, Interval wanted) {
  if (!Subtract(by.low, wanted.low) || !Subtract(by.high, wanted.high)) return std::nullopt;
  return wanted;
}

std::optional<Interval> BeforeMultiply(int64_t by, Interval wanted) {
  if (by < 0) {
    // The opposite of the least number has no place.
    if (by == kLeast) return std::nullopt;
    const auto opposite = [](int64_t end, int64_t open) { return IsOpen(end) ? open : -end; };
    wanted = {opposite(wanted.high, kLeast), opposite(wanted.low, kAnything)};
    by = -by;
  }
  // The least whole number above a / b is the opposite of the largest one below -a / b.
  if (!IsOpen(wanted.low)) wanted.low = -FloorDivide(-wanted.low, by);
  if (!IsOpen(wanted.high)) wanted.high = FloorDivide(wanted.high, by);
  return wanted;
}

Interval BeforeDivide(int64_t by, bool whole, Interval wanted) {
  const Interval found =
      by > 0 ? Interval{Times(wanted.low, by, kLeast), Times(wanted.high, by, kAnything)}
             : Interval{Times(wanted.high, by, kLeast), Times(wanted.low, by, kAnything)};
  // 0 to 9 by 5 is 0 or 1 of integers.
  if (!whole || by < 0 || wanted.high < 0 || found.high > kAnything - by) return found;
  return {found.low, found.high + by - 1};
}

// At least one number is counted.
std::optional<Interval> BeforeCount(Interval wanted) {
  if (wanted.low > 0 || wanted.high < 0) return std::nullopt;
  return Interval{1, IsOpen(wanted.high) ? wanted.high : wanted.high + 1};
}

std::optional<StepOrigin> Before(const ValueStep& step, Interval wanted) {
  const auto sure = [](std::optional<Interval> found) {
    return found ? std::optional(StepOrigin{*found, false}) : std::nullopt;
  };
  // Values that stay as they are, from a range that all values come into.
  const auto within = [wanted](Interval all) {
    return StepOrigin{Common(wanted, all), Contains(wanted, all)};
  };
  switch (step.kind) {
    case StepKind::kAdd:
      return sure(BeforeAdd(step.range, wanted));
    case StepKind::kMultiply:
      return sure(BeforeMultiply(step.by, wanted));
    case StepKind::kDivide:
      return sure(BeforeDivide(step.by, false, wanted));
    case StepKind::kDivideWhole:
      return sure(BeforeDivide(step.by, true, wanted));
    case StepKind::kRemainder:
      return within({0, step.by - 1});
    case StepKind::kSignedRemainder:
      return StepOrigin{Common(wanted, {0, step.by - 1}),
                        Contains(wanted, {1 - step.by, step.by - 1})};
    case StepKind::kMagnitude:
      return sure(Common(wanted, {0, kAnything}));
    case StepKind::kClip:
      return within(step.range);
    case StepKind::kCount:
      return sure(BeforeCount(wanted));
  }
  return std::nullopt;
}

}  // namespace

std::optional<StepOrigin> OriginOf(std::span<const ValueStep> steps, Interval wanted) {
  StepOrigin origin{wanted, false};
  for (size_t i = steps.size(); i-- > 0;) {
    const std::optional<StepOrigin> before = Before(steps[i], origin.values);
    if (!before || before->values.low > before->values.high) {
      return origin.free ? std::optional(StepOrigin{{}, true}) : std::nullopt;
    }
    origin = {before->values, origin.free || before->free};
  }
  return origin;
}

}  // namespace vernier
