// Runners for tests of checks: fake workers, and everything that a check needs beside them.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <string>

#include "check/runners/probe.h"
#include "run/workers/fake_workers.h"
#include "util/log/no_log.h"
#include "vernier/run_plan.h"

namespace vernier::testing_workers {

/// Runners named "a", "b", ..., each of its own model.
class FakeRunners : public testing::Test {
 protected:
  void Make(const std::map<std::string, FakeModel>& models) {
    plan_.runners = RunnersOf(models);
    workers_ = std::make_unique<FakeWorkers>(models, interrupted_, log_);
    caller_.workers = workers_.get();
  }

  RunPlan plan_;
  std::atomic<int> interrupted_{0};
  NoLog log_;
  std::unique_ptr<FakeWorkers> workers_;
  Embedder caller_;
  const Probe::Shared shared_{plan_.execution, interrupted_, log_, &caller_};
};

}  // namespace vernier::testing_workers
