#include "compare/functions/error_bound.h"
#include "core/test_values.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "compare/functions/comparator.h"
#include "compare/outputs/tensor_for_test.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {
const ErrorBound kBound = {.rms = 1e-5, .why = "float32, longest sum 64, 2 layers"};

std::vector<float> Values(size_t count) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal(0, 3);
  std::vector<float> values(count);
  for (float& value : values) value = normal(random);
  return values;
}

// Independent errors of that size.
std::vector<float> WithNoise(std::vector<float> values, float size) {
  std::mt19937 random(8);
  std::normal_distribution<float> normal(0, 3 * size);
  for (float& value : values) value += normal(random);
  return values;
}
std::vector<float> Times(std::vector<float> values, float factor) {
  for (float& value : values) value *= factor;
  return values;
}

FunctionResult Judge(const Tensor& a, const Tensor& b, const ErrorBound& bound = kBound) {
  ErrorBounds bounds;
  bounds.Set("y", bound);
  CompareOptions options;
  options.tolerance.fallback = ToleranceRule::kAuto;
  ComparisonDetail detail;
  detail.bounds = &bounds;
  return CompareOutputs({"y", a}, {"y", b}, options, detail).functions.front();
}

const BoundVerdict& VerdictOf(const FunctionResult& result) {
  return *std::get<SimpleResult>(result.data).bound;
}

TEST(ErrorBoundTest, NoiseBelowTheBoundPassesThoughZerosAreFarOffRelatively) {
  std::vector<float> a = Values(5000);
  a[17] = 0;
  const FunctionResult result = Judge(Floats(a), Floats(WithNoise(a, 4e-6f)));
  EXPECT_TRUE(result.passed());
  EXPECT_NEAR(VerdictOf(result).scale, 3, 0.1);
  EXPECT_NEAR(VerdictOf(result).rms, 4e-6, 1e-6);
  EXPECT_NEAR(VerdictOf(result).times_over, 0.4, 0.1);
  EXPECT_EQ(VerdictOf(result).why, kBound.why);
}

TEST(ErrorBoundTest, EqualInfinitiesAreWithinABound) {
  std::vector<float> a = Values(5000);
  a[17] = -std::numeric_limits<float>::infinity();
  std::vector<float> b = WithNoise(a, 4e-6f);
  EXPECT_TRUE(Judge(Floats(a), Floats(b)).passed());
  b[17] = -65504;
  EXPECT_FALSE(Judge(Floats(a), Floats(b)).passed());
}

TEST(ErrorBoundTest, NoiseAboveTheBoundFailsAndTellsHowFar) {
  const std::vector<float> a = Values(5000);
  const FunctionResult result = Judge(Floats(a), Floats(WithNoise(a, 1e-4f)));
  EXPECT_EQ(result.verdict, Verdict::kMismatched);
  EXPECT_NEAR(VerdictOf(result).times_over, 10, 1);
}

TEST(ErrorBoundTest, AGainBelowTheRmsBoundIsSeen) {
  const std::vector<float> a = Values(5000);
  const FunctionResult result = Judge(Floats(a), Floats(Times(a, 1 - 8e-6f)));
  EXPECT_LT(VerdictOf(result).rms, kBound.rms);
  EXPECT_NEAR(VerdictOf(result).gain, 8e-6, 1e-6);
  EXPECT_EQ(result.verdict, Verdict::kMismatched);
}

TEST(ErrorBoundTest, ErrorsOfWholeRowsMayBeAGain) {
  const std::vector<float> a = Values(5000);
  ErrorBound crossed = kBound;
  crossed.crossed = true;
  const FunctionResult result = Judge(Floats(a), Floats(Times(a, 1 - 8e-6f)), crossed);
  EXPECT_TRUE(result.passed());
  EXPECT_FALSE(Judge(Floats(a), Floats(Times(a, 1 - 2e-5f)), crossed).passed());
}

TEST(ErrorBoundTest, OneBadElementAmongManyFails) {
  const std::vector<float> a = Values(100'000);
  std::vector<float> b = a;
  b[5] += 1e-3f;
  const FunctionResult result = Judge(Floats(a), Floats(b));
  EXPECT_LT(VerdictOf(result).rms, kBound.rms);
  EXPECT_EQ(result.verdict, Verdict::kMismatched);
  EXPECT_EQ(std::get<SimpleResult>(result.data).difference.mismatches, 1);
}

TEST(ErrorBoundTest, TheErrorOfAValueThatOutweighsAllOthersIsNoGain) {
  std::vector<float> a = Times(Values(10'000), 1e-3F);
  a[7] = 300;
  std::vector<float> b = a;
  b[7] *= 1 + 8e-6F;
  EXPECT_TRUE(Judge(Floats(a), Floats(b)).passed());
  b[7] = a[7] * (1 + 1e-4F);
  EXPECT_EQ(Judge(Floats(a), Floats(b)).verdict, Verdict::kMismatched);
}

TEST(ErrorBoundTest, ReferenceAndCandidateMayBeSwapped) {
  const std::vector<float> a = Values(1000);
  const std::vector<float> b = Times(a, 1.5f);
  EXPECT_DOUBLE_EQ(VerdictOf(Judge(Floats(a), Floats(b))).times_over,
                   VerdictOf(Judge(Floats(b), Floats(a))).times_over);
}

TEST(ErrorBoundTest, NanFailsAlsoWhenAllElseAgrees) {
  std::vector<float> a = Values(100);
  std::vector<float> b = a;
  b[3] = kNan;
  EXPECT_EQ(Judge(Floats(a), Floats(b)).verdict, Verdict::kMismatched);
  a[3] = kNan;
  EXPECT_EQ(Judge(Floats(a), Floats(b)).verdict, Verdict::kMismatched);
}

TEST(ErrorBoundTest, EqualInfinitiesDoNotHideTheRest) {
  std::vector<float> a = Values(1000);
  a[3] = -kInfinity;
  EXPECT_TRUE(Judge(Floats(a), Floats(a)).passed());
  std::vector<float> b = Times(a, 1.001f);
  const FunctionResult result = Judge(Floats(a), Floats(b));
  EXPECT_EQ(result.verdict, Verdict::kMismatched);
  EXPECT_NEAR(VerdictOf(result).rms, 1e-3, 1e-4);
}

TEST(ErrorBoundTest, ZeroAgainstSomethingFails) {
  const std::vector<float> zeros(50, 0);
  EXPECT_EQ(Judge(Floats(zeros), Floats(Values(50))).verdict, Verdict::kMismatched);
  EXPECT_EQ(Judge(Floats(Values(50)), Floats(zeros)).verdict, Verdict::kMismatched);
  EXPECT_TRUE(Judge(Floats(zeros), Floats(zeros)).passed());
}

TEST(ErrorBoundTest, ValuesWhoseSquaresOverflowAreMeasured) {
  const std::vector<double> a = {1e200, -2e200, 3e200};
  const std::vector<double> b = {1e200, -2e200, 3.1e200};
  const FunctionResult result =
      Judge(TensorForTest(DType::kFloat64, {3}, a), TensorForTest(DType::kFloat64, {3}, b));
  EXPECT_EQ(result.verdict, Verdict::kMismatched);
  EXPECT_TRUE(std::isfinite(VerdictOf(result).scale));
}

TEST(ErrorBoundTest, IntegersAreExactUnlessTheyAreSteps) {
  const Tensor a = Ints({4}, {1, 20, 300, 4000});
  const Tensor b = Ints({4}, {1, 20, 301, 4000});
  EXPECT_EQ(Judge(a, b, {.why = "integers, exact"}).verdict, Verdict::kMismatched);
  EXPECT_TRUE(Judge(a, a, {.why = "integers, exact"}).passed());
  EXPECT_TRUE(Judge(a, b, {.rms = 1e-3, .steps = true, .why = "steps"}).passed());
  const Tensor far = Ints({4}, {1, 20, 330, 4000});
  EXPECT_EQ(Judge(a, far, {.rms = 1e-3, .steps = true, .why = "steps"}).verdict,
            Verdict::kMismatched);
}

TEST(ErrorBoundTest, HowManyElementsDifferTellsAFaultFromAFewFlippedSteps) {
  const ErrorBound bound = {
      .rms = 1e-2, .clean = 1e-6, .allowed = 0.06, .element = 0.1, .why = "quantised"};
  const std::vector<float> a = Values(1000);
  std::vector<float> flipped = a;
  for (size_t i = 0; i < 50; ++i) flipped[i * 20] += 0.1f;
  const FunctionResult few = Judge(Floats(a), Floats(flipped), bound);
  EXPECT_TRUE(few.passed() && VerdictOf(few).beyond == 0.05) << VerdictOf(few).beyond;
  const FunctionResult fault = Judge(Floats(a), Floats(WithNoise(a, 2e-3f)), bound);
  EXPECT_LT(VerdictOf(fault).rms, bound.rms);
  EXPECT_EQ(fault.verdict, Verdict::kMismatched);
  EXPECT_NEAR(VerdictOf(fault).times_over, 1 / 0.06, 0.5);
  EXPECT_TRUE(Judge(Floats({1}), Floats({1.005F}), bound).passed()) << "one of few";
}

// One choice in ten may be anything; the others have the bound that they had.
TEST(ErrorBoundTest, BesideChoicesTheOthersKeepTheirBound) {
  const ErrorBound bound = {
      .rms = 2, .clean = 12e-5, .within = 1e-5, .allowed = 0.1, .element = 100, .why = "chosen"};
  const std::vector<float> a = Values(5000);
  const auto chosen = [](std::vector<float> values) {
    for (size_t i = 0; i < values.size(); i += 20) values[i] = -values[i] + 1;
    return Floats(values);
  };
  const FunctionResult faultless = Judge(Floats(a), chosen(WithNoise(a, 4e-6f)), bound);
  EXPECT_TRUE(faultless.passed());
  EXPECT_FALSE(VerdictOf(faultless).shows_nothing());
  const FunctionResult noisy = Judge(Floats(a), chosen(WithNoise(a, 2.5e-5f)), bound);
  EXPECT_LT(VerdictOf(noisy).beyond, bound.allowed);
  EXPECT_EQ(noisy.verdict, Verdict::kMismatched);
  EXPECT_EQ(VerdictOf(noisy).worst, BoundMeasure::kWithin);
  EXPECT_NEAR(VerdictOf(noisy).times_over, 2.4, 0.2);
  const FunctionResult grown = Judge(Floats(a), chosen(Times(a, 1 + 8e-6f)), bound);
  EXPECT_EQ(grown.verdict, Verdict::kMismatched);
  EXPECT_EQ(VerdictOf(grown).worst, BoundMeasure::kGain);
}

// With a wide bound, as of float16, many of those that were chosen otherwise lie within the limit.
TEST(ErrorBoundTest, ChosenElementsThatAreNearByChanceAreNoFault) {
  const ErrorBound bound = {
      .rms = 2, .clean = 0.12, .within = 1e-2, .allowed = 0.5, .element = 200, .why = "chosen"};
  const std::vector<float> a = Values(20000);
  const std::vector<float> others = Values(20001);
  std::vector<float> b = WithNoise(a, 5e-3f);
  for (size_t i = 0; i < b.size(); i += 2) b[i] = others[i + 1];
  EXPECT_TRUE(Judge(Floats(a), Floats(b), bound).passed());
  std::vector<float> noisy = WithNoise(a, 5e-2f);
  for (size_t i = 0; i < b.size(); i += 2) noisy[i] = others[i + 1];
  EXPECT_EQ(VerdictOf(Judge(Floats(a), Floats(noisy), bound)).worst, BoundMeasure::kWithin);
}

TEST(ErrorBoundTest, WhereMostElementsMayBeAnythingAPassShowsNothing) {
  ErrorBound bound = {
      .rms = 2, .clean = 12e-5, .within = 1e-5, .allowed = 0.95, .element = 100, .why = "chosen"};
  const std::vector<float> a = Values(1000);
  std::vector<float> b = a;
  for (size_t i = 0; i < 900; ++i) b[i] = -b[i];
  const FunctionResult most = Judge(Floats(a), Floats(b), bound);
  EXPECT_EQ(VerdictOf(most).times_over <= 1, true);
  EXPECT_TRUE(VerdictOf(most).shows_nothing());
  const FunctionResult alike = Judge(Floats(a), Floats(WithNoise(a, 4e-6f)), bound);
  EXPECT_TRUE(alike.passed()) << "as near as if nothing was chosen";
  EXPECT_FALSE(VerdictOf(alike).shows_nothing());
}

TEST(ErrorBoundTest, WhereNoFlipIsExpectedOneIsTooMany) {
  const ErrorBound bound = {.rms = 1e-2, .clean = 1e-6, .allowed = 0, .element = 0.1, .why = ""};
  const std::vector<float> a = Values(1000);
  std::vector<float> b = a;
  b[3] += 1e-3f;
  EXPECT_EQ(Judge(Floats(a), Floats(b), bound).verdict, Verdict::kMismatched);
  EXPECT_TRUE(Judge(Floats(a), Floats(a), bound).passed());
}

TEST(ErrorBoundTest, SingleStepsOfFewShortValuesTellNothing) {
  const ErrorBound bound = {.rms = 1e-2, .clean = 1e-6, .allowed = 0, .element = 0.1, .why = ""};
  const uint16_t value = 0x3e00;  // 1.5 in float16
  const std::vector<uint16_t> a(1000, value);
  const auto with = [&](size_t count, uint16_t other) {
    std::vector<uint16_t> b = a;
    std::fill_n(b.begin(), count, other);
    const Dims dims = {1000};
    return Judge(TensorForTest(DType::kFloat16, dims, a), TensorForTest(DType::kFloat16, dims, b),
                 bound)
        .passed();
  };
  EXPECT_TRUE(with(40, value + 1));
  EXPECT_FALSE(with(40, value + 2));
  EXPECT_FALSE(with(60, value + 1)) << "too many";
}

TEST(ErrorBoundTest, ASplitCountsRowsAndSharesOfTheError) {
  std::vector<float> a(40, 1.0f);
  std::vector<float> b = a;
  b[0] += 0.25f;
  b[1] -= 0.25f;
  b[39] += 0.25f;
  b[20] += 0x1p-10f;
  const ErrorSplit split = SplitErrors(Floats({8, 5}, a), Floats({8, 5}, b), {0.01});
  EXPECT_EQ(split.beyond, 3);
  EXPECT_DOUBLE_EQ(split.rows, 2.0 / 8);
  EXPECT_DOUBLE_EQ(split.rms_beyond, std::sqrt(3 * 0.0625 / 40));
  EXPECT_DOUBLE_EQ(split.rms_within, std::sqrt(0x1p-20 / 37));
  // Channels first: what lies side by side is not a row.
  EXPECT_DOUBLE_EQ(SplitErrors(Floats({2, 4, 5, 1}, a), Floats({2, 4, 5, 1}, b), {0.01}).rows,
                   3 * 4 / 40.0);
}

TEST(SplitErrorsTest, ElementsThatAreNotFiniteDoNotShiftTheRows) {
  const std::vector<float> a = {kNan, 0, 0, 0, 0, 0, 0, 0};
  const std::vector<float> b = {0, 0, 0, 1, 1, 0, 0, 0};
  EXPECT_EQ(SplitErrors(Floats({2, 4}, a), Floats({2, 4}, b), {0.01}).rows, 1);
}

TEST(ErrorBoundTest, SaturatedFunctionsAreExactToTheirRange) {
  const std::vector<float> a = Times(Values(1000), 1e-8f);
  const std::vector<float> b(1000, 0);
  EXPECT_FALSE(Judge(Floats(a), Floats(b)).passed());
  ErrorBound bound = kBound;
  bound.absolute = 6e-7;
  EXPECT_TRUE(Judge(Floats(a), Floats(b), bound).passed());
  EXPECT_FALSE(Judge(Floats(Times(a, 1e3f)), Floats(b), bound).passed());
  // Where values are of the size of the range, it adds next to nothing.
  const std::vector<float> large = Values(1000);
  const FunctionResult result = Judge(Floats(large), Floats(large), bound);
  EXPECT_NEAR(VerdictOf(result).bound, kBound.rms, 0.01 * kBound.rms);
}

TEST(ErrorBoundTest, TheGainOfASingleElementIsItsError) {
  EXPECT_TRUE(Judge(Floats({1}), Floats({1 + 8e-6f})).passed());
  EXPECT_FALSE(Judge(Floats({1}), Floats({1 + 2e-5f})).passed());
}

// What is kept of 2 % of the values has the error that it had among all.
TEST(ErrorBoundTest, WhatARectifierLeavesHasTheErrorsOfAll) {
  std::vector<float> a(5000, 0), b(5000, 0);
  for (size_t i = 0; i < a.size(); i += 50) {
    a[i] = 1;
    b[i] = i % 100 == 0 ? 1 + 4e-5f : 1 - 4e-5f;
  }
  EXPECT_FALSE(Judge(Floats(a), Floats(b)).passed());
  ErrorBound bound = kBound;
  bound.rectified = bound.thinned = true;
  EXPECT_TRUE(Judge(Floats(a), Floats(b), bound).passed());
  EXPECT_FALSE(Judge(Floats(a), Floats(Times(b, 1.001f)), bound).passed());
}

// Of kBound, whose draws are moved by `steps` roundoffs.
BoundVerdict Widened(double steps, double spread, bool weights = false) {
  const std::vector<float> a = Values(5000);
  ErrorBound bound = kBound;
  bound.condition = steps;
  bound.spread = spread;
  bound.weights_moved = weights;
  return VerdictOf(Judge(Floats(a), Floats(WithNoise(a, 1e-4f)), bound));
}

TEST(ErrorBoundTest, AConditionWidensTheWholeBoundAndIsTold) {
  const BoundVerdict verdict = Widened(60, 1000);
  EXPECT_TRUE(verdict.passed);
  EXPECT_NEAR(verdict.condition, 60, 0.2) << "all roundings may be amplified so";
  EXPECT_DOUBLE_EQ(verdict.bound_before, kBound.rms);
  EXPECT_DOUBLE_EQ(verdict.bound, verdict.condition * kBound.rms);
}

TEST(ErrorBoundTest, ABoundIsNoWiderThanDrawsThatAgreeExplain) {
  EXPECT_NEAR(Widened(60, 1).condition, 5, 0.2);
  EXPECT_NEAR(Widened(60, 2).condition, 10, 0.2);
  EXPECT_EQ(Widened(4, 1).condition, 1) << "well-conditioned";
  EXPECT_NEAR(Widened(5, 12).condition, 3, 0.3) << "there is no threshold";
}

TEST(ErrorBoundTest, WhatWeightsAndInputsMoveTogetherIsAllOfIt) {
  const double roundoffs = kBound.rms * 0x1p24;
  EXPECT_NEAR(Widened(60, 1, true).condition, std::hypot(1, 1.5 * 60 / roundoffs), 0.01);
}

TEST(ErrorBoundTest, AnElementMayDifferByWhatItIsMovedBy) {
  const std::vector<float> a = Values(5000);
  std::vector<float> b = a;
  b[11] += 3 * 5e-4f;
  ErrorBound bound = kBound;
  EXPECT_FALSE(Judge(Floats(a), Floats(b), bound).passed());
  bound.weights_moved = true;
  bound.moved_element = 6e-4;
  const FunctionResult result = Judge(Floats(a), Floats(b), bound);
  EXPECT_TRUE(result.passed());
  EXPECT_NEAR(VerdictOf(result).condition, 1.5 * 6e-4 / (12 * kBound.rms), 0.01);
  EXPECT_DOUBLE_EQ(VerdictOf(result).bound, kBound.rms);
  EXPECT_DOUBLE_EQ(VerdictOf(result).rtol, 12 * kBound.rms) << "near ties are no wider";
}

TEST(ErrorBoundTest, AConditionWidensNoBoundThatHasRoomForItAlready) {
  const std::vector<float> a = Values(5000);
  ErrorBound bound = kBound;
  bound.rms = 0.05;
  bound.condition = 800;
  bound.spread = 1000;
  const FunctionResult result = Judge(Floats(a), Floats(WithNoise(a, 0.2f)), bound);
  EXPECT_FALSE(result.passed());
  EXPECT_LT(VerdictOf(result).bound, 0.08);
}

// One that is far out was far out in what this was made from.
TEST(ErrorBoundTest, ASingleLargeErrorThatWasMeasuredBeforeIsAllowed) {
  const std::vector<float> a = Values(5000);
  std::vector<float> b = a;
  b[11] += 3 * 5e-4f;
  ErrorBound bound = kBound;
  EXPECT_FALSE(Judge(Floats(a), Floats(b), bound).passed());
  bound.largest = 6e-4;
  EXPECT_TRUE(Judge(Floats(a), Floats(b), bound).passed());
  b[11] += 3 * 5e-4f;
  EXPECT_FALSE(Judge(Floats(a), Floats(b), bound).passed());
}

TEST(ErrorBoundTest, AnExplicitToleranceWins) {
  ErrorBounds bounds;
  bounds.Set("y", kBound);
  CompareOptions options;
  options.tolerance.fallback = ToleranceRule::kAuto;
  options.atol.entries.emplace_back("y", 10.0);
  ComparisonDetail detail;
  detail.bounds = &bounds;
  const FunctionResult result =
      CompareOutputs({"y", Floats({1})}, {"y", Floats({2})}, options, detail).functions.front();
  EXPECT_TRUE(result.passed());
  EXPECT_FALSE(std::get<SimpleResult>(result.data).bound);
}

}  // namespace
}  // namespace vernier
