#include "blame/tensor_judge.h"
#include "core/test_values.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "compare/tensor_for_test.h"

namespace vernier {
namespace {

ErrorBar JudgedBar(double rms = 1e-6) {
  ErrorBar bar;
  bar.rms = rms;
  return bar;
}

Tensor Complex(const std::vector<float>& parts) {
  return TensorForTest(DType::kComplex64, {static_cast<int64_t>(parts.size() / 2)}, parts);
}

TEST(JudgeTensor, ANanOnBothSidesIsNoErrorOfTheRest) {
  EXPECT_EQ(JudgeTensor(Floats({kNan, 1, 2}), Floats({-kNan, 1, 2}), JudgedBar()).times, 0);
  EXPECT_GT(JudgeTensor(Floats({kNan, 1, 2}), Floats({-kNan, 1, 2.1f}), JudgedBar()).times, 1);
}

TEST(JudgeTensor, ANanOnOneSideIsNoAgreement) {
  EXPECT_TRUE(std::isinf(JudgeTensor(Floats({kNan, 1}), Floats({1, 1}), JudgedBar()).times));
  EXPECT_TRUE(std::isinf(JudgeTensor(Floats({1, 1}), Floats({kNan, 1}), JudgedBar()).times));
}

TEST(JudgeTensor, NorIsOneOfComplexNumbers) {
  EXPECT_LE(JudgeTensor(Complex({1, 2, 3, 4}), Complex({1, 2, 3, -4}), JudgedBar(9)).times, 1);
  EXPECT_TRUE(
      std::isinf(JudgeTensor(Complex({1, 2, 3, 4}), Complex({kNan, 2, 3, 4}), JudgedBar()).times));
}

TEST(JudgeTensor, NorAreOtherShapes) {
  EXPECT_TRUE(std::isinf(JudgeTensor(Floats({1, 1}), Floats({1}), JudgedBar()).times));
}

}  // namespace
}  // namespace vernier
