#include "kernels/measures/rank_sample.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "kernels/measures/quantile_rule.h"
#include "util/threads/thread_pool.h"

namespace vernier {
namespace {

constexpr int64_t kCount = 2000000;

std::vector<float> Numbers(bool with_ties) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> values(kCount);
  for (float& value : values) {
    value = normal(random);
    if (with_ties) value = std::max(0.0f, value);
  }
  return values;
}

RankPlan<int32_t> PlanOf(const std::vector<float>& values, const SampleSizes& sizes) {
  const ElementSpan span{DType::kFloat32, std::as_bytes(std::span(values)), kCount};
  const PairSource<float> source(span, span, {});
  ScanPlan plan;
  plan.levels[kSideA] = StatisticsLevel::kRanks;
  plan.judges = false;
  std::array<std::vector<int64_t>, kSeriesCount> ranks;
  const double quantiles[] = {0.0, 0.9, 0.95, 0.99, 1.0};
  ranks[kSideA] = NeededRanks(kCount, quantiles);
  ThreadPool pool(3);
  return MakeRankPlans(source, plan, ranks, sizes, &pool)[kSideA];
}

// The share of values strictly inside the brackets; every wanted rank must lie in its bracket, or
// on an end of which equals are counted.
double ShareInBrackets(const std::vector<float>& values, const SampleSizes& sizes) {
  const RankPlan<int32_t> plan = PlanOf(values, sizes);
  std::vector<int32_t> sorted(values.size());
  std::transform(values.begin(), values.end(), sorted.begin(), KeyOf<float>);
  std::sort(sorted.begin(), sorted.end());
  double inside = 0;
  for (const auto& bracket : plan.brackets()) {
    for (const int64_t rank : bracket.ranks) {
      const int32_t key = sorted[static_cast<size_t>(rank)];
      EXPECT_TRUE((key > bracket.low && key < bracket.high) ||
                  (key == bracket.low && bracket.counts_below_low) ||
                  (key == bracket.high && bracket.counts_up_to_high))
          << rank;
    }
    inside += static_cast<double>(
        std::max<int64_t>(0, std::lower_bound(sorted.begin(), sorted.end(), bracket.high) -
                                 std::upper_bound(sorted.begin(), sorted.end(), bracket.low)));
  }
  return inside / static_cast<double>(kCount);
}

TEST(MakeRankPlans, PlacesNarrowBracketsAroundTheRanks) {
  for (const bool with_ties : {false, true}) {
    const std::vector<float> values = Numbers(with_ties);
    EXPECT_LT(ShareInBrackets(values, {.first = 4096}), 0.15);
    EXPECT_LT(ShareInBrackets(values, {.first = 65536}), 0.04);
  }
}

// As those of 16-bit types: at most one number in a thousand is the same.
TEST(MakeRankPlans, TakesAFewEqualNumbersIn) {
  std::vector<float> values = Numbers(false);
  for (float& value : values) value = std::round(value * 256) / 256;
  EXPECT_LT(ShareInBrackets(values, {.first = 65536}), 0.05);
  const RankPlan<int32_t> plan = PlanOf(values, {.first = 65536});
  for (const auto& bracket : plan.brackets()) {
    EXPECT_FALSE(bracket.counts_below_low || bracket.counts_up_to_high) << bracket.ranks.front();
  }
}

TEST(MakeRankPlans, NarrowsThemByASecondSample) {
  for (const bool with_ties : {false, true}) {
    const std::vector<float> values = Numbers(with_ties);
    EXPECT_LT(ShareInBrackets(values, {.first = 4096, .second = 262144}), 0.02);
  }
}

}  // namespace
}  // namespace vernier
