#include <gtest/gtest.h>

#include <vector>

#include "compare/functions/error_bound.h"
#include "compare/outputs/tensor_for_test.h"

namespace vernier {
namespace {

// Floats are rounded to a share of themselves: of a large element that is more than of the scale.
TEST(ErrorLimitTest, ALargeElementMayDifferByAShareOfItself) {
  std::vector<float> a(400, 1), b(400, 1);
  a[0] = 100;
  b[0] = 100 + 3e-4F;
  ErrorBound bound;
  bound.rms = bound.clean = 1e-5;
  EXPECT_TRUE(MeasureAgainstBound(Floats(a), Floats(b), bound)->passed);
  b[1] = 1 + 3e-4F;
  const BoundVerdict small = *MeasureAgainstBound(Floats(a), Floats(b), bound);
  EXPECT_FALSE(small.passed);
  EXPECT_EQ(small.beyond, 1.0 / 400);
}

// Where the tensor's own unit is known, single elements may be as far off as all together.
TEST(ErrorLimitTest, ElementsMayDifferByAUnitOfTheRange) {
  const std::vector<float> a(400, 1), b(400, 1 + 2e-7F);
  ErrorBound bound;
  bound.rms = bound.clean = 6e-8;
  EXPECT_FALSE(MeasureAgainstBound(Floats(a), Floats(b), bound)->passed);
  bound.absolute = 9e-7;
  EXPECT_TRUE(MeasureAgainstBound(Floats(a), Floats(b), bound)->passed);
  bound.absolute = 1e-7;
  EXPECT_FALSE(MeasureAgainstBound(Floats(a), Floats(b), bound)->passed);
}

// 217 / 51840 * 51840 is less than 217 in float64.
TEST(ErrorLimitTest, AsManyElementsMayFlipAsWereCountedBefore) {
  std::vector<float> a(51840, 1), b = a;
  for (size_t i = 0; i < 217; ++i) b[i] = 1.001F;
  ErrorBound bound;
  bound.rms = 1e-3;
  bound.clean = 1e-6;
  bound.allowed = 217 / 51840.0;
  ASSERT_LT(bound.allowed * 51840, 217);
  EXPECT_TRUE(MeasureAgainstBound(Floats(a), Floats(b), bound)->passed);
  b[217] = 1.001F;
  EXPECT_FALSE(MeasureAgainstBound(Floats(a), Floats(b), bound)->passed);
}

// A single zero point has no other elements to be small beside.
TEST(ErrorLimitTest, OneQuantisedIntegerMayBeAStepOff) {
  ErrorBound bound;
  bound.rms = 1e-3;
  bound.steps = true;
  const auto passes = [&](std::vector<float> a, std::vector<float> b) {
    return MeasureAgainstBound(Floats(a), Floats(b), bound)->passed;
  };
  EXPECT_TRUE(passes({10}, {9}));
  EXPECT_FALSE(passes({10}, {8}));
  EXPECT_TRUE(passes({10, 10, 10, 10}, {9, 10, 10, 10}));
  EXPECT_FALSE(passes({10, 10, 10, 10}, {9, 9, 9, 9}));
}

}  // namespace
}  // namespace vernier
