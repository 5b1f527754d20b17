// The errors that growth is fitted to, of states that get longer.
#include "run/steps/step_errors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace vernier {
namespace {

constexpr double kRoundoffOfSteps = 0x1p-24;  // of float32
constexpr int64_t kSteps = 60;

StepErrors::Error Of(double rms) { return {rms, rms, kRoundoffOfSteps}; }

// A cache of rows of 4 elements, whose new rows alone have an error: `rms` grows by a factor.
void AddCache(StepErrors& errors, int64_t sequence, int64_t first_rows, int64_t most_rows,
              double rms, double factor = 1) {
  for (int64_t step = 0; step < kSteps; ++step) {
    const int64_t rows = std::min(first_rows + step, most_rows);
    const auto fresh = static_cast<double>(step == 0 ? first_rows : 1);
    const double of_all = rms * std::pow(factor, static_cast<double>(step)) *
                          std::sqrt(fresh / static_cast<double>(rows));
    errors.Add({sequence, step, kSteps}, 4 * rows, true, Of(of_all));
  }
}

// All elements have an error at each step, which varies by a tenth.
StepErrors WholeCache(bool of_reference, double factor = 1) {
  StepErrors errors;
  for (int64_t step = 0; step < kSteps; ++step) {
    const auto at = static_cast<double>(step);
    const double rms = 1e-4 * std::pow(factor, at) * (1 + 0.1 * std::sin(7 * at * at));
    errors.Add({0, step, kSteps}, 4 * (1 + step), of_reference, Of(rms));
  }
  return errors;
}

// One row of 4 elements is wrong from the first step on, and stays.
StepErrors OneWrongToken(double factor = 1) {
  StepErrors errors;
  for (int64_t step = 0; step < kSteps; ++step) {
    const auto at = static_cast<double>(step);
    const double norm = 1e-3 * std::pow(factor, at) * (1 + 0.02 * std::sin(7 * at * at));
    const int64_t elements = 4 * (12 + step);
    errors.Add({0, step, kSteps}, elements, false,
               Of(norm / std::sqrt(static_cast<double>(elements))));
  }
  return errors;
}

bool Grows(const StepErrors& errors) {
  const auto all = errors.Growth({});
  return all && all->fit.slope > all->limit;
}
bool DiesOut(const StepErrors& errors) {
  const auto all = errors.Growth({}), late = errors.LateGrowth({});
  return all && late && all->fit.slope < -all->limit && late->fit.slope < -late->limit;
}

TEST(StepErrors, AnErrorOfTheWholeCacheIsNotSaidToGrow) {
  for (const bool of_reference : {true, false}) {
    const StepErrors sound = WholeCache(of_reference);
    const auto scaled = sound.Scaled().Get();
    EXPECT_GT(scaled->slope, scaled->Limit({}));  // by the length alone
    EXPECT_FALSE(Grows(sound));
    EXPECT_FALSE(DiesOut(sound));
    EXPECT_FALSE(sound.Growth({})->scaled);
    EXPECT_LT(std::abs(sound.LateGrowth({})->fit.slope), sound.LateGrowth({})->limit);

    EXPECT_TRUE(Grows(WholeCache(of_reference, 1.03)));
    EXPECT_TRUE(DiesOut(WholeCache(of_reference, 0.93)));
  }
}

TEST(StepErrors, OneWrongTokenThatStaysDoesNotDieOut) {
  const StepErrors sound = OneWrongToken();
  const auto plain = sound.Plain().Get();
  EXPECT_LT(plain->slope, -plain->Limit({}));  // by the length alone
  EXPECT_FALSE(Grows(sound));
  EXPECT_FALSE(DiesOut(sound));
  EXPECT_TRUE(sound.Growth({})->scaled);
  EXPECT_EQ(sound.Growth({})->fit.steps, kSteps);

  EXPECT_TRUE(Grows(OneWrongToken(1.05)));
  EXPECT_TRUE(DiesOut(OneWrongToken(0.95)));
}

// RMS falls, and the L2 norm grows.
TEST(StepErrors, FitsThatGoOppositeWaysTellNothing) {
  StepErrors errors;
  for (int64_t step = 0; step < kSteps; ++step) {
    const int64_t elements = 4 * (1 + step);
    errors.Add({0, step, kSteps}, elements, false,
               Of(1e-5 * std::pow(static_cast<double>(elements), -0.25)));
  }
  EXPECT_LT(errors.Plain().Get()->slope, -errors.Plain().Get()->Limit({}));
  EXPECT_GT(errors.Scaled().Get()->slope, errors.Scaled().Get()->Limit({}));
  EXPECT_FALSE(Grows(errors));
  EXPECT_FALSE(DiesOut(errors));
}

TEST(StepErrors, WhatEachStepAddsToACacheIsFitted) {
  StepErrors errors;
  AddCache(errors, 0, 1, 1000, 1e-4);
  AddCache(errors, 1, 12, 1000, 1e-3);  // after a prompt
  const auto fit = errors.Scaled().Get();
  ASSERT_TRUE(fit);
  const auto claimed = errors.Growth({});
  EXPECT_TRUE(claimed->scaled);
  EXPECT_EQ(claimed->fit.slope, fit->slope);
  EXPECT_NEAR(fit->slope, 0, 1e-12);
  EXPECT_NEAR(fit->error, 0, 1e-8);
  EXPECT_EQ(fit->steps, 2 * (kSteps - 1));  // of the first it is not known what was new
}

TEST(StepErrors, AnErrorThatGrowsInACacheIsSeen) {
  StepErrors errors;
  AddCache(errors, 0, 5, 1000, 1e-5, 1.05);
  EXPECT_NEAR(errors.Scaled().Get()->slope, std::log(1.05), 1e-12);
  EXPECT_TRUE(Grows(errors));
}

TEST(StepErrors, AFullCacheSlides) {
  StepErrors errors;
  AddCache(errors, 0, 1, 20, 1e-4);
  EXPECT_NEAR(errors.Scaled().Get()->slope, 0, 1e-12);
}

// Whether they slide or not: as if their length were not known.
TEST(StepErrors, StatesOfOneLengthAndOtherOutputsAreFittedAsTheyAre) {
  for (const auto& [elements, of_reference] :
       {std::pair(0, true), std::pair(64, true), std::pair(0, false), std::pair(64, false)}) {
    StepErrors errors;
    ErrorGrowth growth;
    for (int64_t sequence = 0; sequence < 3; ++sequence) {
      for (int64_t step = 0; step < 20; ++step) {
        const double rms = 1e-5 * std::pow(1.1, static_cast<double>(step + sequence * (step % 3)));
        errors.Add({sequence, step, 20}, elements, of_reference, Of(rms));
        growth.Add(sequence, step, rms, rms, kRoundoffOfSteps);
      }
    }
    errors.Add({3, 0, 1}, elements, of_reference, Of(1e-5));
    growth.Add(3, 0, 1e-5, 1e-5, kRoundoffOfSteps);
    const auto claimed = errors.Growth({});
    EXPECT_FALSE(claimed->scaled);
    EXPECT_EQ(claimed->fit.slope, growth.Get()->slope);
    EXPECT_EQ(claimed->fit.error, growth.Get()->error);
    EXPECT_EQ(claimed->fit.steps, growth.Get()->steps);
    EXPECT_EQ(errors.LateGrowth({})->fit.slope, growth.GetLate()->slope);
  }
}

TEST(StepErrors, ANanEndsTheFit) {
  StepErrors errors;
  AddCache(errors, 0, 1, 1000, 1e-4);
  for (int64_t step = 0; step < 20; ++step) {
    const bool nan = step == 10;
    errors.Add({1, step, 20}, 4 * (step + 1), true,
               Of(nan ? std::numeric_limits<double>::quiet_NaN() : 1e-4));
  }
  EXPECT_EQ(errors.Scaled().Get()->steps, kSteps - 1 + 9);
}

}  // namespace
}  // namespace vernier
