#include "run/comparison/bound_recheck.h"

#include <gtest/gtest.h>

#include "compare/tensor_for_test.h"

namespace vernier {
namespace {

TensorMap Ones(float times) {
  return {{"y", TensorForTest(DType::kFloat32, {64}, std::vector<float>(64, times))}};
}

// Of a float32 output that one step of its inputs moves by `times` - 1, and longer steps by as much
// more.
double ConditionOf(double times, double roundoff) {
  std::map<std::string, RecheckedOutput> rechecked;
  rechecked["y"].roundoff = roundoff;
  const InferMoved infer = [&](std::optional<Nudge> nudge) -> Result<TensorMap> {
    return Ones(nudge ? static_cast<float>(1 + (times - 1) * nudge->roundoff / 0x1p-24) : 1);
  };
  EXPECT_TRUE(MeasureConditions(Ones(1), 0x1p-24, infer, rechecked).ok());
  EXPECT_TRUE(rechecked["y"].repeats);
  return rechecked["y"].condition;
}

TEST(BoundRecheckTest, TheConditionCountsRoundoffsOfTheInputs) {
  EXPECT_EQ(ConditionOf(1 + 4e-7, 0), 1) << "no more than eight";
  EXPECT_NEAR(ConditionOf(1 + 0x1p-16, 0), 256, 1);
  EXPECT_EQ(ConditionOf(1.01, 0), kMostCondition);
}

TEST(BoundRecheckTest, InputsMoveByStepsOfTheShortestTypeOnTheWay) {
  EXPECT_EQ(ConditionOf(1 + 0x1p-23, 0x1p-11), 1) << "two of its roundoffs";
  EXPECT_NEAR(ConditionOf(1 + 0x1p-19, 0x1p-11), 32, 0.5);
}

TEST(BoundRecheckTest, OneFlippedShortValueIsNoAmplification) {
  std::map<std::string, RecheckedOutput> rechecked;
  rechecked["y"].roundoff = 0x1p-11;
  const InferMoved flips = [&](std::optional<Nudge> nudge) -> Result<TensorMap> {
    return Ones(nudge ? 1 + 0x1p-10F : 1);
  };
  EXPECT_TRUE(MeasureConditions(Ones(1), 0x1p-24, flips, rechecked).ok());
  EXPECT_EQ(rechecked["y"].condition, 1);
}

TEST(BoundRecheckTest, OnlyWhatIsAmplifiedBehindAMeasuredOutputCounts) {
  EXPECT_EQ(ConditionSince(1, 150), 150) << "nothing measured before it, or well-conditioned";
  EXPECT_EQ(ConditionSince(150, 250), 1);
  EXPECT_EQ(ConditionSince(10, 500), 50);
}

}  // namespace
}  // namespace vernier
