#include "inputs/sample_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>

namespace vernier {
namespace {

template <typename T>
Tensor Make(DType dtype, std::vector<T> values) {
  return *Tensor::Copy(dtype, {static_cast<int64_t>(values.size())},
                       std::as_bytes(std::span(values)));
}

TEST(SampleValues, FloatsFallBetweenThoseOfTheSample) {
  const Result<SampleValues> sample =
      SampleValues::Learn(Make<float>(DType::kFloat32, {0, 0, 0, 0, 0, 8, 9, 10}));
  ASSERT_TRUE(sample.ok());
  NumpyRandom random(1);
  const Result<Tensor> drawn = sample->Draw(DType::kFloat32, {1000}, random);
  ASSERT_TRUE(drawn.ok());
  const std::span<const float> values = drawn->As<float>();
  EXPECT_EQ(*std::min_element(values.begin(), values.end()), 0);
  EXPECT_LE(*std::max_element(values.begin(), values.end()), 10);
  const auto zeros = std::count(values.begin(), values.end(), 0.0F);
  EXPECT_NEAR(static_cast<double>(zeros), 4.0 / 7 * 1000, 80);
}

TEST(SampleValues, IntegersAreThoseOfTheSampleOnly) {
  const Result<SampleValues> sample =
      SampleValues::Learn(Make<int64_t>(DType::kInt64, {5, -3, 1000, 5}));
  ASSERT_TRUE(sample.ok());
  NumpyRandom random(1);
  const Result<Tensor> drawn = sample->Draw(DType::kInt32, {200}, random);
  ASSERT_TRUE(drawn.ok());
  const std::span<const int32_t> values = drawn->As<int32_t>();
  EXPECT_EQ(std::set<int32_t>(values.begin(), values.end()), (std::set<int32_t>{-3, 5, 1000}));
  EXPECT_FALSE(sample->Draw(DType::kInt8, {4}, random).ok());
  EXPECT_FALSE(sample->Draw(DType::kUint64, {4}, random).ok());
}

TEST(SampleValues, WhatIsNotFiniteIsLeftOut) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Result<SampleValues> sample =
      SampleValues::Learn(Make<float>(DType::kFloat32, {1, nan, 2}));
  ASSERT_TRUE(sample.ok());
  EXPECT_EQ(sample->Describe(), "2 values from 1 to 2, mean 1.5 (1 that are not finite left out)");
  EXPECT_FALSE(SampleValues::Learn(Make<float>(DType::kFloat32, {nan})).ok());
  EXPECT_FALSE(SampleValues::Learn(Make<float>(DType::kFloat32, {})).ok());
}

TEST(SampleValues, ValuesBeyondTheTypeAreRefused) {
  NumpyRandom random(1);
  const auto draws = [&](std::vector<double> values, DType dtype) {
    return SampleValues::Learn(Make<double>(DType::kFloat64, values))
        ->Draw(dtype, {4}, random)
        .ok();
  };
  EXPECT_FALSE(draws({0, 1e30}, DType::kInt64));
  EXPECT_FALSE(draws({-1e30, 0}, DType::kInt64));
  EXPECT_FALSE(draws({0, 1e30}, DType::kInt8));
  EXPECT_TRUE(draws({-9e18, 9e18}, DType::kInt64));
  EXPECT_FALSE(draws({0, 1e300}, DType::kFloat32));
  EXPECT_FALSE(draws({-7e4, 0}, DType::kFloat16));
  EXPECT_TRUE(draws({-65504, 65504}, DType::kFloat16));
  const Result<Tensor> drawn = SampleValues::Learn(Make<int64_t>(DType::kInt64, {100'000}))
                                   ->Draw(DType::kFloat16, {1}, random);
  EXPECT_THAT(drawn.status().message(), testing::HasSubstr("from 100000 to 100000 do not fit"));
}

TEST(SampleValues, OneValueIsDrawnAgainAndAgain) {
  const Result<SampleValues> sample = SampleValues::Learn(Make<float>(DType::kFloat32, {3}));
  NumpyRandom random(1);
  const Result<Tensor> drawn = sample->Draw(DType::kFloat64, {2, 2}, random);
  ASSERT_TRUE(drawn.ok());
  for (const double value : drawn->As<double>()) EXPECT_EQ(value, 3);
}

}  // namespace
}  // namespace vernier
