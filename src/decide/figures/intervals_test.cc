#include "decide/figures/intervals.h"

#include <gtest/gtest.h>

#include <cmath>

namespace vernier {
namespace {

// tests/decide_oracle has more values, to 1e-12.
TEST(WilsonInterval, IsThatOfStatsmodels) {
  // proportion_confint(3, 10, method="wilson") of statsmodels 0.15
  const auto [low, high] = WilsonInterval(3, 10);
  EXPECT_NEAR(low, 0.10779126740630104, 1e-13);
  EXPECT_NEAR(high, 0.6032218525388546, 1e-13);
}

TEST(WilsonInterval, EndsAtZeroAndOneAndNeedsTrials) {
  EXPECT_EQ(WilsonInterval(0, 10).first, 0);
  EXPECT_LT(WilsonInterval(0, 10).second, 1);
  EXPECT_EQ(WilsonInterval(10, 10).second, 1);
  EXPECT_TRUE(std::isnan(WilsonInterval(0, 0).first));
  EXPECT_TRUE(std::isnan(WilsonInterval(0, 0).second));
}

TEST(McNemarP, IsTheBinomialTestOfSciPy) {
  // binomtest(12, 43, 0.5).pvalue and binomtest(0, 1000, 0.5).pvalue of SciPy 1.17
  EXPECT_NEAR(McNemarP(12, 31), 0.005401572654591291, 1e-14);
  EXPECT_NEAR(McNemarP(1000, 0) / 1.8665272370064378e-301, 1, 1e-12);
  EXPECT_EQ(McNemarP(7, 7), 1);
  EXPECT_EQ(McNemarP(0, 0), 1);
}

TEST(McNemarSamples, IsConnorsFormula) {
  // ((1.959964 sqrt(0.05) + 0.841621 sqrt(0.05 - 0.01^2)) / 0.01)^2, rounded up
  EXPECT_EQ(McNemarSamples(0.01, 0.05), 3923);
  // No fewer than make one discordant pair likely, and a share below the drop counts as the drop.
  EXPECT_EQ(McNemarSamples(0.01, 0.001), McNemarSamples(0.01, 0.01));
}

TEST(SamplesToDecide, IsWhereTheIntervalLeavesTheLimit) {
  EXPECT_EQ(SamplesToDecide(0.1, 0.2), 62);
  EXPECT_EQ(SamplesToDecide(0.2, 0.2), 0);
  EXPECT_EQ(SamplesToDecide(0.25, 0), 1);
  // 400 samples at 5 %, held to 10 %: 1 - that many successes exclude the limit, half do not.
  const int64_t enough = SamplesToDecide(0.05, 0.1);
  EXPECT_LT(WilsonInterval(enough / 20 + 1, enough + 20).second, 0.1);
  EXPECT_GT(WilsonInterval(enough / 40, enough / 2).second, 0.1);
}

}  // namespace
}  // namespace vernier
