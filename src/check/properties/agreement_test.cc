#include "check/properties/agreement.h"
#include "vernier/compare_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace vernier {
namespace {

using ::testing::HasSubstr;

TensorMap Output(const std::vector<float>& values, Dims dims, const std::string& name = "y") {
  return {
      {name, *Tensor::Copy(DType::kFloat32, std::move(dims), std::as_bytes(std::span(values)))}};
}

TEST(HoldAgainst, EqualBitsAreEqualEvenWhereTheyAreNoNumbers) {
  const TensorMap nan = Output({std::numeric_limits<float>::quiet_NaN()}, {1});
  EXPECT_EQ(HoldAgainst(nan, nan, {}, nullptr).closeness, Closeness::kSameBits);
}

TEST(HoldAgainst, NearValuesAreWithinTheBound) {
  const Agreement found =
      HoldAgainst(Output({1, 2}, {2}), Output({1, 2.000001F}, {2}), {}, nullptr);
  EXPECT_EQ(found.closeness, Closeness::kWithinBound);
  EXPECT_GT(found.times_over, 0);
  EXPECT_LE(found.times_over, 1);
}

TEST(HoldAgainst, FarValuesAreNamedWithTheirPlace) {
  const Agreement found =
      HoldAgainst(Output({1, 2, 3, 4}, {2, 2}), Output({1, 2, 3.5F, 4}, {2, 2}), {}, nullptr);
  EXPECT_EQ(found.closeness, Closeness::kApart);
  EXPECT_THAT(found.where, HasSubstr("output 'y' at (1, 0): 3 against 3.5"));
  EXPECT_GT(found.times_over, 1);
}

TEST(HoldAgainst, ValuesThatLookAlikeGetMoreDigits) {
  CompareOptions exact;
  exact.atol.fallback = 0.0;
  exact.rtol.fallback = 0.0;
  const Agreement found = HoldAgainst(Output({1}, {1}), Output({1.0000001F}, {1}), exact, nullptr);
  EXPECT_THAT(found.where, HasSubstr("1 against 1.00000012"));
}

TEST(HoldAgainst, OtherShapesAndMissingOutputsAreApart) {
  EXPECT_EQ(HoldAgainst(Output({1, 2}, {2}), Output({1, 2}, {2, 1}), {}, nullptr).closeness,
            Closeness::kApart);
  const Agreement missing = HoldAgainst(Output({1}, {1}, "left"), {}, {}, nullptr);
  EXPECT_EQ(missing.closeness, Closeness::kApart);
  EXPECT_THAT(missing.where, HasSubstr("'left' is missing"));
}

TEST(HoldAgainst, NaNOnOneSideIsApart) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(HoldAgainst(Output({1, 1}, {2}), Output({1, nan}, {2}), {}, nullptr).closeness,
            Closeness::kApart);
}

// The rest is as near as rounding brings it; a NaN has many bits.
TEST(HoldAgainst, NaNOnBothSidesIsNoDifference) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Agreement rounded =
      HoldAgainst(Output({nan, 1}, {2}), Output({nan, 1.000001F}, {2}), {}, nullptr);
  EXPECT_EQ(rounded.closeness, Closeness::kWithinBound);
  const Agreement bits = HoldAgainst(Output({nan, 1}, {2}), Output({-nan, 1}, {2}), {}, nullptr);
  EXPECT_NE(bits.closeness, Closeness::kApart);
  const Agreement apart = HoldAgainst(Output({nan, 1}, {2}), Output({nan, 7}, {2}), {}, nullptr);
  EXPECT_EQ(apart.closeness, Closeness::kApart);
  EXPECT_THAT(apart.where, HasSubstr("at (1,): 1 against 7"));
}

// Also where that output has the same bits, and another one differs.
TEST(HoldAgainst, NaNBesideAnotherOutputIsNoDifference) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto both = [&](float second) {
    TensorMap outputs = Output({nan, 1}, {2});
    outputs.push_back({"z", Output({second, 1}, {2}).front().tensor});
    return outputs;
  };
  EXPECT_EQ(HoldAgainst(both(1), both(1.000001F), {}, nullptr).closeness, Closeness::kWithinBound);
  const Agreement apart = HoldAgainst(both(1), both(7), {}, nullptr);
  EXPECT_EQ(apart.closeness, Closeness::kApart);
  EXPECT_THAT(apart.where, HasSubstr("output 'z' at (0,)"));
}

// Elements are looked at in blocks.
TEST(HoldAgainst, SharedNaNsAreFoundWhereverTheyAre) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> a(5000, 1), b(5000, 1);
  for (const size_t place : {1023, 1024, 4999}) a[place] = b[place] = nan;
  b[2000] = 1.000001F;
  EXPECT_EQ(HoldAgainst(Output(a, {5000}), Output(b, {5000}), {}, nullptr).closeness,
            Closeness::kWithinBound);
  a[4500] = nan;
  const Agreement apart = HoldAgainst(Output(a, {5000}), Output(b, {5000}), {}, nullptr);
  EXPECT_EQ(apart.closeness, Closeness::kApart);
  EXPECT_THAT(apart.where, HasSubstr("at (4500,): nan against 1"));
}

TEST(HoldAgainst, AnotherTypeIsApart) {
  const std::vector<double> wide = {1, 2};
  const TensorMap doubles = {
      {"y", *Tensor::Copy(DType::kFloat64, {2}, std::as_bytes(std::span(wide)))}};
  const Agreement found = HoldAgainst(Output({1, 2}, {2}), doubles, {}, nullptr);
  EXPECT_EQ(found.closeness, Closeness::kApart);
  EXPECT_THAT(found.where, HasSubstr("'y': its type is float64 instead of float32"));
}

TEST(HoldAgainst, StringsAndLargeIntegersAreNamedAsTheyAre) {
  const auto strings = [](const std::vector<std::string>& values) {
    return TensorMap{{"y", *Tensor::FromStrings({2}, values)}};
  };
  EXPECT_THAT(HoldAgainst(strings({"a", "17"}), strings({"a", "18"}), {}, nullptr).where,
              HasSubstr("output 'y' at (1,): '17' against '18'"));
  const auto integers = [](int64_t value) {
    const std::vector<int64_t> values = {0, value};
    return TensorMap{{"y", *Tensor::Copy(DType::kInt64, {2}, std::as_bytes(std::span(values)))}};
  };
  constexpr int64_t kBig = int64_t{1} << 53;
  CompareOptions exact;
  exact.atol.fallback = 0.0;
  exact.rtol.fallback = 0.0;
  EXPECT_THAT(HoldAgainst(integers(kBig), integers(kBig + 1), exact, nullptr).where,
              HasSubstr("9007199254740992 against 9007199254740993"));
}

}  // namespace
}  // namespace vernier
