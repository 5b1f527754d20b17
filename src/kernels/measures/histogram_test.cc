#include "kernels/measures/histogram.h"
#include "core/test_values.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "util/threads/thread_pool.h"

namespace vernier {
namespace {

template <typename T>
Histogram Of(DType dtype, const std::vector<T>& values, const HistogramRange& range) {
  return ComputeHistogram(
      {dtype, std::as_bytes(std::span(values)), static_cast<int64_t>(values.size())}, range);
}

// NumPy's own bins are compared in tests/compare_oracle.

TEST(ComputeHistogram, ClosesTheLastBin) {
  std::vector<double> values(11);
  std::iota(values.begin(), values.end(), 0.0);
  const Histogram h = Of(DType::kFloat64, values, {0, 10, false});
  EXPECT_EQ(h.counts, (std::array<int64_t, 10>{1, 1, 1, 1, 1, 1, 1, 1, 1, 2}));
  EXPECT_EQ(h.edges[10], 10);
}

TEST(ComputeHistogram, WidensAnEmptyRange) {
  const Histogram h = Of(DType::kFloat32, std::vector<float>{3, 3}, {3, 3, false});
  EXPECT_EQ(h.edges[0], 2.5);
  EXPECT_EQ(h.edges[10], 3.5);
  EXPECT_EQ(h.counts[5], 2);
}

TEST(ComputeHistogram, IgnoresWhatLiesOutside) {
  const Histogram h =
      Of(DType::kFloat32, std::vector<float>{-1, 0, 1, 2, std::numeric_limits<float>::quiet_NaN()},
         {0, 1, true});
  EXPECT_EQ(std::accumulate(h.counts.begin(), h.counts.end(), int64_t{0}), 2);
}

// NumPy's steps one by one, in the array's own type.
template <typename T>
std::array<int64_t, 10> NumpyCounts(const std::vector<T>& values, T first, T last,
                                    const std::array<double, 11>& edges) {
  std::array<int64_t, 10> counts{};
  for (const T value : values) {
    if (!(value >= first && value <= last)) continue;
    const T offset = value - first;
    const T quotient = offset / (last - first);
    const T place = quotient * T{10};
    auto bin = static_cast<size_t>(place);
    if (bin == 10) bin = 9;
    if (value < static_cast<T>(edges[bin])) --bin;
    if (bin != 9 && value >= static_cast<T>(edges[bin + 1])) ++bin;
    ++counts[bin];
  }
  return counts;
}

template <typename T>
std::vector<T> ValuesAround(T first, T last, const std::array<double, 11>& edges) {
  using Limits = std::numeric_limits<T>;
  std::mt19937_64 random(1);
  std::uniform_real_distribution<T> inside(first, last);
  std::vector<T> values = {T{0},
                           -T{0},
                           Limits::quiet_NaN(),
                           -Limits::quiet_NaN(),
                           Limits::infinity(),
                           -Limits::infinity(),
                           Limits::denorm_min()};
  for (const double edge : edges) {
    const auto at = static_cast<T>(edge);
    for (const T value :
         {at, std::nextafter(at, Limits::lowest()), std::nextafter(at, Limits::max())}) {
      values.push_back(value);
    }
  }
  while (values.size() < 3001) values.push_back(inside(random));
  return values;
}

template <typename T>
class HistogramBins : public testing::Test {};
using BinnedReals = testing::Types<float, double>;
TYPED_TEST_SUITE(HistogramBins, BinnedReals);

TYPED_TEST(HistogramBins, AreThoseOfNumpysSteps) {
  using T = TypeParam;
  const DType dtype = sizeof(T) == 4 ? DType::kFloat32 : DType::kFloat64;
  const std::pair<T, T> ranges[] = {{T{0}, T{1}},
                                    {static_cast<T>(-0.1), static_cast<T>(0.7)},
                                    {T{-3}, T{0}},
                                    {T{1000}, static_cast<T>(1000.01)},
                                    {static_cast<T>(1e-30), static_cast<T>(3e-30)},
                                    {T{0}, 30 * std::numeric_limits<T>::denorm_min()}};
  for (const auto& [first, last] : ranges) {
    const HistogramRange range{static_cast<double>(first), static_cast<double>(last), false};
    const Histogram edges = Of(dtype, std::vector<T>{}, range);
    ASSERT_EQ(edges.error, "");
    const std::vector<T> values = ValuesAround(first, last, edges.edges);
    EXPECT_EQ(Of(dtype, values, range).counts, NumpyCounts(values, first, last, edges.edges))
        << first << " to " << last;
  }
}

TEST(ComputeHistogram, IsTheSameForAnyNumberOfThreads) {
  std::mt19937 random(1);
  std::vector<float> values(500'000);
  for (float& value : values) value = static_cast<float>(random() % 1000);
  const HistogramRange range{0, 999, false};
  const Histogram alone = Of(DType::kFloat32, values, range);
  for (const size_t threads : {2, 64}) {
    ThreadPool pool(threads);
    const ElementSpan elements{DType::kFloat32, std::as_bytes(std::span(values)),
                               static_cast<int64_t>(values.size())};
    EXPECT_EQ(ComputeHistogram(elements, range, &pool).counts, alone.counts);
  }
}

struct ErrorCase {
  const char* name;
  HistogramRange range;
  const char* error;
};

class HistogramErrors : public testing::TestWithParam<ErrorCase> {};

TEST_P(HistogramErrors, SayWhatNumPySays) {
  EXPECT_EQ(Of(DType::kFloat32, std::vector<float>{1, 2}, GetParam().range).error,
            GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(
    Ranges, HistogramErrors,
    testing::Values(
        ErrorCase{
            "Infinite", {0, kInfinity, false}, "autodetected range of [0.0, inf] is not finite"},
        ErrorCase{
            "GivenInfinite", {-kInfinity, 1, true}, "supplied range of [-inf, 1.0] is not finite"},
        ErrorCase{"Reversed", {2, 1, true}, "max must be larger than min in range parameter."},
        ErrorCase{"TooNarrow",
                  {1e30, 1e30, false},
                  "Too many bins for data range. Cannot create 10 finite-sized bins."}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace vernier
