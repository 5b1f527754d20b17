#include "run/figures/error_counts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace vernier {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

ErrorCounts CountsOf(const std::vector<double>& errors) {
  ErrorCounts counts;
  counts.Add(errors);
  return counts;
}

TEST(ErrorCounts, QuantilesAreThoseOfNumPy) {
  const QuantilesRecord found = CountsOf({3, 0, 1, 2, 0, 10}).Quantiles("absolute_error");
  EXPECT_EQ(found.iterations, 6);
  EXPECT_EQ(found.median, 1.5);
  EXPECT_EQ(found.p1, 0);
  EXPECT_DOUBLE_EQ(found.p95, 8.25);
  EXPECT_DOUBLE_EQ(found.p99, 9.65);
}

TEST(ErrorCounts, NaNIsLeftOutAndInfinityIsNot) {
  const ErrorCounts counts =
      CountsOf({1, std::numeric_limits<double>::quiet_NaN(), 3, kInfinite, 5e-324});
  const QuantilesRecord found = counts.Quantiles("absolute_error");
  EXPECT_EQ(found.iterations, 4);
  EXPECT_EQ(found.nan, 1);
  EXPECT_EQ(found.median, 2);
  EXPECT_EQ(found.p99, kInfinite);
}

// More different ones than are kept, from 0 to infinity.
std::vector<double> ManyErrors() {
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> sizes(-9, 3);
  std::vector<double> errors = {0, kInfinite, std::numeric_limits<double>::quiet_NaN(), 5e-324};
  while (errors.size() < 3 * ErrorCounts::kMost) errors.push_back(sizes(random));
  return errors;
}

TEST(ErrorCounts, AnyDivisionGivesTheSame) {
  const std::vector<double> errors = ManyErrors();
  const CountedErrors whole = CountsOf(errors).Keep();
  EXPECT_GT(whole.dropped_bits, 0);
  EXPECT_LE(whole.values.size(), ErrorCounts::kMost);
  std::vector<ErrorCounts> parts(5);
  for (size_t i = 0; i < errors.size(); ++i) {
    parts[i < 1000 ? 0 : 1 + i % 4].Add(std::vector{errors[errors.size() - 1 - i]});
  }
  ErrorCounts merged;
  for (const size_t part : {3, 0, 4, 1, 2}) ASSERT_TRUE(merged.Add(parts[part].Keep()).ok());
  EXPECT_EQ(merged.Keep(), whole);
}

TEST(ErrorCounts, WhatIsRoundedIsSmallerByLessThanItSays) {
  std::vector<double> errors = ManyErrors();
  const ErrorCounts counts = CountsOf(errors);
  const QuantilesRecord found = counts.Quantiles("absolute_error");
  std::erase_if(errors, [](double error) { return std::isnan(error); });
  std::ranges::sort(errors);
  const double place = 0.5 * static_cast<double>(errors.size() - 1);
  const double exact = errors[static_cast<size_t>(place)];
  EXPECT_GT(counts.rounding(), 0);
  EXPECT_LT(counts.rounding(), 1e-2);
  EXPECT_LE(found.median, errors[static_cast<size_t>(place) + 1]);
  EXPECT_GE(found.median, exact * (1 - counts.rounding()));
  EXPECT_EQ(CountsOf({1, 2}).rounding(), 0);
}

TEST(ErrorCounts, CountsThatCannotBeAreRefused) {
  const CountedErrors wrong[] = {{.dropped_bits = 53, .nan = 0, .values = {}, .counts = {}},
                                 {.dropped_bits = 0, .nan = -1, .values = {}, .counts = {}},
                                 {.dropped_bits = 0, .nan = 0, .values = {1}, .counts = {}},
                                 {.dropped_bits = 0, .nan = 0, .values = {1}, .counts = {0}},
                                 {.dropped_bits = 0, .nan = 0, .values = {-1}, .counts = {1}}};
  for (const CountedErrors& kept : wrong) {
    ErrorCounts counts;
    EXPECT_EQ(counts.Add(kept).code(), StatusCode::kMalformed);
  }
}

}  // namespace
}  // namespace vernier
