#include "kernels/elements/float_formats.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace vernier {
namespace {

// Every pattern of every format is checked against ml_dtypes in tests/compare_oracle.

TEST(HalfToFloat, KnowsItsLandmarks) {
  EXPECT_EQ(HalfToFloat(0x3c00), 1.0f);
  EXPECT_EQ(HalfToFloat(0x7bff), 65504.0f);
  EXPECT_EQ(HalfToFloat(0x0001), 0x1p-24f);
  EXPECT_EQ(HalfToFloat(0x0400), 0x1p-14f);
  EXPECT_EQ(HalfToFloat(0xfc00), -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(HalfToFloat(0x7e00)));
  EXPECT_TRUE(std::signbit(HalfToFloat(0x8000)));
}

TEST(DoubleToHalf, InvertsHalfToFloat) {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const float value = HalfToFloat(static_cast<uint16_t>(bits));
    if (std::isnan(value)) continue;
    ASSERT_EQ(DoubleToHalf(static_cast<double>(value)), bits);
  }
}

struct RoundingCase {
  const char* name;
  double value;
  uint16_t half;
};

class DoubleToHalfRounding : public testing::TestWithParam<RoundingCase> {};

TEST_P(DoubleToHalfRounding, GoesToNearestEven) {
  EXPECT_EQ(DoubleToHalf(GetParam().value), GetParam().half);
}

INSTANTIATE_TEST_SUITE_P(
    Ties, DoubleToHalfRounding,
    testing::Values(RoundingCase{"DownToEven", 1 + 0x1p-11, 0x3c00},
                    RoundingCase{"UpToEven", 1 + 3 * 0x1p-11, 0x3c02},
                    RoundingCase{"JustAboveTheTie", 1 + 0x1p-11 + 0x1p-40, 0x3c01},
                    RoundingCase{"CarriesIntoTheExponent", 2 - 0x1p-12, 0x4000},
                    RoundingCase{"LargestFinite", 65519.9, 0x7bff},
                    RoundingCase{"FirstInfinite", 65520, 0x7c00},
                    RoundingCase{"HalfTheSmallest", 0x1p-25, 0x0000},
                    RoundingCase{"MoreThanHalfTheSmallest", 0x1.8p-25, 0x0001},
                    RoundingCase{"DenormalCarriesIntoNormal", 0x1p-14 - 0x1p-26, 0x0400}),
    [](const auto& info) { return info.param.name; });

TEST(SmallFloatTable, KnowsItsLandmarks) {
  EXPECT_EQ(SmallFloatTable(DType::kFloat8E4M3FN)[0x7e], 448.0f);
  EXPECT_TRUE(std::isnan(SmallFloatTable(DType::kFloat8E4M3FN)[0x7f]));
  EXPECT_EQ(SmallFloatTable(DType::kFloat8E4M3FNUZ)[0x7f], 240.0f);
  EXPECT_TRUE(std::isnan(SmallFloatTable(DType::kFloat8E4M3FNUZ)[0x80]));
  EXPECT_EQ(SmallFloatTable(DType::kFloat8E5M2)[0x7b], 57344.0f);
  EXPECT_TRUE(std::isinf(SmallFloatTable(DType::kFloat8E5M2)[0x7c]));
  EXPECT_EQ(SmallFloatTable(DType::kFloat8E5M2FNUZ)[0x7f], 57344.0f);
  EXPECT_EQ(SmallFloatTable(DType::kFloat4E2M1)[0xf], -6.0f);
  EXPECT_EQ(SmallFloatTable(DType::kFloat32), nullptr);
}

}  // namespace
}  // namespace vernier
