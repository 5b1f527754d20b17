// The phases of a run, one at a time, with workers that do as each test says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compare/functions/comparison.h"
#include "run/comparison/comparison_run.h"
#include "run/comparison/no_reports.h"
#include "run/phases/ending.h"
#include "run/phases/feeding.h"
#include "run/phases/inferring.h"
#include "run/phases/sides.h"
#include "run/steps/step_runs_for_test.h"
#include "run/workers/fake_workers.h"
#include "util/files/scratch_folder.h"
#include "util/log/no_log.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing_workers::Adds;
using testing_workers::Dies;
using testing_workers::FakeAnswer;
using testing_workers::FakeModel;
using testing_workers::FakeWorkers;
using testing_workers::InRun;
using testing_workers::RunnersOf;

class SilentObserver final : public NoReports {
 public:
  void PairCompared(const IterationComparison&) override { ++compared; }
  void Progress(int64_t, int64_t) override {
    if (when_done) when_done();
  }

  std::function<void()> when_done;
  int compared = 0;
};

// Models named "a", "b", ..., one runner each, of the same backend, and what they are compared by.
class PhasesTest : public testing::Test {
 protected:
  PhasesTest() { plan_.inputs.iterations = 3; }

  void Prepare(const std::map<std::string, FakeModel>& models) {
    plan_.runners = RunnersOf(models);
    workers_ = std::make_unique<FakeWorkers>(models, interrupted_, log_);
    caller_.workers = workers_.get();
    live_ = std::make_unique<InferenceScheduler>(plan_, interrupted_, log_, &caller_);
    Result<RunSides> sides = OpenSides(plan_, *live_, log_);
    ASSERT_TRUE(sides.ok()) << sides.status().message();
    sides_ = std::make_unique<RunSides>(*std::move(sides));
    comparisons_ = std::make_unique<ComparisonRun>(plan_, sides_->pairs, Instruments{},
                                                   ComparisonParts{}, observer_);
  }

  void Open(const std::map<std::string, FakeModel>& models) {
    Prepare(models);
    live_->Start();
    for (size_t i = 0; i < live_->size(); ++i) EXPECT_TRUE(live_->Open(i).ok());
  }

  LiveSide Live() { return {*live_, {}, bounds_}; }
  Comparing ToCompare() { return {sides_->loaded, *comparisons_, nullptr}; }

  std::vector<float> NextFeed(LiveResults& made) {
    const Result<std::optional<TensorMap>> feed = made.feeds->Next();
    EXPECT_TRUE(feed.ok() && *feed);
    const auto values = (*feed)->front().tensor.As<float>();
    return {values.begin(), values.end()};
  }

  RunPlan plan_;
  std::atomic<int> interrupted_{0};
  NoLog log_;
  SilentObserver observer_;
  RunContext run_{plan_, log_, observer_, interrupted_};
  PairErrorBounds bounds_{plan_.compare};
  std::unique_ptr<FakeWorkers> workers_;
  Embedder caller_;
  std::unique_ptr<InferenceScheduler> live_;
  std::unique_ptr<RunSides> sides_;
  std::unique_ptr<ComparisonRun> comparisons_;
};

// Runs that save their outputs, of models that count their inferences.
class ResumedRunTest : public PhasesTest {
 protected:
  ResumedRunTest() : folder_(ScratchFolder::Create()) {
    EXPECT_TRUE(folder_.ok());
    plan_.save.outputs = folder_->path() + "/outputs.npz";
  }

  FakeModel Model(float by) {
    return Adds(by, [this](int64_t) -> std::optional<FakeAnswer> {
      ++inferred_;
      return std::nullopt;
    });
  }

  Status Run(const std::map<std::string, FakeModel>& models, int64_t iterations) {
    plan_.inputs.iterations = iterations;
    Prepare(models);
    live_->Start();
    LiveResults made = InferStreaming(run_, Live(), ToCompare());
    RunEnding ending;
    ending.aborted = !made.status.ok();
    FinishLive(run_, *live_, made, ending);
    return made.status;
  }

  // Says the sum of what it was fed since it was reset.
  FakeModel Sums() {
    FakeModel model = testing_workers::SumsInside();
    model.infer = [this, infer = model.infer](const TensorMap& feed, int64_t run) {
      ++inferred_;
      return infer(feed, run);
    };
    return model;
  }

  Result<ScratchFolder> folder_;
  std::atomic<int> inferred_{0};
};

TEST_F(PhasesTest, RowsNeedAPair) {
  plan_.save.rows = "rows.jsonl";
  EXPECT_EQ(OpenRows(plan_, {}, log_).status().code(), StatusCode::kInvalidArgument);
  plan_.save.rows.clear();
  const Result<std::unique_ptr<RowWriter>> none = OpenRows(plan_, {}, log_);
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(*none, nullptr);
}

TEST_F(PhasesTest, PairsAreNamedForPeople) {
  Prepare({{"a", Adds(1)}, {"b", Adds(1)}});
  ASSERT_EQ(sides_->pairs.pairs.size(), 1u);
  EXPECT_EQ(sides_->pairs.pairs[0].label(), "a vs. b");
}

TEST_F(PhasesTest, ANameThatNoOutputHasIsAnErrorOnceAllAreKnown) {
  plan_.compare->atol.entries = {{"z", 1.0}};
  Open({{"a", Adds(1)}});
  EXPECT_EQ(CheckNames(plan_, *live_, sides_->loaded).code(), StatusCode::kNotFound);
  plan_.compare->atol.entries = {{"y", 1.0}};
  EXPECT_TRUE(CheckNames(plan_, *live_, sides_->loaded).ok());
}

TEST_F(PhasesTest, FeedsBeginAgain) {
  Open({{"a", Adds(1)}});
  LiveResults made;
  ASSERT_TRUE(BeginFeeds(run_, Live(), made).ok());
  const std::vector<float> first = NextFeed(made);
  EXPECT_NE(NextFeed(made), first);
  ASSERT_TRUE(BeginFeeds(run_, Live(), made).ok());
  EXPECT_EQ(NextFeed(made), first);
}

TEST_F(PhasesTest, AWarmUpUsesNoFeedUpAndCountsNothing) {
  plan_.execution.warm_up = 2;
  Open({{"a", Adds(1)}});
  LiveResults made;
  ASSERT_TRUE(BeginFeeds(run_, Live(), made).ok());
  const std::vector<float> first = NextFeed(made);
  ASSERT_TRUE(BeginFeeds(run_, Live(), made).ok());
  ASSERT_TRUE(WarmUp(run_, Live(), 0, made).ok());
  EXPECT_EQ(NextFeed(made), first);
  EXPECT_EQ((*live_)[0].iterations(), 0);
}

TEST_F(PhasesTest, AWarmUpThatKillsItsRunnerUsesNoFeedUp) {
  plan_.execution.warm_up = 2;
  plan_.execution.use_subprocess = true;
  Open({{"a", Adds(1, InRun(0, Dies()))}, {"b", Adds(1)}});
  LiveResults made;
  ASSERT_TRUE(BeginFeeds(run_, Live(), made).ok());
  const std::vector<float> first = NextFeed(made);
  ASSERT_TRUE(BeginFeeds(run_, Live(), made).ok());
  ASSERT_TRUE(WarmUp(run_, Live(), 0, made).ok());
  EXPECT_FALSE((*live_)[0].alive());
  EXPECT_EQ(NextFeed(made), first);
}

TEST_F(PhasesTest, RunnersThatTakeTurnsAreComparedFromTheirFiles) {
  plan_.execution.sequential = true;
  Prepare({{"a", Adds(1)}, {"b", Adds(1)}});
  const LiveResults made = InferInTurn(run_, Live(), ToCompare());
  EXPECT_TRUE(made.status.ok()) << made.status.message();
  EXPECT_EQ(made.iterations, 3);
  ASSERT_NE(made.spill, nullptr);
  const Result<IterationOutputs> last = made.spill->Read(2);
  ASSERT_TRUE(last.ok());
  EXPECT_EQ(last->size(), 2u);
  EXPECT_TRUE(comparisons_->CompareKept().ok());
  EXPECT_EQ(observer_.compared, 3);
}

TEST_F(PhasesTest, WhatWasMadeBeforeASignalStays) {
  observer_.when_done = [this] { interrupted_ = 2; };
  Prepare({{"a", Adds(1)}, {"b", Adds(1)}});
  live_->Start();
  LiveResults made = InferStreaming(run_, Live(), ToCompare());
  EXPECT_EQ(made.status.code(), StatusCode::kCancelled);
  EXPECT_EQ(made.iterations, 1);
  RunEnding ending;
  ending.aborted = true;
  ReportFailure(run_, made.status, made, ending);
  FinishLive(run_, *live_, made, ending);
  EXPECT_EQ(ending.outcome.faults.signal, 2);
  EXPECT_THAT(ending.outcome.record.faults,
              ElementsAre("the run was interrupted in iteration 1 of 3"));
  ASSERT_EQ(ending.outcome.record.runners.size(), 2u);
  EXPECT_EQ(ending.outcome.record.runners[0].iterations, 1);
}

TEST_F(PhasesTest, WithoutARunnerNothingIsFed) {
  FakeModel broken = Adds(1);
  broken.open = BackendError("operator Foo is unknown");
  Prepare({{"a", broken}});
  live_->Start();
  const LiveResults made = InferStreaming(run_, Live(), ToCompare());
  EXPECT_TRUE(made.status.ok());
  EXPECT_EQ(made.feeds, nullptr);
  EXPECT_FALSE(made.savers);
}

TEST_F(PhasesTest, SavedOutputsAloneAreComparedToTheEndOfTheShortest) {
  const Result<ScratchFolder> folder = ScratchFolder::Create();
  ASSERT_TRUE(folder.ok());
  std::vector<std::string> files;
  for (const int64_t iterations : {3, 2}) {
    plan_.inputs.iterations = iterations;
    plan_.save.outputs = folder->path() + "/" + std::to_string(iterations) + ".npz";
    plan_.runners.clear();
    Prepare({{"a", Adds(1)}});
    live_->Start();
    LiveResults made = InferStreaming(run_, Live(), ToCompare());
    RunEnding ending;
    FinishLive(run_, *live_, made, ending);
    EXPECT_EQ(ending.outcome.record.saved.size(), 1u);
    files.push_back(plan_.save.outputs);
  }
  plan_.load_outputs = files;
  plan_.runners.clear();
  plan_.save.outputs.clear();
  Prepare({});
  EXPECT_TRUE(CompareLoaded(run_, ToCompare()).ok());
  EXPECT_TRUE(comparisons_->CompareKept().ok());
  EXPECT_EQ(observer_.compared, 2);
}

// The first, the last that was saved, and the new one.
TEST_F(ResumedRunTest, OnlyTheEndsOfWhatWasSavedAreInferredAgain) {
  EXPECT_TRUE(Run({{"a", Model(1)}}, 4).ok());
  EXPECT_EQ(inferred_.load(), 4);
  plan_.save.resume = true;
  EXPECT_TRUE(Run({{"a", Model(1)}}, 5).ok());
  EXPECT_EQ(inferred_.load(), 4 + 3);
  EXPECT_EQ((*live_)[0].iterations(), 5);
}

TEST_F(ResumedRunTest, SideBySideTooOnlyTheEndsAreInferredAgain) {
  plan_.execution.parallel = true;
  EXPECT_TRUE(Run({{"a", Model(1)}, {"b", Model(1)}}, 4).ok());
  EXPECT_EQ(inferred_.load(), 2 * 4);
  plan_.save.resume = true;
  EXPECT_TRUE(Run({{"a", Model(1)}, {"b", Model(1)}}, 5).ok());
  EXPECT_EQ(inferred_.load(), 2 * (4 + 3));
}

TEST_F(ResumedRunTest, WithSeveralWorkersTooOnlyTheEndsAreInferredAgain) {
  plan_.execution.workers_per_runner = 2;
  EXPECT_TRUE(Run({{"a", Model(1)}, {"b", Model(1)}}, 4).ok());
  EXPECT_EQ(inferred_.load(), 2 * 4);
  plan_.save.resume = true;
  EXPECT_TRUE(Run({{"a", Model(1)}, {"b", Model(1)}}, 5).ok());
  EXPECT_EQ(inferred_.load(), 2 * (4 + 3));
  EXPECT_EQ((*live_)[0].iterations(), 5);
}

TEST_F(ResumedRunTest, AStateInsideGoesOnWithASequence) {
  plan_.steps.steps = 4;
  EXPECT_TRUE(Run({{"a", Sums()}}, 2).ok());
  EXPECT_EQ(inferred_.load(), 8);
  plan_.save.resume = true;
  EXPECT_TRUE(Run({{"a", Sums()}}, 3).ok());
  EXPECT_TRUE((*live_)[0].alive()) << (*live_)[0].failure().message();
  // The first sequence, the one with the last step that was saved, and the new one.
  EXPECT_EQ(inferred_.load(), 8 + 4 + 4 + 4);
  EXPECT_EQ((*live_)[0].iterations(), 12);
}

TEST_F(ResumedRunTest, WhatWasSavedByAnotherModelIsNotResumed) {
  EXPECT_TRUE(Run({{"a", Model(1)}}, 3).ok());
  plan_.save.resume = true;
  EXPECT_EQ(Run({{"a", Model(2)}}, 3).code(), StatusCode::kMalformed);
}

TEST_F(PhasesTest, WhatCannotBeSavedIsAFaultOfItsOwn) {
  RunEnding ending;
  ReportFailure(run_, IoError("the disk is full"), {}, ending);
  EXPECT_TRUE(ending.unsaved);
  EXPECT_TRUE(ending.outcome.faults.unsaved);
  EXPECT_EQ(ending.outcome.record.error, "the disk is full");
}

TEST_F(PhasesTest, SizesThatSomeRefuseAreAFaultOfTheRun) {
  Prepare({});
  LiveResults made;
  made.refused_sizes = "b takes no size of 1";
  RunEnding ending;
  FinishLive(run_, *live_, made, ending);
  EXPECT_TRUE(ending.outcome.faults.backend);
  EXPECT_THAT(ending.outcome.record.faults, ElementsAre(HasSubstr("b takes no size of 1")));
}

}  // namespace
}  // namespace vernier
