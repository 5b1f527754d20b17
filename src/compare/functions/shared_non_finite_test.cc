#include "compare/functions/shared_non_finite.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "compare/functions/comparator.h"
#include "compare/outputs/tensor_for_test.h"
#include "core/test_values.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

TEST(WithoutSharedNonFinite, ClearsThePlacesOfBothAndNoOther) {
  std::vector<float> a(3000, 1), b(3000, 2);
  for (const size_t place : {0, 1024, 2999}) a[place] = b[place] = kNan;
  b[7] = kNan;
  const auto both = WithoutSharedNonFinite(Floats(a), Floats(b));
  ASSERT_TRUE(both);
  for (const size_t place : {0, 1024, 2999}) {
    EXPECT_EQ(both->a.As<float>()[place], 0);
    EXPECT_EQ(both->b.As<float>()[place], 0);
  }
  EXPECT_EQ(both->a.As<float>()[7], 1);
  EXPECT_NE(both->b.As<float>()[7], both->b.As<float>()[7]);
}

TEST(WithoutSharedNonFinite, TypesMayDiffer) {
  const std::vector<double> wide = {1, kNan};
  const auto both =
      WithoutSharedNonFinite(Floats({1, kNan}), TensorForTest(DType::kFloat64, {2}, wide));
  ASSERT_TRUE(both);
  EXPECT_EQ(both->a.dtype(), DType::kFloat32);
  EXPECT_EQ(both->b.dtype(), DType::kFloat64);
  EXPECT_EQ(both->b.As<double>()[1], 0);
}

TEST(WithoutSharedNonFinite, TheSameInfinityIsSharedAndAnotherIsNot) {
  const auto both =
      WithoutSharedNonFinite(Floats({1, kInfinity, kInfinity, -kInfinity, 2}),
                             Floats({1, kInfinity, -kInfinity, -kInfinity, kInfinity}));
  ASSERT_TRUE(both);
  EXPECT_EQ(both->cleared, 2);
  EXPECT_EQ(both->a.As<float>()[1], 0);
  EXPECT_EQ(both->a.As<float>()[2], kInfinity);
  EXPECT_EQ(both->b.As<float>()[4], kInfinity);
}

// Judged by `simple`, with atol and rtol of 1e-5.
OutputComparison Judged(const Tensor& a, const Tensor& b) {
  return CompareIteration({"a", {}, {{"y", a}}}, {"b", {}, {{"y", b}}}, CompareOptions(), {})
      .outputs.front();
}

TEST(FailsAlike, RoundingBesideASharedInfinityIsNoOtherFailure) {
  const float inf = kInfinity;
  EXPECT_TRUE(FailsAlike(Judged(Floats({1, inf, kNan}), Floats({1, inf, kNan}))));
  EXPECT_TRUE(FailsAlike(Judged(Floats({1, inf, kNan}), Floats({1.000001F, inf, kNan}))));
  EXPECT_FALSE(FailsAlike(Judged(Floats({1, inf, kNan}), Floats({1.1F, inf, kNan}))));
  EXPECT_FALSE(FailsAlike(Judged(Floats({1, inf}), Floats({1.000001F, -inf}))));
  EXPECT_FALSE(FailsAlike(Judged(Floats({1, inf}), Floats({1.000001F, kNan}))));
  EXPECT_FALSE(FailsAlike(Judged(Floats({1, 2}), Floats({1.000001F, 2}))));  // it passes
  EXPECT_FALSE(FailsAlike(Judged(Floats({1, 2}), Floats({1.1F, 2}))));
}

TEST(ErrorOfRest, IsThatOfTheElementsBesideInfinities) {
  const OutputComparison output = Judged(Floats({3, 4, 0, 0}), Floats({3, 4.00001F, 0, 0}));
  EXPECT_FALSE(ErrorOfRest(output));
  CompareOptions infinite;
  infinite.atol.fallback = kInfinity;
  infinite.infinities_compare_equal = true;
  const auto rest =
      ErrorOfRest(CompareIteration({"a", {}, {{"y", Floats({3, 4, kInfinity})}}},
                                   {"b", {}, {{"y", Floats({3, 5, kInfinity})}}}, infinite, {})
                      .outputs.front());
  ASSERT_TRUE(rest);
  EXPECT_NEAR(*rest->rms, std::sqrt(0.5), 1e-6);
  EXPECT_NEAR(*rest->relative, std::sqrt(1 / 34.0), 1e-6);
}

TEST(ErrorOfRest, IsNoneWhereNothingIsLeft) {
  CompareOptions infinite;
  infinite.infinities_compare_equal = true;
  const auto rest_of = [&](const Tensor& a, const Tensor& b) {
    return ErrorOfRest(CompareIteration({"a", {}, {{"y", a}}}, {"b", {}, {{"y", b}}}, infinite, {})
                           .outputs.front());
  };
  const auto none = rest_of(Floats({kInfinity, -kInfinity}), Floats({kInfinity, -kInfinity}));
  ASSERT_TRUE(none);
  EXPECT_FALSE(none->rms);
  EXPECT_FALSE(none->relative);
  const auto equal = rest_of(Floats({kInfinity, 2}), Floats({kInfinity, 2}));
  ASSERT_TRUE(equal);
  EXPECT_EQ(equal->rms, 0);
  EXPECT_EQ(equal->relative, 0);
}

TEST(WithoutSharedNonFinite, IsAbsentWhereThereIsNone) {
  EXPECT_FALSE(WithoutSharedNonFinite(Floats({kNan, 1}), Floats({1, kNan})));
  EXPECT_FALSE(WithoutSharedNonFinite(Floats({kNan, 1}), Floats({kNan})));
  EXPECT_FALSE(WithoutSharedNonFinite(Ints({1}, {3}), Ints({1}, {3})));
}

}  // namespace
}  // namespace vernier
