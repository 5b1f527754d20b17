#include "gpu/stream_totals.h"
#include "core/test_values.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace vernier::gpu {
namespace {

constexpr int64_t kNowhere = std::numeric_limits<int64_t>::max();

// The record that a kernel makes of some values, each with its place.
struct Placed {
  int64_t place;
  double value;
};
StreamRecord RecordOf(const std::vector<Placed>& values, double pilot) {
  StreamRecord record{};
  double min = kInfinity;
  double max = -kInfinity;
  record.argmin = record.argmax = -1;
  record.first_nan = record.first_infinite = kNowhere;
  for (const auto& [place, value] : values) {
    record.sum.high += value;
    record.magnitudes.high += std::fabs(value);
    record.squares.high += (value - pilot) * (value - pilot);
    if (std::isnan(value)) {
      ++record.nan_count;
      record.first_nan = std::min(record.first_nan, place);
    }
    if (value < min) min = value, record.argmin = place;
    if (value > max) max = value, record.argmax = place;
  }
  record.min = std::bit_cast<uint64_t>(min);
  record.max = std::bit_cast<uint64_t>(max);
  return record;
}

TEST(StreamTotals, MergeBlocksThatInterleave) {
  StreamTotals totals(StreamType::kFloating);
  totals.Add(RecordOf({{0, 3}, {4, -2}}, 1));
  totals.Add(RecordOf({{2, -2}, {6, 3}, {7, 1}}, 1));
  const ValueStatistics out = totals.Finish(5, StreamTotals::Sign::kAny, 1);
  EXPECT_EQ(out.argmin, 2) << "the earlier of two equal places";
  EXPECT_EQ(out.argmax, 0);
  EXPECT_EQ(out.min, -2);
  EXPECT_EQ(out.max, 3);
  EXPECT_DOUBLE_EQ(out.mean, 0.6);
  EXPECT_DOUBLE_EQ(out.average_magnitude, 11 / 5.0);
  EXPECT_NEAR(out.variance, (9 + 4 + 4 + 9 + 1) / 5.0 - 0.36, 1e-14);
}

TEST(StreamTotals, ANanMakesEverythingNan) {
  StreamTotals totals(StreamType::kFloating);
  totals.Add(RecordOf({{0, 3}}, 0));
  totals.Add(RecordOf({{5, std::nan("")}}, 0));
  totals.Add(RecordOf({{3, std::nan("")}}, 0));
  const ValueStatistics out = totals.Finish(3, StreamTotals::Sign::kAny, 0);
  EXPECT_EQ(out.nan_count, 2);
  EXPECT_EQ(out.first_nan, 3);
  EXPECT_EQ(out.first_infinite, -1);
  EXPECT_EQ(out.argmin, 3);
  EXPECT_EQ(out.argmax, 3);
  for (const double value : {out.mean, out.variance, out.min, out.max, out.median}) {
    EXPECT_TRUE(std::isnan(value));
  }
}

TEST(StreamTotals, OnlyInfinitiesAreFoundAtTheFirstPlace) {
  StreamTotals totals(StreamType::kFloating);
  totals.Add(RecordOf({{0, kInfinity}}, 0));
  totals.Add(RecordOf({{1, kInfinity}}, 0));
  const ValueStatistics out = totals.Finish(2, StreamTotals::Sign::kAny, 0);
  EXPECT_EQ(out.min, kInfinity);
  EXPECT_EQ(out.argmin, 0);
}

TEST(StreamTotals, SumsThatOverflowAreKnownFromInfinities) {
  StreamTotals large(StreamType::kFloating);
  large.Add(RecordOf({{0, 1.5e308}}, 0));
  large.Add(RecordOf({{1, 1.5e308}}, 0));
  EXPECT_TRUE(large.overflows());
  StreamTotals special(StreamType::kFloating);
  StreamRecord infinite = RecordOf({{0, kInfinity}}, 0);
  infinite.infinite_count = 1;
  special.Add(infinite);
  EXPECT_FALSE(special.overflows());
}

TEST(StreamTotals, AConstantArrayHasNoVariance) {
  StreamTotals totals(StreamType::kFloating);
  for (int64_t i = 0; i < 100; ++i) totals.Add(RecordOf({{i, 0.1}}, 0.1));
  EXPECT_EQ(totals.Finish(100, StreamTotals::Sign::kAny, 0.1).std_dev, 0);
}

TEST(StreamTotals, ASmallSpreadAroundALargeMeanIsNotLost) {
  StreamTotals totals(StreamType::kFloating);
  for (int64_t i = 0; i < 1000; ++i) {
    totals.Add(RecordOf({{i, 1e9 + (i % 2 == 0 ? 0.25 : -0.25)}}, 1e9 + 0.125));
  }
  EXPECT_NEAR(totals.Finish(1000, StreamTotals::Sign::kAny, 1e9 + 0.125).variance, 0.0625, 1e-9);
}

TEST(StreamTotals, BigIntegersKeepTheirOrder) {
  StreamRecord low{};
  low.min = low.max = (uint64_t{1} << 63) + 1;
  StreamRecord high = low;
  high.min = high.max = (uint64_t{1} << 63) + 2;  // the same double
  low.argmin = low.argmax = 9;
  high.argmin = high.argmax = 4;
  StreamTotals totals(StreamType::kUnsigned);
  totals.Add(high);
  totals.Add(low);
  const ValueStatistics out = totals.Finish(2, StreamTotals::Sign::kNeverNegative, 0);
  EXPECT_EQ(out.argmin, 9);
  EXPECT_EQ(out.argmax, 4);
}

TEST(WideSum, KeepsWhatADoubleLoses) {
  WideSum sum{};
  Accumulate(sum, 1e16);
  for (int i = 0; i < 10; ++i) Accumulate(sum, 0.5);
  Accumulate(sum, -1e16);
  EXPECT_EQ(ValueOf(sum), 5);
}

TEST(WideSum, InfinityStaysInfinite) {
  WideSum sum{};
  Accumulate(sum, kInfinity);
  Accumulate(sum, 1);
  EXPECT_EQ(ValueOf(sum), kInfinity);
}

}  // namespace
}  // namespace vernier::gpu
