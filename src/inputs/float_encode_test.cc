#include "inputs/float_encode.h"
#include "core/test_values.h"

#include <gtest/gtest.h>

#include <limits>

namespace vernier {
namespace {

struct EncodeCase {
  DType dtype;
  double value;
  int code;  // from NumPy 2.4.6 and ml_dtypes 0.6.0
};

TEST(NarrowFloat, EncodesAsNumpyAndMlDtypes) {
  const EncodeCase cases[] = {
      {DType::kFloat16, 65519.9, 0x7bff},
      {DType::kFloat16, 65520, 0x7c00},
      {DType::kFloat16, -kNan, 0xfe00},
      {DType::kFloat16, 0x1p-25, 0},
      {DType::kFloat16, 0x1.8p-25, 1},
      {DType::kBFloat16, 1e39, 0x7f80},
      // Just above the middle of two codes, which a detour over float32 would not see.
      {DType::kFloat16, 1 + 0x1p-11 + 0x1p-40, 0x3c01},
      {DType::kFloat16, 1 + 0x1p-11, 0x3c00},
      {DType::kBFloat16, -0.0, 0x8000},
      {DType::kFloat8E4M3FN, 464, 0x7e},
      {DType::kFloat8E4M3FN, 465, 0x7f},
      {DType::kFloat8E4M3FN, -kInfinity, 0xff},
      {DType::kFloat8E4M3FNUZ, -0.0, 0},
      {DType::kFloat8E4M3FNUZ, -1e-30, 0},
      {DType::kFloat8E4M3FNUZ, kInfinity, 0x80},
      {DType::kFloat8E5M2, 1e30, 0x7c},
      {DType::kFloat8E5M2, kNan, 0x7e},
      {DType::kFloat8E5M2FNUZ, 465, 0x63},
      {DType::kFloat8E5M2FNUZ, -kNan, 0x80},
      {DType::kFloat4E2M1, 465, 0x7},
      {DType::kFloat4E2M1, -kInfinity, 0xf},
      {DType::kFloat4E2M1, kNan, 0x8},
  };
  for (const EncodeCase& c : cases) {
    EXPECT_EQ(NarrowFloat::Of(c.dtype)->Encode(c.value), c.code)
        << DTypeName(c.dtype) << " " << c.value;
  }
}

TEST(NarrowFloat, KnowsTheLargestFiniteValues) {
  EXPECT_EQ(NarrowFloat::Of(DType::kFloat16)->LargestFinite(), 65504);
  EXPECT_EQ(NarrowFloat::Of(DType::kFloat8E4M3FN)->LargestFinite(), 448);
  EXPECT_EQ(NarrowFloat::Of(DType::kFloat8E4M3FNUZ)->LargestFinite(), 240);
  EXPECT_EQ(NarrowFloat::Of(DType::kFloat8E5M2)->LargestFinite(), 57344);
  EXPECT_EQ(NarrowFloat::Of(DType::kFloat4E2M1)->LargestFinite(), 6);
  EXPECT_FALSE(NarrowFloat::Of(DType::kFloat32));
}

}  // namespace
}  // namespace vernier
