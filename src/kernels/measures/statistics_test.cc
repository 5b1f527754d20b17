#include "kernels/measures/statistics.h"
#include "core/test_values.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>

namespace vernier {
namespace {

template <typename T>
ElementSpan SamplesOf(DType dtype, const std::vector<T>& values) {
  return {dtype, std::as_bytes(std::span(values)), static_cast<int64_t>(values.size())};
}

const std::array<double, 4> kQuantiles = {0.0, 0.5, 0.9, 1.0};

// More values than are ever stored, so that ranks are found by counting digits.
constexpr size_t kManySamples = 200001;

template <typename T>
std::vector<T> RandomValues(unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<T> values(kManySamples);
  for (T& value : values) {
    if constexpr (std::is_floating_point_v<T>) {
      value = static_cast<T>(std::normal_distribution<double>(0, 1e3)(random));
    } else {
      value = static_cast<T>(random() >> (random() % 60));
    }
  }
  return values;
}

template <typename T>
void ExpectRanksOfSorted(DType dtype, std::vector<T> values) {
  const ValueStatistics s = ComputeStatistics(SamplesOf(dtype, values), kQuantiles);
  std::sort(values.begin(), values.end());
  EXPECT_EQ(s.median, static_cast<double>(values[kManySamples / 2]));
  EXPECT_EQ(s.quantiles[0], static_cast<double>(values.front()));
  EXPECT_EQ(s.quantiles[1], static_cast<double>(values[kManySamples / 2]));
  EXPECT_EQ(s.quantiles[2], static_cast<double>(values[180000]));  // 200000 * 0.9 is whole
  EXPECT_EQ(s.quantiles[3], static_cast<double>(values.back()));
  EXPECT_EQ(s.min, static_cast<double>(values.front()));
  EXPECT_EQ(s.max, static_cast<double>(values.back()));
}

TEST(ComputeStatistics, FindsRanksOfManyValues) {
  for (unsigned seed = 0; seed < 3; ++seed) {
    ExpectRanksOfSorted(DType::kFloat32, RandomValues<float>(seed));
    ExpectRanksOfSorted(DType::kFloat64, RandomValues<double>(seed));
    ExpectRanksOfSorted(DType::kInt64, RandomValues<int64_t>(seed));
    ExpectRanksOfSorted(DType::kUint64, RandomValues<uint64_t>(seed));
  }
  ExpectRanksOfSorted(DType::kFloat32, std::vector<float>(kManySamples, -2.5f));
}

TEST(ComputeStatistics, MomentsSurviveALargeOffset) {
  std::vector<double> values(100000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = 1e9 + static_cast<double>(i % 2);
  const ValueStatistics s = ComputeStatistics(SamplesOf(DType::kFloat64, values), {});
  EXPECT_EQ(s.mean, 1e9 + 0.5);
  EXPECT_NEAR(s.variance, 0.25, 1e-12);
}

TEST(ComputeStatistics, SumsExactlyWhatCancels) {
  std::vector<double> values(4096, 0.0);
  values[0] = 1e16;
  values[1500] = 1;
  values[3000] = -1e16;
  EXPECT_EQ(ComputeStatistics(SamplesOf(DType::kFloat64, values), {}).mean, 1.0 / 4096);
}

TEST(ComputeStatistics, GivesTheFirstPlaceOfTheExtremes) {
  const std::vector<float> values = {3, 1, 4, 1, 4};
  const ValueStatistics s = ComputeStatistics(SamplesOf(DType::kFloat32, values), {});
  EXPECT_EQ(s.argmin, 1);
  EXPECT_EQ(s.argmax, 2);
}

TEST(ComputeStatistics, NanWinsEverything) {
  std::vector<float> values(3000, 1.0f);
  values[2500] = static_cast<float>(kNan);
  values[2700] = static_cast<float>(kInfinity);
  const ValueStatistics s = ComputeStatistics(SamplesOf(DType::kFloat32, values), kQuantiles);
  EXPECT_TRUE(std::isnan(s.min) && std::isnan(s.max) && std::isnan(s.mean));
  EXPECT_TRUE(std::isnan(s.median) && std::isnan(s.quantiles[0]) && std::isnan(s.variance));
  EXPECT_EQ(s.argmin, 2500);
  EXPECT_EQ(s.argmax, 2500);
  EXPECT_EQ(s.nan_count, 1);
  EXPECT_EQ(s.infinite_count, 1);
}

TEST(ComputeStatistics, InfinityMakesTheVarianceNan) {
  const std::vector<double> values = {1, kInfinity, 2};
  const ValueStatistics s = ComputeStatistics(SamplesOf(DType::kFloat64, values), kQuantiles);
  EXPECT_EQ(s.mean, kInfinity);
  EXPECT_EQ(s.median, 2);
  EXPECT_EQ(s.max, kInfinity);
  EXPECT_TRUE(std::isnan(s.variance));
}

TEST(ComputeStatistics, EmptyFollowsPolygraphy) {
  const ValueStatistics s =
      ComputeStatistics(SamplesOf(DType::kFloat32, std::vector<float>()), kQuantiles);
  EXPECT_TRUE(std::isnan(s.mean) && std::isnan(s.average_magnitude));
  EXPECT_EQ(s.median, 0);
  EXPECT_EQ(s.std_dev, 0);
  EXPECT_EQ(s.argmin, -1);
  EXPECT_EQ(s.quantiles[2], kInfinity);
}

TEST(ComputeStatistics, ReadsPackedTypes) {
  const std::vector<uint8_t> bytes = {0x8f, 0x07};  // -1, -8, 7 as int4
  const ValueStatistics s =
      ComputeStatistics({DType::kInt4, std::as_bytes(std::span(bytes)), 3}, {});
  EXPECT_EQ(s.min, -8);
  EXPECT_EQ(s.argmin, 1);
  EXPECT_EQ(s.max, 7);
  EXPECT_EQ(s.median, -1);
}

TEST(ComputeStatistics, ReadsUnalignedBytes) {
  const std::vector<double> values = {1, 2, 6};
  std::vector<std::byte> shifted(1 + sizeof(double) * 3);
  std::copy_n(std::as_bytes(std::span(values)).data(), sizeof(double) * 3, shifted.data() + 1);
  const ValueStatistics s =
      ComputeStatistics({DType::kFloat64, std::span(shifted).subspan(1), 3}, {});
  EXPECT_EQ(s.mean, 3);
}

TEST(ComputeStatistics, TakesMagnitudesOfComplexNumbers) {
  const std::vector<float> values = {3, 4, 0, -1};
  const ValueStatistics s =
      ComputeStatistics({DType::kComplex64, std::as_bytes(std::span(values)), 2}, {});
  EXPECT_EQ(s.max, 5);
  EXPECT_EQ(s.min, 1);
}

}  // namespace
}  // namespace vernier
