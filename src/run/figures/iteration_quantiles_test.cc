#include "run/figures/iteration_quantiles.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "compare/functions/comparison.h"

namespace vernier {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

IterationQuantiles Of(const std::vector<double>& errors) {
  IterationQuantiles quantiles;
  for (const double error : errors) {
    OutputRow row;
    row.max_absolute_error = error;
    quantiles.Add(OutputComparison(), row);
  }
  return quantiles;
}

TEST(IterationQuantiles, AreThoseOfNumPy) {
  const std::vector<QuantilesRecord> found = Of({3, 0, 1, 2, 0, 10}).Quantiles();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].statistic, "max_absolute_error");
  EXPECT_EQ(found[0].iterations, 6);
  EXPECT_EQ(found[0].median, 1.5);
  EXPECT_EQ(found[0].p1, 0);
  EXPECT_DOUBLE_EQ(found[0].p95, 8.25);
  EXPECT_DOUBLE_EQ(found[0].p99, 9.65);
}

TEST(IterationQuantiles, DoNotDependOnTheOrder) {
  const QuantilesRecord one = Of({0.1, 0.7, 0.3, kInfinity}).Quantiles().at(0);
  const QuantilesRecord other = Of({kInfinity, 0.3, 0.1, 0.7}).Quantiles().at(0);
  EXPECT_EQ(one.median, other.median);
  EXPECT_EQ(one.p5, other.p5);
  EXPECT_EQ(one.p99, kInfinity);
}

TEST(IterationQuantiles, NaNIsCountedAndNoNumber) {
  const QuantilesRecord found =
      Of({1, std::numeric_limits<double>::quiet_NaN(), 3}).Quantiles().at(0);
  EXPECT_EQ(found.iterations, 2);
  EXPECT_EQ(found.nan, 1);
  EXPECT_EQ(found.median, 2);
}

TEST(IterationQuantiles, OneIterationHasNone) { EXPECT_TRUE(Of({1}).Quantiles().empty()); }

}  // namespace
}  // namespace vernier
