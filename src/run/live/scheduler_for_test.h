// A scheduler of inferences over fake workers, for its tests and those of what uses it.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <string>

#include "run/live/inference_scheduler.h"
#include "run/workers/fake_workers.h"
#include "util/log/no_log.h"

namespace vernier {

class SchedulerTest : public testing::Test {
 protected:
  /// Opens models named "a", "b", ..., one runner each, that share a worker.
  InferenceScheduler& Open(const std::map<std::string, testing_workers::FakeModel>& models) {
    plan_.runners = testing_workers::RunnersOf(models);
    workers_ = std::make_unique<testing_workers::FakeWorkers>(models, interrupted_, log_);
    caller_.workers = workers_.get();
    live_ = std::make_unique<InferenceScheduler>(plan_, interrupted_, log_, &caller_);
    live_->Start();
    for (size_t i = 0; i < live_->size(); ++i) EXPECT_TRUE(live_->Open(i).ok());
    return *live_;
  }

  RunPlan plan_;
  std::atomic<int> interrupted_{0};
  NoLog log_;
  std::unique_ptr<testing_workers::FakeWorkers> workers_;
  Embedder caller_;
  std::unique_ptr<InferenceScheduler> live_;
};

}  // namespace vernier
