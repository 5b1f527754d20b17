#include "check/agreement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
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

TEST(HoldAgainst, NearValuesAreWithinTheBar) {
  const Agreement found =
      HoldAgainst(Output({1, 2}, {2}), Output({1, 2.000001F}, {2}), {}, nullptr);
  EXPECT_EQ(found.closeness, Closeness::kWithinBar);
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

}  // namespace
}  // namespace vernier
