// How cases add up to a verdict on a property.
#include "check/properties/trial.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

#include "check/properties/fake_bench.h"
#include "util/log/no_log.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

using ::testing::HasSubstr;

TensorMap TrialOutput(float value) {
  return {{"y", *Tensor::Copy(DType::kFloat32, {1}, std::as_bytes(std::span(&value, 1)))}};
}

class TrialTest : public testing::Test {
 protected:
  const std::vector<Sample> samples_ = {{{}, TrialOutput(1), ""},
                                        {{}, TrialOutput(2), ", free dimensions of size 3"}};
  const ExecutionPlan execution_;
  const std::atomic<int> interrupted_{0};
  NoLog log_;
  const Probe::Shared shared_{execution_, interrupted_, log_};
  const RunnerPlan plan_;
  const ModelSource model_;
  std::unique_ptr<Probe> probe_;
  const CompareOptions compare_;
  const ErrorBounds bounds_;
  const std::string sizes_;
  FakeBench bench_;
  Subject subject_{.runner = {shared_, plan_, model_},
                   .probe = probe_,
                   .samples = samples_,
                   .sizes = sizes_,
                   .refuses_sizes = false,
                   .compare = compare_,
                   .bounds = bounds_,
                   .repeats = 5,
                   .bench = bench_};
};

TEST_F(TrialTest, SaysHowManyCasesHadTheSameBits) {
  Trial trial(subject_);
  EXPECT_TRUE(trial.Hold("run 2", TrialOutput(1), TrialOutput(1)));
  EXPECT_TRUE(trial.Hold("run 3", TrialOutput(1), TrialOutput(1)));
  const PropertyRecord record = trial.Finish("more runs", "free dimensions of size 1");
  EXPECT_EQ(record.verdict, PropertyVerdict::kHolds);
  EXPECT_EQ(record.detail, "2 more runs, the same bits; free dimensions of size 1");
}

TEST_F(TrialTest, NamesTheCaseThatCameNearestToTheTolerance) {
  Trial trial(subject_);
  EXPECT_TRUE(trial.Hold("run 2", TrialOutput(1), TrialOutput(1.000001F)));
  EXPECT_TRUE(trial.Hold("run 3", TrialOutput(1), TrialOutput(1.000005F)));
  const PropertyRecord record = trial.Finish("more runs");
  EXPECT_EQ(record.verdict, PropertyVerdict::kHolds);
  EXPECT_GT(record.times_over, 0);
  EXPECT_THAT(record.detail, HasSubstr("times what is tolerated"));
  EXPECT_THAT(record.detail, HasSubstr("of run 3"));
}

TEST_F(TrialTest, EndsWithTheFirstCaseThatIsApart) {
  Trial trial(subject_);
  EXPECT_FALSE(trial.Hold("run 2", TrialOutput(1), TrialOutput(2)));
  EXPECT_TRUE(trial.apart());
  const PropertyRecord record = trial.Finish("more runs");
  EXPECT_EQ(record.verdict, PropertyVerdict::kBroken);
  EXPECT_EQ(record.smallest_case, "run 2");
  EXPECT_THAT(record.detail, HasSubstr("1 against 2"));
}

TEST_F(TrialTest, ARunThatFailsBreaksItInTheFrameworksWords) {
  Trial trial(subject_);
  EXPECT_FALSE(trial.Hold("run 2", TrialOutput(1), BackendError("no room")));
  EXPECT_FALSE(trial.apart());
  EXPECT_EQ(trial.Finish("more runs").detail, "no room");
}

TEST_F(TrialTest, SamplesAreOneCaseAndSayTheirSize) {
  Trial trial(subject_);
  EXPECT_TRUE(trial.HoldSamples("a second process",
                                std::vector<TensorMap>{TrialOutput(1), TrialOutput(2)}));
  EXPECT_FALSE(
      trial.HoldSamples("a third process", std::vector<TensorMap>{TrialOutput(1), TrialOutput(3)}));
  EXPECT_EQ(trial.Finish("processes").smallest_case, "a third process, free dimensions of size 3");
}

TEST_F(TrialTest, NothingTriedIsNoPass) {
  EXPECT_EQ(Trial(subject_).Finish("runs").verdict, PropertyVerdict::kNotApplicable);
}

// Outputs that differ from run to run show nothing of a setting.
TEST_F(TrialTest, WhatDiffersAnywayIsNotBlamedOnWhatWasTried) {
  subject_.earlier.runs_differ = true;
  Trial trial(subject_);
  EXPECT_FALSE(trial.Hold("threads=1", TrialOutput(1), TrialOutput(2)));
  const PropertyRecord record = trial.Finish("settings");
  EXPECT_EQ(record.verdict, PropertyVerdict::kNotApplicable);
  EXPECT_THAT(record.detail, HasSubstr("repeated-runs"));
}

TEST_F(TrialTest, NorIsWhatAnotherProcessGivesWithoutIt) {
  const auto differs = [] {
    return Result<std::vector<TensorMap>>(std::vector{TrialOutput(5), TrialOutput(2)});
  };
  Trial trial(subject_);
  EXPECT_FALSE(trial.HoldAnew("threads=1", std::vector{TrialOutput(6), TrialOutput(2)}, differs));
  EXPECT_EQ(trial.Finish("settings").verdict, PropertyVerdict::kNotApplicable);
  const auto agrees = [] {
    return Result<std::vector<TensorMap>>(std::vector{TrialOutput(1), TrialOutput(2)});
  };
  Trial other(subject_);
  EXPECT_FALSE(other.HoldAnew("threads=1", std::vector{TrialOutput(6), TrialOutput(2)}, agrees));
  EXPECT_EQ(other.Finish("settings").verdict, PropertyVerdict::kBroken);
}

// With bounds that the condition of the outputs makes wider.
class RoundedTrialTest : public TrialTest {
 protected:
  RoundedTrialTest() {
    automatic_.tolerance.fallback = ToleranceRule::kAuto;
    tight_.Set("y", {.rms = 1e-6, .why = "float32"});
    wide_.bounds.Set("y", {.rms = 1e-6, .condition = 500, .spread = 6, .why = "float32"});
    wide_.condition = 500;
    bench_.wide = &wide_;
  }

  CompareOptions automatic_;
  ErrorBounds tight_;
  WidenedBounds wide_;
  Subject rounded_{.runner = {shared_, plan_, model_},
                   .probe = probe_,
                   .samples = samples_,
                   .sizes = sizes_,
                   .refuses_sizes = false,
                   .compare = automatic_,
                   .bounds = tight_,
                   .repeats = 5,
                   .bench = bench_};
};

TEST_F(RoundedTrialTest, AmplifiedRoundingHoldsAndSaysSo) {
  const TensorMap rows = TrialOutput(7);
  Trial trial(rounded_);
  trial.AllowRounding(&rows);
  EXPECT_TRUE(trial.Hold("row 0 of a batch of 2", TrialOutput(1), TrialOutput(1.0001F)));
  EXPECT_EQ(bench_.widened_for, &rows);
  const PropertyRecord record = trial.Finish("rows");
  EXPECT_EQ(record.verdict, PropertyVerdict::kHolds);
  EXPECT_EQ(record.condition, 500);
  EXPECT_THAT(record.detail, HasSubstr("times what rounding may differ by, ill-conditioned: κ = "
                                       "500 (output 'y' of row 0 of a batch of 2)"));
}

TEST_F(RoundedTrialTest, WhatIsFartherApartIsStillSeen) {
  Trial trial(rounded_);
  trial.AllowRounding();
  EXPECT_FALSE(trial.Hold("row 0 of a batch of 2", TrialOutput(1), TrialOutput(1.01F)));
  EXPECT_EQ(trial.Finish("rows").verdict, PropertyVerdict::kBroken);
}

TEST_F(RoundedTrialTest, SamplesAreRoundedEachByItself) {
  Trial trial(rounded_);
  trial.AllowRounding();
  EXPECT_TRUE(trial.HoldSamples("threads=1", std::vector{TrialOutput(1), TrialOutput(2.0001F)}));
  EXPECT_EQ(bench_.widened_for, &samples_[1].feed);
}

TEST_F(RoundedTrialTest, RunsThatMustBeEqualAreNotExcused) {
  Trial trial(rounded_);
  EXPECT_FALSE(trial.Hold("run 2", TrialOutput(1), TrialOutput(1.0001F)));
  EXPECT_EQ(bench_.widened_for, nullptr);
}

TEST_F(RoundedTrialTest, WhatIsWithinTheBoundIsNotRounded) {
  Trial trial(rounded_);
  trial.AllowRounding();
  EXPECT_TRUE(trial.Hold("row 0", TrialOutput(1), TrialOutput(1)));
  EXPECT_EQ(bench_.widened_for, nullptr);
  EXPECT_EQ(trial.Finish("rows").condition, 1);
}

}  // namespace
}  // namespace vernier
