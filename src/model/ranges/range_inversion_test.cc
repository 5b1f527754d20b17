#include "model/ranges/range_inversion.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

namespace vernier {
namespace {

using Kind = ValueStep::Kind;
using Steps = std::vector<ValueStep>;

ValueStep Of(Kind kind, int64_t by = 0) { return {.kind = kind, .by = by, .range = {by, by}}; }
ValueStep Clip(int64_t low, int64_t high) {
  return {.kind = Kind::kClip, .by = 0, .range = {low, high}};
}

// What the operators of ONNX make of integers.
int64_t After(const Steps& steps, int64_t value) {
  for (const ValueStep& step : steps) {
    switch (step.kind) {
      case Kind::kAdd:
        value += step.range.low;
        break;
      case Kind::kMultiply:
        value *= step.by;
        break;
      case Kind::kDivide:
      case Kind::kDivideWhole:
        value /= step.by;
        break;
      case Kind::kRemainder:
        value = (value % step.by + step.by) % step.by;
        break;
      case Kind::kSignedRemainder:
        value %= step.by;
        break;
      case Kind::kMagnitude:
        value = std::abs(value);
        break;
      case Kind::kClip:
        value = std::clamp(value, step.range.low, step.range.high);
        break;
      case Kind::kCount:  // is no number, but several
        break;
    }
  }
  return value;
}

const std::vector<Steps>& Ways() {
  static const std::vector<Steps> ways = {
      {},
      {Of(Kind::kAdd, 7)},
      {Of(Kind::kAdd, -7)},
      {Of(Kind::kMultiply, 3)},
      {Of(Kind::kMultiply, -3)},
      {Of(Kind::kDivideWhole, 4)},
      {Of(Kind::kDivideWhole, -4)},
      {Of(Kind::kDivide, 4)},
      {Of(Kind::kRemainder, 6)},
      {Of(Kind::kSignedRemainder, 6)},
      {Of(Kind::kMagnitude)},
      {Clip(0, 9)},
      {Clip(0, kAnything)},
      {Clip(kLeast, -2)},
      {Of(Kind::kMagnitude), Of(Kind::kAdd, 10)},
      {Of(Kind::kMultiply, -2), Of(Kind::kAdd, 5), Of(Kind::kMagnitude)},
      {Of(Kind::kRemainder, 5), Of(Kind::kMultiply, -1), Of(Kind::kAdd, 4)},
      {Of(Kind::kAdd, 3), Of(Kind::kDivideWhole, 5), Clip(-1, 4), Of(Kind::kMultiply, 2)},
      {Clip(0, 3), Of(Kind::kMultiply, 7), Of(Kind::kRemainder, 50)},
  };
  return ways;
}

TEST(NumberSpacing, AllValuesOfAnOriginComeOutAsWanted) {
  for (size_t way = 0; way < Ways().size(); ++way) {
    const Steps& steps = Ways()[way];
    for (const Interval wanted : {Interval{0, 9}, {0, 0}, {-10, 5}, {3, 40}, {-9, -2}}) {
      SCOPED_TRACE("way " + std::to_string(way) + " to " + std::to_string(wanted.low));
      const auto legal = [&](int64_t value) {
        const int64_t after = After(steps, value);
        return wanted.low <= after && after <= wanted.high;
      };
      const std::optional<StepOrigin> origin = OriginOf(steps, wanted);
      if (!origin) continue;
      for (int64_t value = -200; value <= 200; ++value) {
        const bool inside = origin->values.low <= value && value <= origin->values.high;
        if (inside || origin->free) EXPECT_TRUE(legal(value)) << value;
      }
    }
  }
}

TEST(NumberSpacing, WhatOneBecomesHasAnOrigin) {
  for (const Steps& steps : Ways()) {
    const int64_t after = After(steps, 1);
    EXPECT_TRUE(OriginOf(steps, {after - 9, after + 9}).has_value());
  }
}

TEST(NumberSpacing, IntegersAreCutOff) {
  const auto ends = [](const Steps& steps) {
    const Interval values = OriginOf(steps, {0, 49})->values;
    return std::pair(values.low, values.high);
  };
  EXPECT_EQ(ends({Of(Kind::kDivideWhole, 10)}), std::pair(int64_t{0}, int64_t{499}));
  EXPECT_EQ(ends({Of(Kind::kDivide, 10)}), std::pair(int64_t{0}, int64_t{490}));
}

TEST(NumberSpacing, WhatEveryValueComesIntoIsFree) {
  EXPECT_TRUE(OriginOf(Steps{Of(Kind::kRemainder, 50)}, {0, 49})->free);
  EXPECT_FALSE(OriginOf(Steps{Of(Kind::kRemainder, 51)}, {0, 49})->free);
  EXPECT_FALSE(OriginOf(Steps{Of(Kind::kSignedRemainder, 50)}, {0, 49})->free);
  EXPECT_TRUE(OriginOf(Steps{Of(Kind::kSignedRemainder, 50)}, {-49, 49})->free);
  EXPECT_TRUE(OriginOf(Steps{Clip(0, 49)}, {0, 49})->free);
  // Whatever happened before.
  EXPECT_TRUE(OriginOf(Steps{Of(Kind::kAdd, kLeast), Clip(5, 9)}, {0, 49})->free);
}

TEST(NumberSpacing, WhatHasNoOriginIsTold) {
  EXPECT_FALSE(OriginOf(Steps{Of(Kind::kAdd, kLeast)}, {0, 49}).has_value());
  EXPECT_FALSE(OriginOf(Steps{Of(Kind::kMultiply, kLeast)}, {0, 49}).has_value());
  EXPECT_FALSE(OriginOf(Steps{Of(Kind::kMultiply, 5)}, {1, 3}).has_value());
  EXPECT_FALSE(OriginOf(Steps{Of(Kind::kMagnitude)}, {-9, -1}).has_value());
  EXPECT_FALSE(OriginOf(Steps{Clip(60, 70)}, {0, 49}).has_value());
}

TEST(NumberSpacing, AnyNumberOfARangeMayBeAdded) {
  const auto plus = [](int64_t low, int64_t high) {
    return Steps{{.kind = Kind::kAdd, .by = 0, .range = {low, high}}};
  };
  const Interval values = OriginOf(plus(-5, 30), {0, 99})->values;
  EXPECT_EQ(values.low, 5);
  EXPECT_EQ(values.high, 69);
  EXPECT_FALSE(OriginOf(plus(0, 100), {0, 99}).has_value());
}

TEST(NumberSpacing, AllThatIsCountedComesOutAsWanted) {
  const Steps count = {Of(Kind::kCount)};
  EXPECT_EQ(OriginOf(count, {-2, 9})->values.low, 1);
  EXPECT_EQ(OriginOf(count, {-2, 9})->values.high, 10);
  EXPECT_EQ(OriginOf(count, {0, kAnything})->values.high, kAnything);
  EXPECT_FALSE(OriginOf(count, {1, 9}).has_value());
  EXPECT_FALSE(OriginOf(count, {-9, -1}).has_value());
}

TEST(NumberSpacing, OpenEndsStayOpen) {
  for (const Steps& steps :
       {Steps{Of(Kind::kAdd, -3)}, {Of(Kind::kMultiply, 2)}, {Of(Kind::kDivideWhole, 3)}}) {
    EXPECT_EQ(OriginOf(steps, {0, kAnything})->values.high, kAnything);
  }
  EXPECT_EQ(OriginOf(Steps{Of(Kind::kMultiply, -2)}, {0, kAnything})->values.low, kLeast);
  // Beyond 64 bits nothing can be drawn.
  const int64_t large = int64_t{1} << 62;
  EXPECT_EQ(OriginOf(Steps{Of(Kind::kDivideWhole, 4)}, {0, large})->values.high, kAnything);
}

}  // namespace
}  // namespace vernier
