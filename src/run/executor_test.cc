// Whole runs with workers that answer, fail, hang and die as each test says.
#include "run/executor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compare/functions/comparison.h"
#include "compare/functions/tally.h"
#include "io/results/results_reader.h"
#include "model/onnx/model_type.h"
#include "run/comparison/no_reports.h"
#include "run/workers/fake_workers.h"
#include "util/files/scratch_folder.h"
#include "util/log/no_log.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing_workers::Adds;
using testing_workers::Dies;
using testing_workers::FakeAnswer;
using testing_workers::FakeModel;
using testing_workers::FakeWorkers;
using testing_workers::Floats;
using testing_workers::FromRun;
using testing_workers::Hangs;
using testing_workers::InRun;
using testing_workers::Refuses;
using testing_workers::RunnersOf;

// Counts what it is notified of.
class CountingObserver final : public NoReports {
 public:
  void FeedMade(int64_t, const TensorMap&) override {
    ++feeds;
    if (when_fed) when_fed();
  }
  void OutputsMade(int64_t, const IterationResult&) override { ++outputs; }
  void PairCompared(const IterationComparison&) override { ++compared; }
  void PairFinished(const RunnerPair&, const ComparisonTally&) override { ++finished; }
  void Progress(int64_t done, int64_t) override { progress = done; }

  std::function<void()> when_fed;
  int feeds = 0, outputs = 0, compared = 0, finished = 0;
  int64_t progress = 0;
};

// Runs models named "a", "b", ..., one runner each, of the same backend.
class ExecutorTest : public testing::Test {
 protected:
  ExecutorTest() {
    plan_.inputs.iterations = 3;
    plan_.execution.use_subprocess = true;  // a worker for each
  }

  RunOutcome Run(const std::map<std::string, FakeModel>& models) {
    for (RunnerPlan& runner : RunnersOf(models)) {
      runner.backend_options = backend_options_;
      plan_.runners.push_back(std::move(runner));
    }
    return Run(plan_, models);
  }

  RunOutcome Run(const RunPlan& plan, const std::map<std::string, FakeModel>& models) {
    FakeWorkers workers(models, interrupted_, log_, plan.execution.timeout_s);
    Embedder caller;
    caller.workers = &workers;
    caller.needs_every_runner = needs_every_runner_;
    RunOutcome outcome = ExecuteRun(plan, log_, observer_, interrupted_, &caller);
    started_ = workers.started();
    return outcome;
  }

  RunPlan plan_;
  OptionList backend_options_;
  bool needs_every_runner_ = false;
  std::atomic<int> interrupted_{0};
  NoLog log_;
  CountingObserver observer_;
  size_t started_ = 0;  // workers
};

TEST_F(ExecutorTest, RunnersThatAgreePass) {
  const RunOutcome ran = Run({{"a", Adds(1)}, {"b", Adds(1)}});
  EXPECT_FALSE(ran.faults.any());
  ASSERT_EQ(ran.record.pairs.size(), 1u);
  EXPECT_EQ(ran.record.pairs[0].passed_iterations, 3);
  EXPECT_EQ(ran.record.pairs[0].expected_iterations, 3);
  ASSERT_EQ(ran.record.runners.size(), 2u);
  EXPECT_EQ(ran.record.runners[1].name, "b");
  EXPECT_EQ(ran.record.runners[1].iterations, 3);
  EXPECT_EQ(ran.record.runners[1].framework_version, "2.0");
  EXPECT_EQ(observer_.feeds, 3);
  EXPECT_EQ(observer_.outputs, 6);
  EXPECT_EQ(observer_.progress, 3);
}

// y = x + 1, but x + 2 in one iteration.
FakeModel WrongIn(int64_t wrong) {
  FakeModel model = Adds(1);
  model.infer = [wrong](const TensorMap& feed, int64_t run) {
    return Adds(run == wrong ? 2 : 1).infer(feed, run);
  };
  return model;
}

// Gives these outputs whatever it is fed.
FakeModel Gives(TensorMap outputs) {
  FakeModel model = Adds(1);
  model.infer = [outputs](const TensorMap&, int64_t) {
    return FakeAnswer{FakeAnswer::Kind::kOutputs, outputs};
  };
  return model;
}

std::vector<int64_t> IterationsOf(const RunOutcome& ran) {
  std::vector<int64_t> iterations;
  for (const RunnerRecord& runner : ran.record.runners) iterations.push_back(runner.iterations);
  return iterations;
}

TEST_F(ExecutorTest, ADifferenceInOneIterationFailsThePair) {
  const RunOutcome ran = Run({{"a", Adds(1)}, {"b", WrongIn(1)}});
  EXPECT_TRUE(ran.faults.mismatch);
  EXPECT_EQ(ran.record.pairs[0].passed_iterations, 2);
  EXPECT_EQ(ran.record.pairs[0].outputs[0].name, "y");
  EXPECT_EQ(ran.record.pairs[0].outputs[0].figures.iteration, 1);
  EXPECT_NEAR(ran.record.pairs[0].outputs[0].max_absolute_error.value_or(0), 1, 1e-5);
  EXPECT_EQ(observer_.finished, 1);
}

TEST_F(ExecutorTest, FailFastEndsTheRunAtTheFirstDifference) {
  plan_.compare->fail_fast = true;
  const RunOutcome ran = Run({{"a", Adds(1)}, {"b", WrongIn(1)}});
  EXPECT_TRUE(ran.faults.mismatch);
  // What was not run any more is no fault of its own.
  EXPECT_FALSE(ran.faults.incomplete);
  EXPECT_THAT(ran.record.faults, IsEmpty());
  EXPECT_THAT(IterationsOf(ran), ElementsAre(2, 2));
  EXPECT_EQ(observer_.compared, 2);
  EXPECT_EQ(observer_.finished, 0);
}

TEST_F(ExecutorTest, ADyingRunnerLeavesTheOthersGoing) {
  plan_.pairs.rule = PairRule::kAll;
  const RunOutcome ran = Run({{"a", Adds(1)}, {"b", Adds(1, InRun(1, Dies()))}, {"c", Adds(1)}});
  EXPECT_TRUE(ran.faults.backend);
  EXPECT_TRUE(ran.faults.incomplete);
  EXPECT_FALSE(ran.faults.mismatch);
  EXPECT_THAT(IterationsOf(ran), ElementsAre(3, 1, 3));
  EXPECT_EQ(ran.record.runners[1].failure, "closed its connection while running iteration 1");
  EXPECT_EQ(ran.record.runners[2].failure, "");
  // What it was compared in stays, and what is missing is named; the others' pair has it all.
  const std::string rest =
      ": only 1 of 3 iterations could be compared: b has no iterations 1 and 2";
  EXPECT_THAT(ran.record.faults, ElementsAre("a vs. b" + rest, "b vs. c" + rest));
}

TEST_F(ExecutorTest, ThoseWhoSharedItsWorkerGoOnInAnother) {
  plan_.execution.use_subprocess = false;
  const RunOutcome ran = Run({{"a", Adds(1)}, {"b", Adds(1, InRun(1, Dies()))}, {"c", Adds(1)}});
  EXPECT_EQ(started_, 2u);
  EXPECT_THAT(IterationsOf(ran), ElementsAre(3, 1, 3));
  EXPECT_EQ(ran.record.runners[0].failure, "");
  EXPECT_EQ(ran.record.runners[2].failure, "");
  EXPECT_THAT(ran.record.notes,
              ElementsAre("c was started again in another worker: b ended the worker that they "
                          "shared",
                          "a was started again in another worker: b ended the worker that they "
                          "shared"));
}

TEST_F(ExecutorTest, SideBySideADyingRunnerLeavesTheOthersGoing) {
  plan_.execution.parallel = true;
  const RunOutcome ran = Run({{"a", Adds(1)}, {"b", Adds(1, InRun(1, Dies()))}, {"c", Adds(1)}});
  EXPECT_TRUE(ran.faults.backend);
  EXPECT_THAT(IterationsOf(ran), ElementsAre(3, 1, 3));
}

TEST_F(ExecutorTest, ARunnerThatHangsIsEndedByTheTimeout) {
  plan_.execution.timeout_s = 0.5;
  const RunOutcome ran = Run({{"a", Adds(1)}, {"b", Adds(1, InRun(2, Hangs()))}});
  EXPECT_TRUE(ran.faults.backend);
  EXPECT_THAT(IterationsOf(ran), ElementsAre(3, 2));
  EXPECT_EQ(ran.record.runners[1].failure,
            "hung while running iteration 2: no answer within 0.5 s (--timeout)");
}

TEST_F(ExecutorTest, WhatAFrameworkRefusesIsItsFailure) {
  const RunOutcome ran = Run({{"a", Adds(1)}, {"b", Adds(1, InRun(0, Refuses("no room")))}});
  EXPECT_TRUE(ran.faults.backend);
  EXPECT_EQ(ran.record.runners[1].failure, "no room");
  EXPECT_EQ(ran.record.pairs[0].compared_iterations, 0);
  EXPECT_TRUE(ran.record.pairs[0].incomplete);
  EXPECT_THAT(ran.record.faults,
              ElementsAre("a vs. b: 0 of 3 iterations could be compared: b has none"));
}

TEST_F(ExecutorTest, AModelThatCannotBeOpenedLeavesTheOthersGoing) {
  FakeModel broken = Adds(1);
  broken.open = BackendError("operator Foo is unknown");
  const RunOutcome ran = Run({{"a", Adds(1)}, {"b", broken}, {"c", Adds(1)}});
  EXPECT_TRUE(ran.faults.backend);
  EXPECT_TRUE(ran.faults.incomplete);
  EXPECT_THAT(IterationsOf(ran), ElementsAre(3, 0, 3));
  EXPECT_EQ(ran.record.runners[1].failure, "operator Foo is unknown");
}

TEST_F(ExecutorTest, WithoutAnyRunnerNothingPasses) {
  FakeModel broken = Adds(1);
  broken.open = BackendError("operator Foo is unknown");
  const RunOutcome ran = Run({{"a", broken}, {"b", broken}});
  EXPECT_TRUE(ran.faults.backend);
  EXPECT_TRUE(ran.faults.incomplete);
  EXPECT_EQ(observer_.feeds, 0);
}

TEST_F(ExecutorTest, ABackendThatIsNotThereIsNoCrash) {
  RunnerPlan missing;
  missing.name = "missing";
  missing.backend = "another";
  missing.model.type = ModelTypeName(ModelType::kEngine);
  plan_.runners.push_back(missing);
  const RunOutcome ran = Run({{"z", Adds(1)}});
  EXPECT_TRUE(ran.faults.unavailable);
  EXPECT_FALSE(ran.faults.backend);
  EXPECT_EQ(ran.record.runners[0].failure, "there is no backend 'another'");
  EXPECT_THAT(IterationsOf(ran), ElementsAre(0, 3));
}

TEST_F(ExecutorTest, ABackendThatIsNeededEndsTheRunBeforeAnythingIsFed) {
  needs_every_runner_ = true;
  RunnerPlan missing;
  missing.name = "missing";
  missing.backend = "another";
  missing.model.type = ModelTypeName(ModelType::kEngine);
  plan_.runners.push_back(missing);
  const RunOutcome ran = Run({{"z", Adds(1)}});
  EXPECT_TRUE(ran.faults.unavailable);
  EXPECT_EQ(observer_.feeds, 0);
  EXPECT_THAT(IterationsOf(ran), ElementsAre(0, 0));
  EXPECT_EQ(ran.record.runners[0].failure, "there is no backend 'another'");
  EXPECT_EQ(ran.record.runners[1].failure, "");
}

TEST_F(ExecutorTest, OtherShapesAreADifference) {
  const RunOutcome ran = Run({{"a", Adds(1)}, {"b", Gives({{"y", Floats({2, 2}, {1, 2, 3, 4})}})}});
  EXPECT_TRUE(ran.faults.mismatch);
  EXPECT_EQ(ran.record.pairs[0].passed_iterations, 0);
  EXPECT_EQ(ran.record.pairs[0].outputs[0].without_numbers, 3);
}

TEST_F(ExecutorTest, AnOutputOfOneSideIsNamed) {
  const TensorMap one = {{"y", Floats({1}, {1})}};
  const TensorMap two = {{"y", Floats({1}, {1})}, {"z", Floats({1}, {2})}};
  const RunOutcome ran = Run({{"a", Gives(one)}, {"b", Gives(two)}});
  EXPECT_FALSE(ran.faults.mismatch);
  EXPECT_TRUE(ran.faults.incomplete);
  EXPECT_THAT(ran.record.pairs[0].only_in_second, ElementsAre("z"));
  EXPECT_THAT(ran.record.faults,
              ElementsAre("a vs. b: 1 output has no counterpart (--lenient accepts that)"));
}

TEST_F(ExecutorTest, OneAfterTheOtherTheyAreComparedAtTheEnd) {
  plan_.execution.sequential = true;
  const RunOutcome ran =
      Run({{"a", Adds(1)}, {"b", Adds(1, FromRun(1, Dies()))}, {"c", WrongIn(2)}});
  EXPECT_EQ(started_, 3u);
  EXPECT_TRUE(ran.faults.backend);
  // b did not get as far as the difference between the others.
  EXPECT_FALSE(ran.faults.mismatch);
  EXPECT_THAT(IterationsOf(ran), ElementsAre(3, 1, 3));
  const std::string rest =
      ": only 1 of 3 iterations could be compared: b has no iterations 1 and 2";
  EXPECT_THAT(ran.record.faults, ElementsAre("a vs. b" + rest, "b vs. c" + rest));
}

TEST_F(ExecutorTest, WarmUpsAreNeitherCountedNorCompared) {
  plan_.execution.warm_up = 2;
  const RunOutcome ran = Run({{"a", Adds(1)}, {"b", WrongIn(0)}});
  EXPECT_FALSE(ran.faults.any());
  EXPECT_THAT(IterationsOf(ran), ElementsAre(3, 3));
  EXPECT_EQ(observer_.compared, 3);
}

TEST_F(ExecutorTest, ASignalEndsTheRunAndKeepsWhatWasFinished) {
  // b never answers in iteration 1: whatever the machine's load, the signal comes first.
  observer_.when_fed = [this] { interrupted_ = observer_.feeds == 2 ? 2 : 0; };
  const RunOutcome ran = Run({{"a", Adds(1)}, {"b", Adds(1, InRun(1, Hangs()))}});
  EXPECT_EQ(ran.faults.signal, 2);
  EXPECT_FALSE(ran.faults.backend);
  EXPECT_TRUE(ran.record.pairs[0].incomplete && ran.record.pairs[0].passed_iterations == 1);
  EXPECT_THAT(ran.record.faults, ElementsAre("the run was interrupted in iteration 1 of 3"));
}

TEST_F(ExecutorTest, SavedOutputsStandInForTheirRunner) {
  const Result<ScratchFolder> folder = ScratchFolder::Create();
  ASSERT_TRUE(folder.ok());
  plan_.save.outputs = folder->path() + "/a.npz";
  EXPECT_FALSE(Run({{"a", Adds(1)}}).faults.any());
  plan_.load_outputs = {std::exchange(plan_.save.outputs, "")};
  plan_.runners.clear();
  const RunOutcome ran = Run({{"b", WrongIn(2)}});
  EXPECT_TRUE(ran.faults.mismatch);
  ASSERT_EQ(ran.record.pairs.size(), 1u);
  EXPECT_EQ(ran.record.pairs[0].passed_iterations, 2);
  EXPECT_EQ(ran.record.pairs[0].expected_iterations, 3);
}

TEST_F(ExecutorTest, OfARunnerThatDiesWhatItHadDoneIsSaved) {
  const Result<ScratchFolder> folder = ScratchFolder::Create();
  ASSERT_TRUE(folder.ok());
  plan_.save.outputs = folder->path() + "/a.npz";
  EXPECT_TRUE(Run({{"a", Adds(1, InRun(2, Dies()))}}).faults.backend);
  plan_.load_outputs = {std::exchange(plan_.save.outputs, "")};
  plan_.runners.clear();
  const RunOutcome ran = Run({{"b", Adds(1)}});
  EXPECT_TRUE(ran.faults.incomplete);
  EXPECT_EQ(ran.record.pairs.at(0).passed_iterations, 2);
  EXPECT_THAT(ran.record.faults, ElementsAre(HasSubstr("only 2 of 3 iterations")));
}

TEST_F(ExecutorTest, OfAModelWithoutOutputsNothingIsSaved) {
  const Result<ScratchFolder> folder = ScratchFolder::Create();
  ASSERT_TRUE(folder.ok());
  plan_.save.outputs = folder->path() + "/a.npz";
  const RunOutcome ran = Run({{"a", Gives({})}});
  EXPECT_TRUE(ran.faults.unsaved && !ran.faults.backend);
  EXPECT_THAT(ran.record.error, HasSubstr("no runner returned an output"));
  EXPECT_THAT(ran.record.saved, IsEmpty());
  EXPECT_FALSE(ResultsReader::Open(plan_.save.outputs).ok());
}

TEST_F(ExecutorTest, ValidationFindsNanOnALoneRunner) {
  plan_.validate = true;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const RunOutcome ran = Run({{"a", Gives({{"y", Floats({2}, {1, nan})}})}});
  EXPECT_TRUE(ran.faults.mismatch);
}

TEST_F(ExecutorTest, AComparisonThatWasAskedForNeedsTwoSides) {
  plan_.comparison_asked = true;
  const RunOutcome ran = Run({{"a", Adds(1)}});
  EXPECT_TRUE(ran.faults.incomplete);
  EXPECT_THAT(ran.record.faults,
              ElementsAre("--compare-outputs: there is only one side to compare"));
}

TEST_F(ExecutorTest, SizesThatNobodyGaveAreFound) {
  FakeModel picky;
  picky.inputs = {{"x", DType::kFloat32, std::vector<Dim>{{-1, "N"}, {-1, "W"}}}};
  picky.outputs = {{"y", DType::kFloat32, std::vector<Dim>{{-1, "N"}, {-1, "W"}}}};
  picky.infer = [](const TensorMap& feed, int64_t) {
    const Tensor& x = feed.front().tensor;
    if (x.dims()[1] % 4 != 0) return Refuses("W is no multiple of 4");
    return FakeAnswer{FakeAnswer::Kind::kOutputs, TensorMap{{"y", x}}};
  };
  const RunOutcome ran = Run({{"a", picky}, {"b", picky}});
  EXPECT_FALSE(ran.faults.any());
  EXPECT_THAT(IterationsOf(ran), ElementsAre(3, 3));
  ASSERT_EQ(ran.record.notes.size(), 1u);
  EXPECT_THAT(ran.record.notes[0], HasSubstr("'W' = 4"));
}

TEST_F(ExecutorTest, AnObjectOfTheCallerThatRaisesIsCalledOnce) {
  std::atomic<int> calls = 0;
  FakeModel raises;
  raises.inputs = {{"x", DType::kFloat32, std::vector<Dim>{{-1, "N"}}}};
  raises.outputs = raises.inputs;
  raises.infer = [&calls](const TensorMap&, int64_t) {
    ++calls;
    return Refuses("broken");
  };
  backend_options_ = {{std::string(kServedByCaller), "1"}};
  const RunOutcome ran = Run({{"a", raises}});
  EXPECT_TRUE(ran.faults.backend);
  EXPECT_THAT(ran.record.runners[0].failure, HasSubstr("broken"));
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace vernier
