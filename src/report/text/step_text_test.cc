#include "report/text/step_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace vernier {
namespace {

using testing::HasSubstr;

// One output of six steps, in none of which a number differs.
PairRecord PairWithoutError(int64_t not_verified) {
  PairRecord pair;
  pair.first = "a";
  pair.second = "b";
  OutputRecord& output = pair.outputs.emplace_back();
  output.name = "y";
  output.not_verified = not_verified;
  output.time.emplace();
  output.time->steps = 6;
  output.time->largest_rms = 0.0;
  return pair;
}

TEST(StepText, OnlyStepsThatWereJudgedHaveNoError) {
  EXPECT_THAT(FormatSteps(PairWithoutError(0)),
              HasSubstr("is 0 at every step; no step is out of tolerance"));
  EXPECT_THAT(FormatSteps(PairWithoutError(2)),
              HasSubstr("is 0 at every step that could be judged; 2 steps could not be judged"));
}

TEST(StepText, WhatHasNoErrorIsNotSaidToHaveASmallOne) {
  PairRecord pair = PairWithoutError(0);
  TimeRecord& time = *pair.outputs.front().time;
  time.first_bad_step = 0;
  time.largest_rms.reset();
  EXPECT_THAT(FormatSteps(pair), HasSubstr("the error of output 'y' could not be measured; first"));
  time.first_bad_step = 5;
  time.largest_rms = 0;
  time.curve = {{4, 0.0, 0.0}, {5, std::nan(""), HUGE_VAL}};
  EXPECT_THAT(FormatSteps(pair),
              HasSubstr("the error of output 'y' is NaN, at step 5 first, and 0 at the others"));
  time.largest_rms = 1;
  time.curve = {{4, 1.0, 0.0}};
  EXPECT_THAT(FormatSteps(pair), HasSubstr("is known at 1 step of a sequence, and it takes 8 to "
                                           "tell whether it grows"));
  for (int64_t step = 5; step < 12; ++step) time.curve.push_back({step, 1.0, 0.0});
  EXPECT_THAT(FormatSteps(pair), HasSubstr("is too small or too large to tell"));
}

TEST(StepText, NanThatBothMakeOfOneStateIsNoFaultOfTheStep) {
  PairRecord pair = PairWithoutError(0);
  TimeRecord& time = *pair.outputs.front().time;
  time.first_bad_step = 5;
  time.crossed.emplace();
  time.crossed->steps = 6;
  time.crossed->curve = {{4, 0.0, 0.0}, {5, std::nan(""), HUGE_VAL}};
  EXPECT_THAT(FormatSteps(pair), HasSubstr("fed with the state of b, a gives the same at every "
                                           "step, NaN or infinite on both sides at step 5 first"));
  time.crossed->first_bad_step = 5;
  EXPECT_THAT(FormatSteps(pair),
              HasSubstr("at step 5 of sequence 0: that step is wrong by itself"));
}

}  // namespace
}  // namespace vernier
