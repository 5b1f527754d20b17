// The slope that is fitted to errors over steps.
#include "run/steps/step_growth.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace vernier {
namespace {

constexpr double kRoundoff = 0x1p-24;  // of float32

// Errors that grow by a factor from step to step.
void AddGrowing(ErrorGrowth& growth, int64_t sequence, int64_t steps, double first, double factor) {
  for (int64_t step = 0; step < steps; ++step) {
    const double rms = first * std::pow(factor, static_cast<double>(step));
    growth.Add(sequence, step, rms, rms, kRoundoff);
  }
}

TEST(ErrorGrowth, AnErrorThatGrowsByAFactorHasItsLogarithm) {
  ErrorGrowth growth;
  AddGrowing(growth, 0, 50, 1e-5, 1.07);
  const auto fit = growth.Get();
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->slope, std::log(1.07), 1e-12);
  EXPECT_NEAR(fit->error, 0, 1e-8);
  EXPECT_EQ(fit->steps, 50);
}

TEST(ErrorGrowth, SequencesAtOtherHeightsHaveTheSameSlope) {
  ErrorGrowth growth;
  AddGrowing(growth, 0, 20, 1e-5, 0.9);
  AddGrowing(growth, 1, 20, 1e-2, 0.9);
  ASSERT_TRUE(growth.Get());
  EXPECT_NEAR(growth.Get()->slope, std::log(0.9), 1e-12);
}

// Against the textbook's formulas, by hand: y = x / 2 with 1 and -1 in turns.
TEST(ErrorGrowth, ScatterShowsInTheStandardError) {
  ErrorGrowth growth;
  for (int64_t step = 0; step < 8; ++step) {
    const double log = 0.5 * static_cast<double>(step) + (step % 2 == 0 ? 1 : -1);
    growth.Add(0, step, std::exp(log), 1e-3, kRoundoff);
  }
  const auto fit = growth.Get();
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->slope, 0.5 - 4.0 / 42, 1e-12);
  EXPECT_NEAR(fit->error, std::sqrt((8.0 - 16.0 / 42) / 6 / 42), 1e-12);
}

TEST(ErrorGrowth, WhatSaysNothingIsLeftOut) {
  ErrorGrowth growth;
  AddGrowing(growth, 0, 7, 1e-5, 1.1);
  EXPECT_FALSE(growth.Get());
  growth.Add(0, 7, 0, 0, kRoundoff);
  growth.Add(0, 8, 1e-9, 1e-9, kRoundoff);  // below 8 roundings
  growth.Add(0, 9, 0.5, 0.5, kRoundoff);    // another value altogether
  EXPECT_FALSE(growth.Get());
  growth.Add(0, 10, 1e-5 * std::pow(1.1, 10), 1e-5, kRoundoff);
  ASSERT_TRUE(growth.Get());
  EXPECT_NEAR(growth.Get()->slope, std::log(1.1), 1e-12);
}

// Against the slope of the textbook over those steps alone: each half is of its own sequence.
TEST(ErrorGrowth, TheSecondHalfIsThatOfEachSequence) {
  ErrorGrowth growth;
  for (const int64_t steps : {40, 60}) {
    for (int64_t step = 0; step < steps; ++step) {
      const auto at = static_cast<double>(std::min(step, steps / 2));
      const double rms = (steps == 40 ? 1e-3 : 1e-5) * std::pow(1.05, at);
      growth.Add(steps, step, rms, 1e-3, kRoundoff);
    }
  }
  const auto late = growth.GetLate();
  ASSERT_TRUE(late);
  EXPECT_NEAR(late->slope, 0, 1e-12);
  EXPECT_EQ(late->steps, 20 + 30);
  EXPECT_EQ(late->first_step, 20);
  EXPECT_GT(growth.Get()->slope, 0.02);
}

TEST(ErrorGrowth, SequencesOfOtherLengthsGoOnGrowing) {
  ErrorGrowth growth;
  AddGrowing(growth, 0, 40, 1e-4, 1.05);
  AddGrowing(growth, 1, 60, 1e-6, 1.05);
  ASSERT_TRUE(growth.GetLate());
  EXPECT_NEAR(growth.GetLate()->slope, std::log(1.05), 1e-12);
}

TEST(ErrorGrowth, HalvesOfLongSequencesAreKeptInConstantMemory) {
  ErrorGrowth growth;
  for (int64_t step = 0; step < 100000; ++step) {
    growth.Add(0, step, step < 50000 ? 1e-6 + 1e-9 * static_cast<double>(step) : 1e-3, 1e-3,
               kRoundoff);
  }
  const auto late = growth.GetLate();
  ASSERT_TRUE(late);
  EXPECT_NEAR(late->slope, 0, 1e-12);
  EXPECT_GE(late->first_step, 50000);
  EXPECT_LT(late->first_step, 50000 + 100000 / 32);
}

// An error without a trend whose noise goes on from step to step: the logarithm is an
// autoregression of first order. 2 standard errors are to hold the slope 19 times of 20.
TEST(ErrorGrowth, NoiseThatGoesOnIsNoTrend) {
  std::mt19937 random(7);  // the same on every machine
  const auto uniform = [&] { return static_cast<double>(random()) / 4294967296.0 - 0.5; };
  for (const double correlation : {0.0, 0.9}) {
    int64_t held = 0;
    for (int64_t sequence = 0; sequence < 100; ++sequence) {
      ErrorGrowth growth;
      double log = 2 * uniform();
      for (int64_t step = 0; step < 200; ++step) {
        log = correlation * log + 2 * uniform() * std::sqrt(1 - correlation * correlation);
        growth.Add(0, step, 1e-4 * std::exp(log), 1e-4, kRoundoff);
      }
      held += std::abs(growth.Get()->slope) <= 2 * growth.Get()->error ? 1 : 0;
    }
    EXPECT_GE(held, 85) << correlation;
  }
}

// Of 40 steps whose noise goes on, few are independent: 13 of 20 without what allows for that.
TEST(ErrorGrowth, FewIndependentStepsAreLessSure) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  int64_t held = 0, held_late = 0;
  for (int64_t sequence = 0; sequence < 400; ++sequence) {
    ErrorGrowth growth;
    double log = normal(random);
    for (int64_t step = 0; step < 40; ++step) {
      log = 0.9 * log + normal(random) * std::sqrt(1 - 0.9 * 0.9);
      growth.Add(0, step, 1e-4 * std::exp(log), 1e-4, kRoundoff);
    }
    held += std::abs(growth.Get()->slope) <= 2 * growth.Get()->error ? 1 : 0;
    held_late += std::abs(growth.GetLate()->slope) <= 2 * growth.GetLate()->error ? 1 : 0;
  }
  EXPECT_GE(held, 320);
  EXPECT_GE(held_late, 340);
}

// Noise of many kinds: of none does a slope count whose interval holds that of no growth.
TEST(ErrorGrowth, WhatCountsAsGrowthIsBeyondTwoStandardErrors) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  for (const double correlation : {0.0, 0.5, 0.9, 0.97}) {
    for (const int64_t steps : {12, 20, 40, 90, 300}) {
      ErrorGrowth growth;
      double log = 0;
      for (int64_t step = 0; step < steps; ++step) {
        log = correlation * log + normal(random) * std::sqrt(1 - correlation * correlation);
        growth.Add(0, step, 1e-4 * std::exp(log / 2), 1e-4, kRoundoff);
      }
      for (const auto& fit : {growth.Get(), growth.GetLate()}) {
        ASSERT_TRUE(fit || steps < 16);
        if (!fit) continue;
        EXPECT_GE(fit->Limit({.outputs = 1}), 2 * fit->error) << correlation << ", " << steps;
      }
    }
  }
}

TEST(ErrorGrowth, ABendIsNoNoise) {
  ErrorGrowth growth;
  std::mt19937 random(7);
  for (int64_t step = 0; step < 300; ++step) {
    const double noise = static_cast<double>(random()) / 4294967296.0 - 0.5;
    const double log = -14 + 0.3 * static_cast<double>(std::min<int64_t>(step, 60)) + 0.1 * noise;
    growth.Add(0, step, std::exp(log), 1e-3, kRoundoff);
  }
  EXPECT_GT(growth.Get()->slope, 5 * growth.Get()->error);
  EXPECT_LT(std::abs(growth.GetLate()->slope), 3 * growth.GetLate()->error);
}

TEST(ErrorGrowth, ANanEndsTheFitOfItsSequence) {
  ErrorGrowth growth;
  AddGrowing(growth, 0, 10, 1e-5, 1.1);
  growth.Add(0, 10, std::numeric_limits<double>::quiet_NaN(), 1e-3, kRoundoff);
  growth.Add(0, 11, 1e-2, 1e-2, kRoundoff);
  EXPECT_EQ(growth.Get()->steps, 10);
  AddGrowing(growth, 1, 10, 1e-5, 1.1);
  EXPECT_EQ(growth.Get()->steps, 20);
  EXPECT_NEAR(growth.Get()->slope, std::log(1.1), 1e-12);
}

}  // namespace
}  // namespace vernier
