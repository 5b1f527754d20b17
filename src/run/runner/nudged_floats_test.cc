#include "run/runner/nudged_floats.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace vernier {
namespace {

template <typename T>
Tensor Make(DType dtype, std::vector<T> values) {
  TensorBuffer buffer = *TensorBuffer::Allocate(dtype, {static_cast<int64_t>(values.size())});
  std::copy(values.begin(), values.end(), buffer.As<T>().begin());
  return std::move(buffer).Freeze();
}

TEST(NudgeFloats, MovesEachByOneStepInEitherDirection) {
  const Tensor ones = Make(DType::kFloat32, std::vector<float>(1000, -3.5F));
  const Result<Tensor> nudged = NudgeFloats(ones);
  ASSERT_TRUE(nudged.ok());
  int up = 0;
  for (const float value : nudged->As<float>()) {
    const bool above = value == std::nextafter(-3.5F, 0.0F);
    EXPECT_TRUE(above || value == std::nextafter(-3.5F, -4.0F)) << value;
    up += above ? 1 : 0;
  }
  EXPECT_GT(up, 400);
  EXPECT_LT(up, 600);
}

TEST(NudgeFloats, LeavesWhatHasNoNeighbourOfItsKind) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const Result<Tensor> nudged = NudgeFloats(Make(
      DType::kFloat32,
      std::vector<float>{0.0F, -0.0F, kInfinity, -kInfinity, NAN, std::numeric_limits<float>::max(),
                         std::numeric_limits<float>::denorm_min()}));
  ASSERT_TRUE(nudged.ok());
  const auto values = nudged->As<float>();
  EXPECT_EQ(values[0], 0);
  EXPECT_TRUE(std::signbit(values[1]));
  EXPECT_EQ(values[2], kInfinity);
  EXPECT_EQ(values[3], -kInfinity);
  EXPECT_TRUE(std::isnan(values[4]));
  EXPECT_LT(values[5], std::numeric_limits<float>::max());
  EXPECT_TRUE(std::isfinite(values[5]));
  EXPECT_GT(values[6], std::numeric_limits<float>::denorm_min());
}

TEST(NudgeFloats, MovesByStepsOfAShorterType) {
  const Result<Tensor> nudged =
      NudgeFloats(Make(DType::kFloat32, std::vector<float>{1.5F, -1.5F, 3e38F, 0}), {0, 0x1p-11});
  ASSERT_TRUE(nudged.ok());
  const auto values = nudged->As<float>();
  EXPECT_EQ(std::fabs(values[0] - 1.5F), 0x1p-10F);
  EXPECT_EQ(std::fabs(values[1] + 1.5F), 0x1p-10F);
  EXPECT_TRUE(std::isfinite(values[2]));
  EXPECT_EQ(values[3], 0);
}

TEST(NudgeFloats, ZerosHaveNoRoundoff) {
  const Tensor zeros = Make(DType::kFloat32, std::vector<float>{0, 0});
  const Tensor one = Make(DType::kFloat32, std::vector<float>{0, 1});
  EXPECT_EQ(CoarsestRoundoff({{"x", zeros}}), 0);
  EXPECT_EQ(CoarsestRoundoff({{"x", zeros}, {"y", one}}), 0x1p-24);
}

TEST(NudgeFloats, WhatStepsAreMadeOfStays) {
  const float near = std::nextafter(3.0F, 4.0F);
  const Tensor given =
      Make(DType::kFloat32, std::vector<float>{3, -2.5F, 1, 65504, near, 2.9995F, 0.3F});
  const auto unmoved = NudgeFloats(given, {}, InputSteps::kAlone);
  EXPECT_TRUE(std::ranges::equal(unmoved->As<float>(), given.As<float>()));
  for (uint64_t draw = 0; draw < 8; ++draw) {
    // A step of float16 takes 2.9995 to 2.9976 or beyond 3.
    const auto moved = NudgeFloats(given, {draw, 0x1p-11}, InputSteps::kSome);
    for (size_t i = 0; i < 4; ++i) EXPECT_EQ(moved->As<float>()[i], given.As<float>()[i]);
    EXPECT_GE(moved->As<float>()[4], near);
    EXPECT_LT(moved->As<float>()[5], 3);
    EXPECT_NE(moved->As<float>()[6], 0.3F);
  }
}

TEST(NudgeFloats, WhatIsNotMovedHasNoRoundoff) {
  const Tensor whole = Make(DType::kFloat32, std::vector<float>{0, 3, 17});
  const Tensor parts = Make(DType::kFloat32, std::vector<float>{0, 3, 0.3F});
  EXPECT_EQ(CoarsestRoundoff({{"x", parts}}, {{"x", InputSteps::kAlone}}), 0);
  EXPECT_EQ(CoarsestRoundoff({{"x", whole}}, {{"x", InputSteps::kSome}}), 0);
  EXPECT_EQ(CoarsestRoundoff({{"x", parts}}, {{"x", InputSteps::kSome}}), 0x1p-24);
  EXPECT_EQ(CoarsestRoundoff({{"x", whole}}), 0x1p-24);
}

TEST(NudgeFloats, KnowsShortTypesAndLeavesIntegers) {
  const auto half = NudgeFloats(Make(DType::kFloat16, std::vector<uint16_t>{0x3C00}));
  EXPECT_EQ(std::abs(half->As<uint16_t>()[0] - 0x3C00), 1);
  const auto brain = NudgeFloats(Make(DType::kBFloat16, std::vector<uint16_t>{0x3F80}));
  EXPECT_EQ(std::abs(brain->As<uint16_t>()[0] - 0x3F80), 1);
  const auto whole = NudgeFloats(Make(DType::kInt32, std::vector<int32_t>{7, 0}));
  EXPECT_EQ(whole->As<int32_t>()[0], 7);
}

}  // namespace
}  // namespace vernier
