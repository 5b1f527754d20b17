// Runs whose feeds are sequences of steps, with fake runners.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "run/comparison/no_reports.h"
#include "run/executor.h"
#include "run/workers/fake_workers.h"
#include "util/log/no_log.h"

namespace vernier::testing_workers {

// What the first element of `y` and of `x` was in each iteration.
class StepObserver final : public NoReports {
 public:
  void FeedMade(int64_t, const TensorMap& feed) override {
    fed.push_back(Find(feed, "x")->As<float>().front());
  }
  void OutputsMade(int64_t, const IterationResult& result) override {
    made[result.runner_name].push_back(Find(result.outputs, "y")->As<float>().front());
  }
  void Progress(int64_t done, int64_t total) override { progress = {done, total}; }

  std::vector<float> fed;
  std::map<std::string, std::vector<float>> made;
  std::pair<int64_t, int64_t> progress;
};

// y and state_n = factor * state + x + error, where `error` is called with the inference's number.
inline FakeModel Recurs(float factor, std::function<float(int64_t run)> error = {}) {
  FakeModel model;
  model.inputs = {FloatInfo("x", {2}), FloatInfo("state", {2})};
  model.outputs = {FloatInfo("y", {2}), FloatInfo("state_n", {2})};
  model.infer = [factor, error](const TensorMap& feed, int64_t run) {
    const auto x = Find(feed, "x")->As<float>();
    const auto state = Find(feed, "state")->As<float>();
    std::vector<float> next;
    for (size_t i = 0; i < x.size(); ++i) {
      next.push_back(factor * state[i] + x[i] + (error ? error(run) : 0));
    }
    return FakeAnswer{FakeAnswer::Kind::kOutputs,
                      TensorMap{{"y", Floats({2}, next)}, {"state_n", Floats({2}, next)}}};
  };
  return model;
}

// y = the sum of all x since it was reset.
inline FakeModel SumsInside() {
  FakeModel model;
  model.inputs = {FloatInfo("x", {2})};
  model.outputs = {FloatInfo("y", {2})};
  auto sums = std::make_shared<std::vector<float>>(2, 0.0f);
  model.infer = [sums](const TensorMap& feed, int64_t) {
    const auto x = Find(feed, "x")->As<float>();
    for (size_t i = 0; i < x.size(); ++i) (*sums)[i] += x[i];
    return FakeAnswer{FakeAnswer::Kind::kOutputs, TensorMap{{"y", Floats({2}, *sums)}}};
  };
  model.reset = [sums] { sums->assign(2, 0.0f); };
  return model;
}

class StepRunsTest : public testing::Test {
 protected:
  StepRunsTest() {
    plan_.inputs.iterations = 2;
    plan_.inputs.range_words = {"[1,2]"};
    plan_.steps.steps = 4;
    plan_.steps.feed_back = {"auto"};
    plan_.execution.use_subprocess = true;
  }

  RunOutcome Run(const std::map<std::string, FakeModel>& models) {
    plan_.runners = RunnersOf(models);
    FakeWorkers workers(models, interrupted_, log_);
    Embedder caller;
    caller.workers = &workers;
    return ExecuteRun(plan_, log_, observer_, interrupted_, &caller);
  }

  // Step t of a sequence has added its x t + 1 times, and the next begins with zeros.
  void ExpectSums(const std::string& runner) {
    const std::vector<float>& made = observer_.made[runner];
    ASSERT_EQ(made.size(), 8u);
    for (size_t i = 0; i < made.size(); ++i) {
      const float x = observer_.fed[i];
      EXPECT_NEAR(made[i], x * static_cast<float>(i % 4 + 1), 1e-5) << i;
    }
    EXPECT_NE(observer_.fed[3], observer_.fed[4]);
  }

  static const OutputRecord& Output(const RunOutcome& ran, const std::string& name) {
    const std::vector<OutputRecord>& outputs = ran.record.pairs.front().outputs;
    return *std::ranges::find_if(outputs, [&](const auto& output) { return output.name == name; });
  }

  RunPlan plan_;
  std::atomic<int> interrupted_{0};
  NoLog log_;
  StepObserver observer_;
};

}  // namespace vernier::testing_workers
