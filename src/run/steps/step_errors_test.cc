// The errors that growth is fitted to, of states that get longer.
#include "run/steps/step_errors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace vernier {
namespace {

constexpr double kRoundoff = 0x1p-24;  // of float32
constexpr int64_t kSteps = 60;

StepErrors::Error Of(double rms) { return {rms, rms, kRoundoff}; }

// A cache of rows of 4 elements, whose new rows alone have an error: `rms` grows by a factor.
void AddCache(StepErrors& errors, int64_t sequence, int64_t first_rows, int64_t most_rows,
              double rms, double factor = 1) {
  for (int64_t step = 0; step < kSteps; ++step) {
    const int64_t rows = std::min(first_rows + step, most_rows);
    const auto fresh = static_cast<double>(step == 0 ? first_rows : 1);
    const double of_all = rms * std::pow(factor, static_cast<double>(step)) *
                          std::sqrt(fresh / static_cast<double>(rows));
    errors.Add({sequence, step, kSteps}, 4 * rows, Of(of_all));
  }
}

TEST(StepErrors, WhatEachStepAddsToACacheIsFitted) {
  StepErrors errors;
  AddCache(errors, 0, 1, 1000, 1e-4);
  AddCache(errors, 1, 12, 1000, 1e-3);  // after a prompt
  const auto fit = errors.Growth().Get();
  ASSERT_TRUE(fit);
  EXPECT_TRUE(errors.of_new());
  EXPECT_NEAR(fit->slope, 0, 1e-12);
  EXPECT_NEAR(fit->error, 0, 1e-8);
  EXPECT_EQ(fit->steps, 2 * (kSteps - 1));  // of the first it is not known what was new
}

TEST(StepErrors, AnErrorThatGrowsInACacheIsSeen) {
  StepErrors errors;
  AddCache(errors, 0, 5, 1000, 1e-5, 1.05);
  EXPECT_NEAR(errors.Growth().Get()->slope, std::log(1.05), 1e-12);
}

TEST(StepErrors, AFullCacheSlides) {
  StepErrors errors;
  AddCache(errors, 0, 1, 20, 1e-4);
  EXPECT_NEAR(errors.Growth().Get()->slope, 0, 1e-12);
}

// Whether they slide or not: as if their length were not known.
TEST(StepErrors, StatesOfOneLengthAndOtherOutputsAreFittedAsTheyAre) {
  for (const int64_t elements : {0, 64}) {
    StepErrors errors;
    ErrorGrowth growth;
    for (int64_t sequence = 0; sequence < 3; ++sequence) {
      for (int64_t step = 0; step < 20; ++step) {
        const double rms = 1e-5 * std::pow(1.1, static_cast<double>(step + sequence * (step % 3)));
        errors.Add({sequence, step, 20}, elements, Of(rms));
        growth.Add(sequence, step, rms, rms, kRoundoff);
      }
    }
    errors.Add({3, 0, 1}, elements, Of(1e-5));
    growth.Add(3, 0, 1e-5, 1e-5, kRoundoff);
    EXPECT_FALSE(errors.of_new());
    EXPECT_EQ(errors.Growth().Get()->slope, growth.Get()->slope);
    EXPECT_EQ(errors.Growth().Get()->error, growth.Get()->error);
    EXPECT_EQ(errors.Growth().Get()->steps, growth.Get()->steps);
  }
}

TEST(StepErrors, ANanEndsTheFit) {
  StepErrors errors;
  AddCache(errors, 0, 1, 1000, 1e-4);
  for (int64_t step = 0; step < 20; ++step) {
    const bool nan = step == 10;
    errors.Add({1, step, 20}, 4 * (step + 1),
               Of(nan ? std::numeric_limits<double>::quiet_NaN() : 1e-4));
  }
  EXPECT_EQ(errors.Growth().Get()->steps, kSteps - 1 + 9);
}

}  // namespace
}  // namespace vernier
