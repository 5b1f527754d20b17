#include "compare/outputs/validate.h"
#include "core/test_values.h"

#include <gtest/gtest.h>

#include <limits>

#include "compare/outputs/tensor_for_test.h"

namespace vernier {
namespace {

TEST(ValidateTensor, CountsNanAsNonFiniteToo) {
  const Validation v = ValidateTensor(Floats({1, kNan, kInfinity, -kInfinity}));
  EXPECT_EQ(v.nan_count, 1);
  EXPECT_EQ(v.non_finite_count, 3);
  EXPECT_FALSE(v.valid(true, false));
  EXPECT_TRUE(ValidateTensor(Floats({1, kInfinity})).valid(true, false));
  EXPECT_FALSE(ValidateTensor(Floats({1, kInfinity})).valid(true, true));
}

TEST(ValidateTensor, AcceptsWhatHasNoNan) {
  for (const Tensor& tensor : {Ints({2}, {1, 2}), Strings({"nan"}), Floats({0}, {})}) {
    EXPECT_TRUE(ValidateTensor(tensor).valid(true, true));
  }
}

TEST(ValidateTensor, LooksIntoSmallFloatsAndComplexParts) {
  EXPECT_EQ(ValidateTensor(TensorForTest<uint8_t>(DType::kFloat8E4M3FN, {1}, {0x7f})).nan_count, 1);
  EXPECT_EQ(
      ValidateTensor(TensorForTest<uint16_t>(DType::kBFloat16, {1}, {0x7f80})).non_finite_count, 1);
  EXPECT_EQ(ValidateTensor(TensorForTest<float>(DType::kComplex64, {1}, {0, kNan})).nan_count, 1);
}

TEST(InvalidElements, FlagsEachOne) {
  const Tensor flags = *InvalidElements(Floats({1, kNan, kInfinity}), ValidityTest::kNonFinite);
  EXPECT_EQ(flags.dtype(), DType::kBool);
  EXPECT_EQ(flags.As<uint8_t>()[0], 0);
  EXPECT_EQ(flags.As<uint8_t>()[1], 1);
  EXPECT_EQ(flags.As<uint8_t>()[2], 1);
}

}  // namespace
}  // namespace vernier
