#include "run/profile/latency_statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace vernier {
namespace {

TEST(LatencyStatistics, NothingMeasuredIsNothing) {
  const LatencyStatistics latency = SummariseTimes({});
  EXPECT_EQ(latency.count, 0);
  EXPECT_EQ(latency.median, 0);
}

TEST(LatencyStatistics, OneTimeIsAllOfIt) {
  const LatencyStatistics latency = SummariseTimes({0.5});
  for (const double value : {latency.mean, latency.min, latency.max, latency.median, latency.p90,
                             latency.p95, latency.p99}) {
    EXPECT_EQ(value, 0.5);
  }
  EXPECT_EQ(latency.std_dev, 0);
}

TEST(LatencyStatistics, PercentilesAreMeasuredTimes) {
  std::vector<double> times(100);
  std::iota(times.begin(), times.end(), 1.0);
  const LatencyStatistics latency = SummariseTimes(times);
  EXPECT_EQ(latency.count, 100);
  EXPECT_DOUBLE_EQ(latency.mean, 50.5);
  EXPECT_DOUBLE_EQ(latency.median, 50.5);
  EXPECT_EQ(latency.p90, 90);
  EXPECT_EQ(latency.p95, 95);
  EXPECT_EQ(latency.p99, 99);
  EXPECT_EQ(latency.max, 100);
  EXPECT_NEAR(latency.std_dev, std::sqrt((100.0 * 100.0 - 1) / 12), 1e-9);
}

TEST(LatencyStatistics, TheOrderOfTimesMattersForDriftAlone) {
  const LatencyStatistics rising = SummariseTimes({1, 1, 1, 1, 2, 2, 2, 2});
  const LatencyStatistics falling = SummariseTimes({2, 2, 2, 2, 1, 1, 1, 1});
  EXPECT_EQ(rising.median, falling.median);
  EXPECT_DOUBLE_EQ(rising.drift, 1);
  EXPECT_DOUBLE_EQ(falling.drift, -0.5);
}

TEST(LatencyStatistics, SteadyTimesHaveNoNoise) {
  EXPECT_EQ(SummariseTimes(std::vector<double>(50, 0.01)).median_noise, 0);
  std::vector<double> restless;
  for (int i = 0; i < 50; ++i) restless.push_back(i % 2 == 0 ? 1 : 3);
  EXPECT_GT(SummariseTimes(restless).median_noise, 0.4);
}

TEST(LatencyStatistics, OfFewTimesTheNoiseIsHalfTheirRange) {
  EXPECT_DOUBLE_EQ(SummariseTimes({15, 48, 20, 30, 16}).median_noise, (48 - 15) / 2.0 / 20);
  EXPECT_EQ(SummariseTimes({15}).median_noise, 0);
}

}  // namespace
}  // namespace vernier
