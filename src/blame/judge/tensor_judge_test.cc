#include "blame/judge/tensor_judge.h"
#include "core/test_values.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "compare/outputs/tensor_for_test.h"

namespace vernier {
namespace {

ErrorBound JudgedBound(double rms = 1e-6) {
  ErrorBound bound;
  bound.rms = rms;
  return bound;
}

Tensor Complex(const std::vector<float>& parts) {
  return TensorForTest(DType::kComplex64, {static_cast<int64_t>(parts.size() / 2)}, parts);
}

TEST(JudgeTensor, ANanOnBothSidesIsNoErrorOfTheRest) {
  EXPECT_EQ(JudgeTensor(Floats({kNan, 1, 2}), Floats({-kNan, 1, 2}), JudgedBound()).times, 0);
  EXPECT_GT(JudgeTensor(Floats({kNan, 1, 2}), Floats({-kNan, 1, 2.1f}), JudgedBound()).times, 1);
}

TEST(JudgeTensor, ANanOnOneSideIsNoAgreement) {
  EXPECT_TRUE(std::isinf(JudgeTensor(Floats({kNan, 1}), Floats({1, 1}), JudgedBound()).times));
  EXPECT_TRUE(std::isinf(JudgeTensor(Floats({1, 1}), Floats({kNan, 1}), JudgedBound()).times));
}

TEST(JudgeTensor, NorIsOneOfComplexNumbers) {
  EXPECT_LE(JudgeTensor(Complex({1, 2, 3, 4}), Complex({1, 2, 3, -4}), JudgedBound(9)).times, 1);
  EXPECT_TRUE(std::isinf(
      JudgeTensor(Complex({1, 2, 3, 4}), Complex({kNan, 2, 3, 4}), JudgedBound()).times));
}

TEST(JudgeTensor, NorAreOtherShapes) {
  EXPECT_TRUE(std::isinf(JudgeTensor(Floats({1, 1}), Floats({1}), JudgedBound()).times));
}

}  // namespace
}  // namespace vernier
