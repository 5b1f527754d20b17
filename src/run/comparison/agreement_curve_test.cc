#include "run/comparison/agreement_curve.h"

#include <gtest/gtest.h>

namespace vernier {
namespace {

TEST(AgreementCurve, CountsTheTokensOfEachStep) {
  AgreementCurve curve;
  EXPECT_TRUE(curve.Points().empty());
  curve.Add(0, true);
  curve.Add(2, true);
  curve.Add(0, true);
  curve.Add(2, false);
  const auto points = curve.Points();
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[0].step, 0);
  EXPECT_EQ(points[0].tokens, 2);
  EXPECT_EQ(points[0].agreeing, 2);
  EXPECT_EQ(points[1].step, 2);
  EXPECT_EQ(points[1].tokens, 2);
  EXPECT_EQ(points[1].agreeing, 1);
  EXPECT_EQ(curve.steps_per_point(), 1);
}

TEST(AgreementCurve, APointOfAThinnedCurveHasTheTokensOfAllItsSteps) {
  constexpr int64_t kSteps = 3001;
  AgreementCurve curve;
  for (int64_t step = 0; step < kSteps; ++step) curve.Add(step, step != 1203);
  EXPECT_EQ(curve.steps_per_point(), 4);
  const auto points = curve.Points();
  ASSERT_LE(points.size(), static_cast<size_t>(AgreementCurve::kMostPoints));
  int64_t tokens = 0;
  for (const AgreementPoint& point : points) {
    tokens += point.tokens;
    EXPECT_EQ(point.step % 4, 0);
    EXPECT_EQ(point.tokens - point.agreeing, point.step == 1200 ? 1 : 0) << point.step;
  }
  EXPECT_EQ(tokens, kSteps);
}

}  // namespace
}  // namespace vernier
