#include "run/live/runner_replicas.h"

#include <gtest/gtest.h>

#include <atomic>

#include "run/live/live_parts_for_test.h"

namespace vernier {
namespace {

using testing_workers::Adds;
using testing_workers::FakeAnswer;
using testing_workers::FakeModel;
using testing_workers::FeedOfFour;
using testing_workers::LiveParts;
using testing_workers::Refuses;

RunPlan PlanOfThreeWorkers(const std::map<std::string, FakeModel>& models) {
  RunPlan plan = LiveParts::PlanOf(models);
  plan.execution.workers_per_runner = 3;
  return plan;
}

TEST(RunnerReplicasTest, EveryLaneHasAWorkerOfEveryRunner) {
  const std::map<std::string, FakeModel> models = {{"a", Adds(1)}, {"b", Adds(2)}};
  LiveParts parts(models, PlanOfThreeWorkers(models));
  parts.OpenAll();
  RunnerReplicas replicas(parts.plan, parts.runners, parts.opener, parts.reports);
  ASSERT_TRUE(replicas.Open({}).ok());
  EXPECT_EQ(replicas.lanes(), 3U);
  EXPECT_EQ(parts.workers.started(), 6U);
  EXPECT_EQ(&replicas.Of(0, 1), &parts.runners[1]);
  EXPECT_TRUE(replicas.Of(2, 1).opened());
  EXPECT_FALSE(replicas.Of(1, 0).shared_worker_with(replicas.Of(2, 0)));
  EXPECT_TRUE(replicas.Close(1).ok());
}

TEST(RunnerReplicasTest, ARunnerThatIsNotOpenHasNoFurtherWorker) {
  std::map<std::string, FakeModel> models = {{"a", Adds(1)}, {"b", Adds(2)}};
  models["a"].open = BackendError("operator Foo is unknown");
  LiveParts parts(models, PlanOfThreeWorkers(models));
  parts.OpenAll();
  RunnerReplicas replicas(parts.plan, parts.runners, parts.opener, parts.reports);
  EXPECT_TRUE(replicas.Open({}).ok());
  EXPECT_EQ(parts.workers.started(), 4U);
}

TEST(RunnerReplicasTest, WhatFailsInAnotherWorkerFailsItsRunner) {
  std::atomic<int> inferred = 0;
  const FakeModel refuses = Adds(1, [&](int64_t) {
    return ++inferred == 2 ? std::optional<FakeAnswer>(Refuses("no room")) : std::nullopt;
  });
  const std::map<std::string, FakeModel> models = {{"a", refuses}};
  LiveParts parts(models, PlanOfThreeWorkers(models));
  parts.OpenAll();
  RunnerReplicas replicas(parts.plan, parts.runners, parts.opener, parts.reports);
  ASSERT_TRUE(replicas.Open({}).ok());
  const Result<TensorBlock> feed = EncodeTensors(FeedOfFour(1));
  EXPECT_TRUE(replicas.Warm(0, *feed, -1).ok());
  EXPECT_EQ(parts.runners[0].failure().message(), "worker 3 of 3: no room");
  EXPECT_EQ(inferred.load(), 2);
}

}  // namespace
}  // namespace vernier
