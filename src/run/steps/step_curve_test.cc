#include "run/steps/step_curve.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace vernier {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(StepCurve, APointIsTheWorstOfAllSequencesAtItsStep) {
  StepCurve curve;
  curve.Add(0, 1.0, 0.5);
  curve.Add(2, 2.0, 0.25);
  curve.Add(0, 0.5, 3.0);
  curve.Add(2, kNan, std::nullopt);
  curve.Add(2, 4.0, std::nullopt);
  const auto points = curve.Points();
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(points[0].step, 0);
  EXPECT_EQ(points[0].rms, 1.0);
  EXPECT_EQ(points[0].times_over, 3.0);
  EXPECT_EQ(points[1].step, 2);
  EXPECT_TRUE(std::isnan(*points[1].rms));
  EXPECT_EQ(points[1].times_over, 0.25);
}

TEST(StepCurve, ManyStepsShareAPointAndTheWorstStays) {
  StepCurve curve;
  constexpr int64_t kSteps = 2001;
  for (int64_t step = 0; step < kSteps; ++step) {
    curve.Add(step, step == 1203 ? 9.0 : 1.0 / static_cast<double>(step + 1), std::nullopt);
  }
  EXPECT_EQ(curve.steps_per_point(), 4);
  const auto points = curve.Points();
  ASSERT_EQ(points.size(), 501u);
  for (size_t i = 0; i < points.size(); ++i) {
    const auto step = static_cast<int64_t>(i) * 4;
    ASSERT_EQ(points[i].step, step);
    ASSERT_EQ(points[i].rms, step == 1200 ? 9.0 : 1.0 / static_cast<double>(step + 1)) << step;
    ASSERT_FALSE(points[i].times_over);
  }
}

TEST(StepCurve, WhatWasNotMeasuredHasNoPoint) {
  StepCurve curve;
  EXPECT_TRUE(curve.Points().empty());
  curve.Add(7, std::nullopt, std::nullopt);
  EXPECT_TRUE(curve.Points().empty());
}

}  // namespace
}  // namespace vernier
