// Runners with several workers: what a run tells and keeps is as with one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compare/functions/comparison.h"
#include "run/comparison/no_reports.h"
#include "run/executor.h"
#include "run/workers/fake_workers.h"
#include "util/log/no_log.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing_workers::Adds;
using testing_workers::Dies;
using testing_workers::FakeAnswer;
using testing_workers::FakeModel;
using testing_workers::FakeWorkers;
using testing_workers::Hangs;
using testing_workers::Refuses;
using testing_workers::RunnersOf;

// What the first element of `x` and of `y` was in each iteration.
class LaneObserver final : public NoReports {
 public:
  void FeedMade(int64_t, const TensorMap& feed) override {
    fed.push_back(feed.front().tensor.As<float>().front());
  }
  void OutputsMade(int64_t iteration, const IterationResult& result) override {
    made[result.runner_name].emplace_back(iteration,
                                          result.outputs.front().tensor.As<float>().front());
  }
  void PairCompared(const IterationComparison&) override { ++compared; }
  void Progress(int64_t done, int64_t) override {
    if (when_done) when_done(done);
  }

  std::function<void(int64_t done)> when_done;
  std::vector<float> fed;
  std::map<std::string, std::vector<std::pair<int64_t, float>>> made;
  int compared = 0;
};

class LaneRunsTest : public testing::Test {
 protected:
  static constexpr int64_t kIterations = 7;

  LaneRunsTest() { plan_.inputs.iterations = kIterations; }

  RunOutcome Run(const std::map<std::string, FakeModel>& models, int64_t workers,
                 double timeout_s = 10) {
    plan_.runners = RunnersOf(models);
    plan_.execution.workers_per_runner = workers;
    observer_.fed.clear();
    observer_.made.clear();
    observer_.compared = 0;
    FakeWorkers fakes(models, interrupted_, log_, timeout_s);
    Embedder caller;
    caller.workers = &fakes;
    RunOutcome ran = ExecuteRun(plan_, log_, observer_, interrupted_, &caller);
    started_ = fakes.started();
    return ran;
  }

  // What x begins with in each iteration: the same in every run.
  std::vector<float> Fed() {
    (void)Run({{"a", Adds(0)}}, 1);
    return observer_.fed;
  }

  // Adds(by), but for feeds that begin with `x`.
  static FakeModel AddsBut(float by, float x, const FakeAnswer& answer) {
    FakeModel model = Adds(by);
    model.infer = [usual = model.infer, x, answer](const TensorMap& feed, int64_t run) {
      return feed.front().tensor.As<float>().front() == x ? answer : usual(feed, run);
    };
    return model;
  }

  RunPlan plan_;
  std::atomic<int> interrupted_{0};
  NoLog log_;
  LaneObserver observer_;
  size_t started_ = 0;
};

TEST_F(LaneRunsTest, EverythingIsAsWithOneWorker) {
  const std::map<std::string, FakeModel> models = {{"a", Adds(1)}, {"b", Adds(2)}};
  (void)Run(models, 1);
  const auto fed = observer_.fed;
  const auto made = observer_.made;
  ASSERT_EQ(made.at("b").size(), static_cast<size_t>(kIterations));
  for (const int64_t workers : {2, 3, 7, 9}) {
    const RunOutcome ran = Run(models, workers);
    EXPECT_EQ(started_, static_cast<size_t>(2 * workers));
    EXPECT_EQ(observer_.fed, fed) << workers;
    EXPECT_EQ(observer_.made, made) << workers;
    EXPECT_EQ(observer_.compared, kIterations);
    ASSERT_EQ(ran.record.runners.size(), 2u);
    for (const RunnerRecord& runner : ran.record.runners) {
      EXPECT_EQ(runner.iterations, kIterations);
      EXPECT_EQ(runner.failure, "");
    }
  }
}

TEST_F(LaneRunsTest, IterationsAreInferredAtTheSameTime) {
  std::mutex mutex;
  std::condition_variable changed;
  int inside = 0;
  int most = 0;
  FakeModel meets = Adds(1);
  meets.infer = [&, usual = meets.infer](const TensorMap& feed, int64_t run) {
    {
      std::unique_lock lock(mutex);
      most = std::max(most, ++inside);
      changed.notify_all();
      // Each waits for all three to have met once.
      (void)changed.wait_for(lock, std::chrono::seconds(20), [&] { return most == 3; });
      --inside;
    }
    return usual(feed, run);
  };
  (void)Run({{"a", meets}}, 3, 60);
  EXPECT_EQ(most, 3);
  EXPECT_EQ(observer_.made["a"].size(), static_cast<size_t>(kIterations));
}

TEST_F(LaneRunsTest, ACrashFailsItsRunnerInItsIterationAlone) {
  const std::vector<float> fed = Fed();
  for (const FakeAnswer& answer : {Dies(), Refuses("no room")}) {
    const RunOutcome ran = Run({{"a", AddsBut(1, fed[3], answer)}, {"b", Adds(1)}}, 2);
    EXPECT_EQ(observer_.made["a"].size(), 3u);
    EXPECT_EQ(observer_.made["b"].size(), static_cast<size_t>(kIterations));
    EXPECT_NE(ran.record.runners[0].failure, "");
    EXPECT_EQ(ran.record.runners[0].iterations, 3);
    EXPECT_EQ(ran.record.runners[1].failure, "");
    EXPECT_TRUE(ran.faults.backend);
  }
}

TEST_F(LaneRunsTest, TheMessageNamesTheIteration) {
  const std::vector<float> fed = Fed();
  const RunOutcome ran = Run({{"a", AddsBut(1, fed[4], Dies())}}, 3);
  EXPECT_THAT(ran.record.runners[0].failure, HasSubstr("running iteration 4"));
}

// With --fail-fast the run ends after the iteration before.
TEST_F(LaneRunsTest, WhatIsNotWantedAnyMoreFailsNobody) {
  const std::vector<float> fed = Fed();
  plan_.compare->fail_fast = true;
  for (const FakeAnswer& answer : {Dies(), Hangs(), Refuses("no room")}) {
    FakeModel b = AddsBut(1, fed[2], answer);
    b.infer = [usual = b.infer, x = fed[1]](const TensorMap& feed, int64_t run) {
      const bool differs = feed.front().tensor.As<float>().front() == x;
      return differs ? Adds(5).infer(feed, run) : usual(feed, run);
    };
    const RunOutcome ran = Run({{"a", Adds(1)}, {"b", b}}, 3, 0.3);
    EXPECT_TRUE(ran.faults.mismatch);
    EXPECT_FALSE(ran.faults.backend);
    EXPECT_EQ(observer_.made["b"].size(), 2u);
    for (const RunnerRecord& runner : ran.record.runners) EXPECT_EQ(runner.failure, "");
    EXPECT_EQ(ran.record.error, "");
  }
}

TEST_F(LaneRunsTest, EveryWorkerIsWarmedUp) {
  std::atomic<int> inferred = 0;
  plan_.execution.warm_up = 2;
  const FakeModel counts = Adds(1, [&](int64_t) -> std::optional<FakeAnswer> {
    ++inferred;
    return std::nullopt;
  });
  const RunOutcome ran = Run({{"a", counts}}, 3);
  EXPECT_EQ(inferred.load(), 3 * 2 + kIterations);
  EXPECT_EQ(ran.record.runners[0].iterations, kIterations);
}

TEST_F(LaneRunsTest, FewerIterationsThanWorkers) {
  plan_.inputs.iterations = 2;
  (void)Run({{"a", Adds(1)}, {"b", Adds(1)}}, 5);
  EXPECT_EQ(observer_.made["a"].size(), 2u);
  EXPECT_EQ(observer_.compared, 2);
}

TEST_F(LaneRunsTest, ASignalEndsTheRunBetweenIterations) {
  observer_.when_done = [this](int64_t done) {
    if (done == 2) interrupted_ = 2;
  };
  const RunOutcome ran = Run({{"a", Adds(1)}, {"b", Adds(1)}}, 3);
  EXPECT_EQ(ran.faults.signal, 2);
  // And those that were inferred before it came.
  EXPECT_GE(observer_.made["a"].size(), 2u);
  EXPECT_EQ(observer_.made["a"].size(), observer_.made["b"].size());
  for (const RunnerRecord& runner : ran.record.runners) EXPECT_THAT(runner.failure, IsEmpty());
}

TEST_F(LaneRunsTest, AModelThatCannotBeOpenedIsAFailureOnce) {
  FakeModel broken = Adds(1);
  broken.open = BackendError("operator Foo is unknown");
  const RunOutcome ran = Run({{"a", broken}, {"b", Adds(1)}}, 2);
  EXPECT_THAT(ran.record.runners[0].failure, HasSubstr("operator Foo"));
  EXPECT_EQ(observer_.made["b"].size(), static_cast<size_t>(kIterations));
  EXPECT_EQ(started_, 3u);  // the runner that failed has no further worker
}

}  // namespace
}  // namespace vernier
