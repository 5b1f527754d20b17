#include "kernels/histogram.h"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <vector>

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

constexpr double kInfinity = std::numeric_limits<double>::infinity();

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
