#include "compare/functions/tally.h"

#include <gtest/gtest.h>

#include "compare/functions/comparator.h"
#include "compare/outputs/tensor_for_test.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

IterationComparison Iteration(const std::vector<float>& a, const std::vector<float>& b,
                              const CompareOptions& options) {
  return CompareIteration({"A", std::nullopt, {{"y", Floats(a)}}},
                          {"B", std::nullopt, {{"y", Floats(b)}}}, options, {});
}

TEST(ComparisonTally, CountsIterationsThatPass) {
  CompareOptions options;
  options.atol.fallback = 0.25;
  options.rtol.fallback = 0;
  ComparisonTally tally;
  tally.Add(Iteration({1, 2}, {1, 2}, options));
  tally.Add(Iteration({1, 2}, {1, 3}, options));
  tally.Add(Iteration({1, 2}, {1.5f, 2}, options));
  EXPECT_EQ(tally.iterations(), 3);
  EXPECT_EQ(tally.passed_iterations(), 1);
  EXPECT_EQ(tally.outputs().at(0).passed, 1);
}

TEST(ComparisonTally, CountsVacuousMatches) {
  ComparisonTally tally;
  tally.Add(Iteration({0, 0}, {0, 0}, {}));
  tally.Add(Iteration({0, 1}, {0, 1}, {}));
  EXPECT_EQ(tally.outputs()[0].passed, 2);
  EXPECT_EQ(tally.outputs()[0].vacuous, 1);
  EXPECT_EQ(tally.outputs()[0].vacuous_why, "all elements are zero");
}

TEST(ComparisonTally, ConstantsOfSeveralIterationsAreCalledTheSameInEach) {
  const auto why = [](const std::vector<std::vector<float>>& iterations) {
    ComparisonTally tally;
    for (const std::vector<float>& y : iterations) tally.Add(Iteration(y, y, {}));
    return tally.outputs()[0].vacuous_why;
  };
  EXPECT_EQ(why({{0, 0}, {0, 0}}), "all elements are zero");
  EXPECT_EQ(why({{2, 2}}), "all elements are the same");
  for (const float next : {0.0f, 1.0f, 2.0f}) {
    EXPECT_EQ(why({{2, 2}, {next, next}}), "all elements of each iteration are the same");
    EXPECT_EQ(why({{next, next}, {3, 4}, {2, 2}}), "all elements of each iteration are the same");
  }
  EXPECT_EQ(why({{0, 0}, {2, 2}, {0, 0}}), "all elements of each iteration are the same");
  EXPECT_EQ(why({{}, {2, 2}}), "no elements");
}

TEST(Averages, HoldTheMeanAgainstTheTolerance) {
  CompareOptions options;
  options.check_error_stat.fallback = std::vector<ErrorStat>{ErrorStat::kMax};
  options.atol.fallback = 0.5;
  options.rtol.fallback = 0;
  ComparisonTally tally;
  tally.Add(Iteration({1, 2}, {1, 3}, options));  // 1 is beyond the tolerance
  tally.Add(Iteration({1, 2}, {1, 2}, options));  // but the mean is not
  EXPECT_TRUE((*tally.Averages())[0].passed());
  tally.Add(Iteration({1, 2}, {1, 4}, options));
  EXPECT_FALSE((*tally.Averages())[0].passed());
}

TEST(Averages, OfWhatIsNotVerifiedNeitherPassNorDiffer) {
  CompareOptions options;
  options.functions = {CompareFunction::kKlDivergence, CompareFunction::kL2};
  ComparisonTally tally;
  tally.Add(Iteration({1, -1}, {1, -1}, options));
  EXPECT_FALSE((*tally.Averages())[0].passed());
  EXPECT_FALSE((*tally.Averages())[0].differs());
  EXPECT_TRUE(tally.outputs()[0].any_not_verified());
  tally.Add(Iteration({1, 2}, {1, 3}, options));
  EXPECT_TRUE((*tally.Averages())[0].differs());  // by the L2 norm
}

TEST(Averages, FailLoudlyWithoutNumbers) {
  ComparisonTally tally;
  tally.Add(Iteration({1, 2}, {1, 2, 3}, {}));
  EXPECT_FALSE(tally.Averages().ok());
}

}  // namespace
}  // namespace vernier
