#include "compare/shared_nans.h"
#include "core/test_values.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "compare/tensor_for_test.h"

namespace vernier {
namespace {

TEST(WithoutSharedNans, ClearsThePlacesOfBothAndNoOther) {
  std::vector<float> a(3000, 1), b(3000, 2);
  for (const size_t place : {0, 1024, 2999}) a[place] = b[place] = kNan;
  b[7] = kNan;
  const auto both = WithoutSharedNans(Floats(a), Floats(b));
  ASSERT_TRUE(both);
  for (const size_t place : {0, 1024, 2999}) {
    EXPECT_EQ(both->a.As<float>()[place], 0);
    EXPECT_EQ(both->b.As<float>()[place], 0);
  }
  EXPECT_EQ(both->a.As<float>()[7], 1);
  EXPECT_NE(both->b.As<float>()[7], both->b.As<float>()[7]);
}

TEST(WithoutSharedNans, TypesMayDiffer) {
  const std::vector<double> wide = {1, kNan};
  const auto both = WithoutSharedNans(Floats({1, kNan}), TensorForTest(DType::kFloat64, {2}, wide));
  ASSERT_TRUE(both);
  EXPECT_EQ(both->a.dtype(), DType::kFloat32);
  EXPECT_EQ(both->b.dtype(), DType::kFloat64);
  EXPECT_EQ(both->b.As<double>()[1], 0);
}

TEST(WithoutSharedNans, IsAbsentWhereThereIsNone) {
  EXPECT_FALSE(WithoutSharedNans(Floats({kNan, 1}), Floats({1, kNan})));
  EXPECT_FALSE(WithoutSharedNans(Floats({kNan, 1}), Floats({kNan})));
  EXPECT_FALSE(WithoutSharedNans(Ints({1}, {3}), Ints({1}, {3})));
}

}  // namespace
}  // namespace vernier
