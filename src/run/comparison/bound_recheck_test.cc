#include "run/comparison/bound_recheck.h"

#include <gtest/gtest.h>

#include "compare/outputs/tensor_for_test.h"

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
  EXPECT_TRUE(MeasureConditions(Ones(1), 0x1p-24, Repeats::kPerhaps, infer, rechecked).ok());
  EXPECT_TRUE(rechecked["y"].repeats);
  EXPECT_EQ(rechecked["y"].spread, 1);
  return rechecked["y"].condition;
}

TEST(BoundRecheckTest, TheConditionCountsRoundoffsOfTheInputs) {
  EXPECT_EQ(ConditionOf(1, 0), 1);
  EXPECT_NEAR(ConditionOf(1 + 0x1p-16, 0), 256, 1);
  EXPECT_EQ(ConditionOf(1.01, 0), kMostCondition);
}

TEST(BoundRecheckTest, InputsMoveByStepsOfTheShortestTypeOnTheWay) {
  EXPECT_NEAR(ConditionOf(1 + 0x1p-23, 0x1p-11), 2, 0.01) << "of its roundoffs";
  EXPECT_NEAR(ConditionOf(1 + 0x1p-19, 0x1p-11), 32, 0.5);
}

TEST(BoundRecheckTest, OneFlippedShortValueIsNoAmplification) {
  std::map<std::string, RecheckedOutput> rechecked;
  rechecked["y"].roundoff = 0x1p-11;
  const InferMoved flips = [&](std::optional<Nudge> nudge) -> Result<TensorMap> {
    return Ones(nudge ? 1 + 0x1p-10F : 1);
  };
  EXPECT_TRUE(MeasureConditions(Ones(1), 0x1p-24, Repeats::kSurely, flips, rechecked).ok());
  EXPECT_NEAR(rechecked["y"].condition, 2, 0.01);
}

TEST(BoundRecheckTest, ThereAreThreeInferences) {
  for (const Repeats repeats : {Repeats::kSurely, Repeats::kPerhaps}) {
    std::map<std::string, RecheckedOutput> rechecked;
    rechecked["y"].roundoff = 0;
    int inferences = 0, unchanged = 0;
    float moved = 1;
    const InferMoved infer = [&](std::optional<Nudge> nudge) -> Result<TensorMap> {
      ++inferences;
      if (!nudge) ++unchanged;
      return Ones(nudge ? moved += 0x1p-20F : 1);
    };
    EXPECT_TRUE(MeasureConditions(Ones(1), 0x1p-24, repeats, infer, rechecked).ok());
    EXPECT_EQ(inferences, 3);
    EXPECT_EQ(unchanged, repeats == Repeats::kSurely ? 0 : 1);
    const double draws = repeats == Repeats::kSurely ? 3 : 2;
    EXPECT_NEAR(rechecked["y"].spread, draws, 0.01) << "the largest movement over the smallest";
    EXPECT_NEAR(rechecked["y"].condition, 16 * draws, 0.1);
    EXPECT_NEAR(rechecked["y"].element, draws * 0x1p-20, 1e-9);
  }
}

TEST(BoundRecheckTest, OnlyWhatIsAmplifiedBehindAMeasuredOutputCounts) {
  EXPECT_EQ(ShareSince(1, 5), 1) << "well-conditioned before";
  EXPECT_EQ(ShareSince(150, 0), 1.0 / 150) << "there the two agree";
  EXPECT_EQ(ShareSince(150, 30), 0.2);
  EXPECT_EQ(ShareSince(10, 500), 1);
}

TEST(BoundRecheckTest, OfTwoSidesTheLargerMovementCounts) {
  ErrorBound bound;
  bound.rms = 1e-6;
  TakeCondition({.condition = 100, .spread = 2, .element = 1e-5}, bound);
  TakeCondition({.condition = 9, .spread = 1, .element = 1e-4}, bound);
  EXPECT_EQ(bound.condition, 100);
  EXPECT_EQ(bound.spread, 2);
  EXPECT_EQ(bound.moved_element, 1e-4);
  TakeCondition({.condition = 600, .spread = 3, .element = 1e-6}, bound);
  EXPECT_EQ(bound.condition, 600);
  EXPECT_EQ(bound.spread, 3);
  EXPECT_EQ(bound.moved_element, 1e-4);
}

}  // namespace
}  // namespace vernier
