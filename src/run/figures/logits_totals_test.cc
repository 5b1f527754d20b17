#include "run/figures/logits_totals.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

namespace vernier {
namespace {

// Of positions with these divergences, the first `equal` of which rank one class first.
LogitMeasures MeasuresOf(std::span<const double> divergences, int64_t equal) {
  LogitMeasures measures;
  const auto count = static_cast<double>(divergences.size());
  double sum = 0, squares = 0;
  for (const double one : divergences) sum += one;
  measures.divergence_mean = sum / count;
  for (const double one : divergences) squares += std::pow(one - measures.divergence_mean, 2);
  if (count > 1) measures.divergence_error = std::sqrt(squares / (count * (count - 1)));
  measures.divergence_most = *std::max_element(divergences.begin(), divergences.end());
  measures.compared = std::ssize(divergences);
  measures.equal_top1 = measures.equal_sets = equal;
  measures.flips = measures.compared - equal;
  return measures;
}

TEST(LogitsTotals, AreThoseOfAllPositionsHoweverTheyAreCut) {
  const std::vector<double> all = {1e-4, 3e-3, 2e-5, 0, 7e-4, 1e-3, 5e-2, 4e-6};
  const LogitMeasures whole = MeasuresOf(all, 6);
  for (const size_t first : {1u, 3u, 7u}) {
    LogitsTotals totals;
    const std::span<const double> span(all);
    totals.Add(MeasuresOf(span.first(first), 1));
    totals.Add(MeasuresOf(span.subspan(first), 5));
    const auto record = totals.Get();
    ASSERT_TRUE(record);
    EXPECT_EQ(record->iterations, 2);
    EXPECT_EQ(record->compared, 8);
    EXPECT_NEAR(record->kl_mean, whole.divergence_mean, 1e-17);
    EXPECT_NEAR(record->kl_error, *whole.divergence_error, 1e-16);
    EXPECT_EQ(record->kl_max, 5e-2);
    EXPECT_EQ(record->top1_share, 0.75);
    EXPECT_EQ(record->flips, 2);
  }
}

TEST(LogitsTotals, StayInfiniteBehindATornPosition) {
  LogitMeasures torn;
  torn.torn = 1;
  torn.divergence_mean = torn.divergence_most = std::numeric_limits<double>::infinity();
  LogitsTotals totals;
  for (int i = 0; i < 2; ++i) {
    totals.Add(MeasuresOf(std::vector<double>{1e-4, 3e-4}, 2));
    totals.Add(torn);
  }
  EXPECT_TRUE(std::isinf(totals.Get()->kl_mean));
  EXPECT_TRUE(std::isinf(totals.Get()->kl_max));
  EXPECT_TRUE(std::isnan(totals.Get()->kl_error));
  EXPECT_EQ(totals.Get()->compared, 4);
}

TEST(LogitsTotals, PositionsWithNanAreCounted) {
  LogitMeasures nan;
  nan.nan = 2;
  nan.infinite = 1;
  LogitsTotals totals;
  totals.Add(MeasuresOf(std::vector<double>{1e-4}, 1));
  totals.Add(nan);
  totals.Add(nan);
  EXPECT_EQ(totals.Get()->nan, 4);
  EXPECT_EQ(totals.Get()->infinite, 2);
  EXPECT_EQ(totals.Get()->compared, 1);
}

TEST(LogitsTotals, OneIterationHasNone) {
  LogitsTotals totals;
  EXPECT_FALSE(totals.Get());
  totals.Add(MeasuresOf(std::vector<double>{1e-4}, 1));
  EXPECT_FALSE(totals.Get());
}

TEST(LogitsTotals, PositionsWithoutADivergenceDoNotCount) {
  LogitsTotals totals;
  totals.Add(LogitMeasures());
  totals.Add(LogitMeasures());
  ASSERT_TRUE(totals.Get());
  EXPECT_TRUE(std::isnan(totals.Get()->kl_mean));
  EXPECT_TRUE(std::isnan(totals.Get()->top1_share));
  totals.Add(MeasuresOf(std::vector<double>{1e-4, 3e-4}, 2));
  EXPECT_DOUBLE_EQ(totals.Get()->kl_mean, 2e-4);
}

}  // namespace
}  // namespace vernier
