// Runners that infer the feeds of several iterations at once: what a run reports and keeps is as
// with single feeds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "compare/functions/comparison.h"
#include "run/comparison/no_reports.h"
#include "run/executor.h"
#include "run/workers/fake_workers.h"
#include "run/workers/runner_devices.h"
#include "util/log/no_log.h"

namespace vernier {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing_workers::Dies;
using testing_workers::FakeAnswer;
using testing_workers::FakeModel;
using testing_workers::FakeWorkers;
using testing_workers::Floats;
using testing_workers::Refuses;
using testing_workers::RunnersOf;

using FirstElements = std::vector<std::pair<int64_t, std::vector<float>>>;

class BatchObserver final : public NoReports {
 public:
  void FeedMade(int64_t, const TensorMap& feed) override { fed.push_back(ValuesOf(feed)); }
  void OutputsMade(int64_t iteration, const IterationResult& result) override {
    made[result.runner_name].emplace_back(iteration, ValuesOf(result.outputs));
  }
  void PairCompared(const IterationComparison&) override { ++compared; }

  static std::vector<float> ValuesOf(const TensorMap& tensors) {
    const auto values = tensors.front().tensor.As<float>();
    return {values.begin(), values.end()};
  }

  std::vector<std::vector<float>> fed;
  std::map<std::string, FirstElements> made;
  int compared = 0;
};

TensorInfo RowsOfThree(const std::string& name, const std::string& symbol) {
  return {name, DType::kFloat32, std::vector<Dim>{{-1, symbol}, {3, {}}}};
}

class BatchRunsTest : public testing::Test {
 protected:
  static constexpr int64_t kIterations = 7;

  BatchRunsTest() {
    plan_.inputs.iterations = kIterations;
    plan_.inputs.shape_words = {"x:[2,3]"};
  }

  // y = x + `by` of any number of rows. Notes the rows of each inference.
  FakeModel AddsRows(float by, const std::string& symbol = "n") {
    FakeModel model;
    model.inputs = {RowsOfThree("x", "n")};
    model.outputs = {RowsOfThree("y", symbol)};
    model.infer = [this, by](const TensorMap& feed, int64_t) {
      const Tensor& x = feed.front().tensor;
      {
        const std::lock_guard lock(mutex_);
        rows_.push_back(x.dims().front());
      }
      std::vector<float> values;
      for (const float element : x.As<float>()) values.push_back(element + by);
      return FakeAnswer{FakeAnswer::Kind::kOutputs, TensorMap{{"y", Floats(x.dims(), values)}}};
    };
    return model;
  }

  RunOutcome Run(const std::map<std::string, FakeModel>& models, int64_t feeds,
                 int64_t workers = 1) {
    plan_.runners = RunnersOf(models);
    plan_.execution.batch_feeds = feeds;
    plan_.execution.workers_per_runner = workers;
    observer_ = BatchObserver();
    rows_.clear();
    FakeWorkers fakes(models, interrupted_, log_);
    Embedder caller;
    caller.workers = &fakes;
    RunOutcome ran = ExecuteRun(plan_, log_, observer_, interrupted_, &caller);
    environments_ = fakes.environments();
    return ran;
  }

  RunPlan plan_;
  std::atomic<int> interrupted_{0};
  NoLog log_;
  BatchObserver observer_;
  std::mutex mutex_;
  std::vector<int64_t> rows_;
  std::vector<std::vector<std::string>> environments_;
};

TEST_F(BatchRunsTest, EverythingIsAsWithSingleFeeds) {
  const std::map<std::string, FakeModel> models = {{"a", AddsRows(1)}, {"b", AddsRows(2)}};
  (void)Run(models, 1);
  const auto fed = observer_.fed;
  const auto made = observer_.made;
  ASSERT_EQ(made.at("b").size(), static_cast<size_t>(kIterations));
  ASSERT_EQ(made.at("b").front().second.size(), 6u);
  for (const int64_t feeds : {2, 3, 7, 9}) {
    for (const int64_t workers : {1, 2}) {
      const RunOutcome ran = Run(models, feeds, workers);
      EXPECT_EQ(observer_.fed, fed) << feeds;
      EXPECT_EQ(observer_.made, made) << feeds;
      EXPECT_EQ(observer_.compared, kIterations);
      const int64_t inferences = (kIterations + feeds - 1) / feeds;
      EXPECT_EQ(rows_.size(), static_cast<size_t>(2 * inferences));
      ASSERT_EQ(ran.record.runners.size(), 2u);
      for (const RunnerRecord& runner : ran.record.runners) {
        EXPECT_EQ(runner.iterations, kIterations);
        EXPECT_EQ(runner.failure, "");
      }
      EXPECT_EQ(ran.record.batch_feeds, feeds);
    }
  }
}

TEST_F(BatchRunsTest, TheLastInferenceIsAsShortAsItIs) {
  const RunOutcome ran = Run({{"a", AddsRows(1)}}, 3);
  EXPECT_THAT(rows_, ElementsAre(6, 6, 2));
  EXPECT_EQ(ran.record.error, "");
}

TEST_F(BatchRunsTest, EachIterationHasItsShareOfTheTime) {
  const RunOutcome ran = Run({{"a", AddsRows(1)}}, 4);
  ASSERT_TRUE(ran.record.runners[0].latency.has_value());
  EXPECT_NEAR(ran.record.runners[0].latency->first, 1e-4 / 4, 1e-9);
}

TEST_F(BatchRunsTest, SizesThatNobodyGaveAreFoundFirst) {
  plan_.inputs.shape_words.clear();
  const RunOutcome ran = Run({{"a", AddsRows(1)}, {"b", AddsRows(1)}}, 4);
  EXPECT_EQ(ran.record.error, "");
  for (const RunnerRecord& runner : ran.record.runners) EXPECT_EQ(runner.iterations, kIterations);
  EXPECT_EQ(observer_.made["a"].size(), static_cast<size_t>(kIterations));
}

TEST_F(BatchRunsTest, ACrashFailsItsRunnerInTheFirstIterationOfItsInference) {
  for (const FakeAnswer& answer : {Dies(), Refuses("no room")}) {
    FakeModel crashes = AddsRows(1);
    crashes.infer = [usual = crashes.infer, answer](const TensorMap& feed, int64_t run) {
      return run == 1 ? answer : usual(feed, run);
    };
    const RunOutcome ran = Run({{"a", crashes}, {"b", AddsRows(1)}}, 3);
    EXPECT_EQ(observer_.made["a"].size(), 3u);
    EXPECT_EQ(observer_.made["b"].size(), static_cast<size_t>(kIterations));
    EXPECT_EQ(ran.record.runners[0].iterations, 3);
    EXPECT_EQ(ran.record.runners[1].failure, "");
    EXPECT_TRUE(ran.faults.backend);
    if (answer.kind == FakeAnswer::Kind::kDeath) {
      EXPECT_THAT(ran.record.runners[0].failure, HasSubstr("running iterations 3 to 5"));
    }
  }
}

TEST_F(BatchRunsTest, EveryWorkerIsWarmedUpWithWholeBatches) {
  plan_.execution.warm_up = 2;
  const RunOutcome ran = Run({{"a", AddsRows(1)}}, 3, 2);
  ASSERT_EQ(rows_.size(), 2u * 2 + 3);
  EXPECT_THAT((std::vector<int64_t>(rows_.begin(), rows_.begin() + 4)), ElementsAre(6, 6, 6, 6));
  EXPECT_EQ(ran.record.runners[0].iterations, kIterations);
  EXPECT_EQ(observer_.made["a"].size(), static_cast<size_t>(kIterations));
}

TEST_F(BatchRunsTest, EveryDeviceHasAWorkerOfEveryRunner) {
  const std::map<std::string, FakeModel> models = {{"a", AddsRows(1)}, {"b", AddsRows(2)}};
  (void)Run(models, 1);
  const auto made = observer_.made;
  EXPECT_THAT(environments_, testing::Each(testing::IsEmpty()));
  plan_.execution.devices = {"cuda:1", "cuda:0"};
  for (const int64_t feeds : {1, 2}) {
    const RunOutcome ran = Run(models, feeds);
    EXPECT_EQ(observer_.made, made) << feeds;
    EXPECT_EQ(ran.record.error, "");
    const std::vector<std::string> first = {*DeviceVariable(plan_.execution, 0)};
    const std::vector<std::string> second = {*DeviceVariable(plan_.execution, 1)};
    EXPECT_NE(first, second);
    EXPECT_THAT(environments_, testing::UnorderedElementsAre(first, first, second, second));
  }
}

TEST_F(BatchRunsTest, AModelThatIsFixedIsRefused) {
  FakeModel fixed = AddsRows(1);
  fixed.inputs[0].shape->front() = {2, {}};
  RunOutcome ran = Run({{"a", AddsRows(1)}, {"b", fixed}}, 3);
  EXPECT_TRUE(ran.faults.usage);
  EXPECT_THAT(ran.record.error, AllOf(HasSubstr("--batch-feeds: b: input 'x'"), HasSubstr("(2, 3)"),
                                      HasSubstr("fixed")));
  FakeModel scalar = AddsRows(1);
  scalar.outputs[0].shape->clear();
  ran = Run({{"a", scalar}}, 3);
  EXPECT_THAT(ran.record.error, AllOf(HasSubstr("output 'y'"), HasSubstr("()")));
  FakeModel keeps = AddsRows(1);
  keeps.reset = [] {};
  ran = Run({{"a", keeps}}, 3);
  EXPECT_THAT(ran.record.error, HasSubstr("keeps state"));
  EXPECT_TRUE(ran.faults.usage);
}

// Six rows whatever is fed: what an inference of three feeds of two rows has.
TEST_F(BatchRunsTest, AnOutputThatHasAsManyRowsByChanceIsRefused) {
  FakeModel six = AddsRows(1, "");
  six.infer = [](const TensorMap&, int64_t) {
    return FakeAnswer{FakeAnswer::Kind::kOutputs,
                      TensorMap{{"y", Floats({6, 3}, std::vector<float>(18))}}};
  };
  RunOutcome ran = Run({{"a", six}}, 3);
  EXPECT_TRUE(ran.faults.usage);
  EXPECT_THAT(ran.record.error, AllOf(HasSubstr("output 'y'"), HasSubstr("(6, 3)"),
                                      HasSubstr("its first dimension is not the batch")));
  EXPECT_TRUE(observer_.made.empty());
  // Where it grows, one more inference has shown that.
  ran = Run({{"a", AddsRows(1, "")}}, 3);
  EXPECT_EQ(ran.record.error, "");
  EXPECT_THAT(rows_, ElementsAre(2, 6, 6, 2));
}

TEST_F(BatchRunsTest, RowsThatAreLostAreRefusedWhereTheModelDeclaresThem) {
  FakeModel loses = AddsRows(1);
  loses.infer = [](const TensorMap&, int64_t) {
    return FakeAnswer{FakeAnswer::Kind::kOutputs,
                      TensorMap{{"y", Floats({1, 3}, std::vector<float>(3))}}};
  };
  const RunOutcome ran = Run({{"a", loses}}, 3);
  EXPECT_TRUE(ran.faults.usage);
  EXPECT_THAT(ran.record.error,
              AllOf(HasSubstr("output 'y'"), HasSubstr("(1, 3) for 3 feeds of 2 rows")));
}

}  // namespace
}  // namespace vernier
