// The parts that live runs are made of, one at a time, with workers that do as a test says.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "run/lanes/held_results.h"
#include "run/live/live_steps.h"
#include "run/live/runner_feeds.h"
#include "run/live/runner_opener.h"
#include "run/live/runner_reports.h"
#include "run/maps/name_maps.h"
#include "run/workers/device_outputs.h"
#include "run/workers/fake_workers.h"
#include "util/log/recording_logger.h"

namespace vernier::testing_workers {

/// A runner for each model, called like it.
struct LiveParts {
  explicit LiveParts(const std::map<std::string, FakeModel>& models, RunPlan given = {})
      : plan(std::move(given)), workers(models, interrupted, log) {
    caller.workers = &workers;
    for (const RunnerPlan& runner : plan.runners) runners.emplace_back(runner);
  }

  /// A plan of runners of these models.
  static RunPlan PlanOf(const std::map<std::string, FakeModel>& models) {
    RunPlan plan;
    plan.runners = RunnersOf(models);
    return plan;
  }

  Status Open(size_t index) {
    opener.Start(index, runners[index]);
    if (!runners[index].alive()) return {};
    return opener.Open(index, runners[index], runners[index].plan().model, {}, log);
  }
  void OpenAll() {
    for (size_t i = 0; i < runners.size(); ++i) EXPECT_TRUE(Open(i).ok());
  }

  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const RunnerPlan& runner : plan.runners) names.push_back(runner.name);
    return names;
  }

  RunPlan plan;
  std::atomic<int> interrupted{0};
  RecordingLogger log;
  FakeWorkers workers;
  Embedder caller;
  RunnerReports reports{log};
  RunnerOpener opener{plan, interrupted, reports, &caller};
  std::deque<RunnerSession> runners;
  DeviceOutputs devices{log};
  LiveSteps steps{plan, runners, reports, devices, log, &caller};
  RunnerFeeds feeds{plan, InputMaps::Create(plan.inputs.map_words, Names()), runners, steps,
                    reports};
  HeldResults held;
};

/// "x" of four elements that are all this.
inline TensorMap FeedOfFour(float value) {
  return {{"x", Floats({4}, {value, value, value, value})}};
}

}  // namespace vernier::testing_workers
