#include "report/text/step_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

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

TEST(StepText, StepsThatWereNotComparedAreNotSaidToHaveNoError) {
  PairRecord pair = PairWithoutError(0);
  pair.expected_iterations = 8;
  EXPECT_THAT(FormatSteps(pair), HasSubstr("is 0 wherever it was compared, at 6 of 8 steps; no"));
  pair.expected_iterations = 6;
  EXPECT_THAT(FormatSteps(pair), HasSubstr("is 0 at every step;"));
  pair.outputs.front().time->measured_steps = 2;  // the others have no elements
  EXPECT_THAT(FormatSteps(pair), HasSubstr("is 0 wherever it was compared, at 2 of 6 steps;"));
}

TEST(StepText, OfFewStepsTheOutputWithTheLargestErrorIsDescribed) {
  PairRecord pair = PairWithoutError(0);
  for (const auto& [name, largest] : {std::pair("z", 1e-4), std::pair("w", 1e-2)}) {
    OutputRecord& output = pair.outputs.emplace_back();
    output.name = name;
    output.time.emplace();
    output.time->steps = 6;
    output.time->largest_rms = largest;
  }
  EXPECT_THAT(FormatSteps(pair), HasSubstr("the error of output 'w'"));
  // A state was compared at fewer steps, but its error is one.
  pair.outputs.erase(pair.outputs.begin() + 1);
  pair.outputs.back().time->fed_back = true;
  EXPECT_THAT(FormatSteps(pair), HasSubstr("the error of output 'w'"));
}

TEST(StepText, OfACacheItIsSaidWhatWasFitted) {
  PairRecord pair = PairWithoutError(0);
  TimeRecord& time = *pair.outputs.front().time;
  time.own = time.of_new_elements = true;
  time.largest_rms = 1;
  time.growth_per_step = 0.001;
  time.growth_error = 0.001;
  EXPECT_THAT(FormatSteps(pair), HasSubstr("each step's own error of what each step adds to output "
                                           "'y' neither grows nor dies out"));
}

TEST(StepText, OfACacheWithItsOwnStateTheNormIsNamed) {
  PairRecord pair = PairWithoutError(0);
  TimeRecord& time = *pair.outputs.front().time;
  time.of_new_elements = true;
  time.largest_rms = 1;
  time.growth_per_step = 0.001;
  time.growth_error = 0.001;
  EXPECT_THAT(FormatSteps(pair),
              HasSubstr("the L2 norm of the error of output 'y' neither grows nor dies out"));
}

TEST(StepText, TheGrowthIsThatOfAnOutputThatWasComparedAtMoreSteps) {
  PairRecord pair = PairWithoutError(0);
  TimeRecord& logits = *pair.outputs.front().time;
  logits.steps = 60;
  logits.largest_rms = 1;
  logits.growth_per_step = 0.07;
  logits.growth_error = 0.001;
  OutputRecord state;
  state.name = "hn";
  state.time.emplace();
  state.time->steps = 2;
  state.time->fed_back = true;
  state.time->largest_rms = 1;
  state.time->first_bad_step = 59;
  state.time->first_bad_sequence = 0;
  pair.outputs.push_back(state);
  EXPECT_THAT(FormatSteps(pair), HasSubstr("the error of output 'y' grows 1.073 times a step"));
  EXPECT_THAT(FormatSteps(pair),
              HasSubstr("; output 'hn' is first out of tolerance at step 59 of sequence 0, or "
                        "before: it was compared at 2 of 60 steps"));
}

TEST(StepText, TooFewStepsToTellAreSaidToBe) {
  PairRecord pair = PairWithoutError(0);
  TimeRecord& time = *pair.outputs.front().time;
  time.largest_rms = 1;
  time.fitted_steps = 9;
  time.growth_per_step = std::log(1.94);
  time.growth_error = 0.13 / 1.94;
  time.growth_limit = std::log(2.1);
  EXPECT_THAT(
      FormatSteps(pair),
      HasSubstr("whether the error of output 'y' grows cannot be determined from 9 steps: 1.94 "
                "times a step (standard error 0.13) may be chance, up to 2.1 times; no "));
  time.growth_per_step = 0.03;
  time.growth_limit = 0.048;
  EXPECT_THAT(FormatSteps(pair), HasSubstr("the error of output 'y' neither grows nor dies out"));
  time.growth_limit = 0.049;
  EXPECT_THAT(FormatSteps(pair), HasSubstr("grows cannot be determined from 9 steps: 1.03 times"));
}

// An output whose error has this slope, with a standard error of 0.01.
void AddSlope(const std::string& name, double slope, PairRecord& pair) {
  OutputRecord& output = pair.outputs.emplace_back();
  output.name = name;
  TimeRecord& time = output.time.emplace();
  time.steps = time.fitted_steps = 60;
  time.largest_rms = 1;
  time.growth_per_step = slope;
  time.growth_error = 0.01;
}

TEST(StepText, OfThoseThatAreSeenToGrowTheSteepestIsNamed) {
  PairRecord pair;
  AddSlope("unsure", 0.1, pair);
  AddSlope("slow", 0.03, pair);
  AddSlope("fast", 0.05, pair);
  pair.outputs[0].time->growth_error = 0.2;
  EXPECT_THAT(FormatSteps(pair), HasSubstr("the error of output 'fast' grows 1.051 times a step"));
  for (OutputRecord& output : pair.outputs) output.time->growth_limit = 0.04;
  pair.outputs[0].time->growth_limit = 0.5;
  EXPECT_THAT(FormatSteps(pair), HasSubstr("output 'fast' grows"));
  pair.outputs[2].time->growth_limit = 0.06;
  EXPECT_THAT(FormatSteps(pair), HasSubstr("whether the error of output 'unsure' grows cannot"));
}

BlameStepRecord StepWithin(double own) {
  BlameStepRecord step;
  step.step = 3;
  step.output = "y";
  step.own_error = own;
  step.largest_own_error = 0.8;
  step.largest_own_step = 39;
  step.largest_own_sequence = 1;
  return step;
}

TEST(BlameStepText, WithinAllBoundsItIsSaidWhyTheStepIsLookedAt) {
  EXPECT_THAT(FormatBlameStep(StepWithin(0.6)),
              HasSubstr("; no step is out of its bound, and this is the first near the largest "
                        "error, 0.8 times its bound, at step 39 of sequence 1"));
  EXPECT_THAT(FormatBlameStep(StepWithin(0)), testing::EndsWith("; no step is out of its bound"));
}

TEST(BlameStepText, AnErrorWithinItsBoundIsNotAcquitted) {
  BlameStepRecord step = StepWithin(0.2);
  step.first_total_step = 3;
  step.first_total_sequence = 0;
  const std::string said = FormatBlameStep(step);
  EXPECT_THAT(said,
              HasSubstr("the state came wrong: with one state no step is out of its bound (at "
                        "most 0.8 times it, at step 39 of sequence 1), and errors within it "
                        "add up"));
  EXPECT_THAT(said, testing::Not(HasSubstr("no step is wrong")));
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
  time.largest_rms.reset();
  EXPECT_THAT(FormatSteps(pair), HasSubstr("is NaN wherever it was measured, at step 5 first"));
  time.largest_rms = 1;
  time.curve = {{4, 1.0, 0.0}};
  EXPECT_THAT(FormatSteps(pair), HasSubstr("is known at 1 step of a sequence, and it takes 8 to "
                                           "tell whether it grows"));
  for (int64_t step = 5; step < 12; ++step) time.curve.push_back({step, 1.0, 0.0});
  EXPECT_THAT(FormatSteps(pair), HasSubstr("is too small or too large to tell"));
}

TEST(StepText, AnEarlierStepOfALaterSequenceIsFirst) {
  PairRecord pair = PairWithoutError(0);
  pair.outputs.push_back(pair.outputs.front());
  pair.outputs.back().name = "z";
  TimeRecord &first = *pair.outputs.front().time, &second = *pair.outputs.back().time;
  first.first_bad_step = 7;
  first.first_bad_sequence = 0;
  second.first_bad_step = 6;
  second.first_bad_sequence = 1;
  first.crossed.emplace().first_bad_step = 5;
  first.crossed->first_bad_sequence = 0;
  second.crossed.emplace().first_bad_step = 4;
  second.crossed->first_bad_sequence = 2;
  const std::string said = FormatSteps(pair);
  EXPECT_THAT(said, HasSubstr("output 'z'"));
  EXPECT_THAT(said, HasSubstr("first out of tolerance at step 6 of sequence 1"));
  EXPECT_THAT(said, HasSubstr("gives something else at step 4 of sequence 2"));
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
