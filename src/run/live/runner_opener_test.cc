#include "run/live/runner_opener.h"

#include <gtest/gtest.h>

#include "run/live/live_parts_for_test.h"

namespace vernier {
namespace {

using testing_workers::Adds;
using testing_workers::FakeModel;
using testing_workers::LiveParts;

using FakeModels = std::map<std::string, FakeModel>;

TEST(RunnerOpenerTest, RunnersOfOneBackendShareAWorker) {
  const FakeModels models = {{"a", Adds(1)}, {"b", Adds(2)}};
  LiveParts parts(models, LiveParts::PlanOf(models));
  parts.OpenAll();
  EXPECT_EQ(parts.workers.started(), 1U);
  EXPECT_TRUE(parts.runners[0].shared_worker_with(parts.runners[1]));
  EXPECT_EQ(parts.runners[1].session().inputs.front().name, "x");
  EXPECT_EQ(parts.runners[1].backend().framework_version, "2.0");
}

TEST(RunnerOpenerTest, ABackendThatIsNotThereFailsItsRunner) {
  const FakeModels models = {{"a", Adds(1)}, {"b", Adds(2)}};
  RunPlan plan = LiveParts::PlanOf(models);
  plan.runners[0].backend = "none";
  LiveParts parts(models, plan);
  parts.OpenAll();
  EXPECT_EQ(parts.runners[0].failure().code(), StatusCode::kUnavailable);
  EXPECT_TRUE(parts.runners[1].opened());
  EXPECT_TRUE(parts.log.Has("FAILED: there is no backend 'none'"));
}

TEST(RunnerOpenerTest, AModelThatItCannotComputeFailsItsRunner) {
  FakeModels models = {{"a", Adds(1)}};
  models["a"].open = BackendError("operator Foo is unknown");
  LiveParts parts(models, LiveParts::PlanOf(models));
  EXPECT_TRUE(parts.Open(0).ok());
  EXPECT_EQ(parts.runners[0].failure().message(), "operator Foo is unknown");
}

TEST(RunnerOpenerTest, AnOptionThatIsWrongIsNotTheRunnersFault) {
  FakeModels models = {{"a", Adds(1)}};
  models["a"].open = InvalidArgument("--provider: there is none");
  LiveParts parts(models, LiveParts::PlanOf(models));
  EXPECT_EQ(parts.Open(0).code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(parts.runners[0].alive());
}

TEST(RunnerOpenerTest, AnotherSessionSavesTheModelNotAgain) {
  const FakeModels models = {{"a", Adds(1)}};
  RunPlan plan = LiveParts::PlanOf(models);
  plan.runners[0].model.save_path = "edited.onnx";
  LiveParts parts(models, plan);
  EXPECT_EQ(parts.opener.ModelOf(plan.runners[0])->save_path, "edited.onnx");
  EXPECT_EQ(parts.opener.ModelAgain(plan.runners[0])->save_path, "");
}

}  // namespace
}  // namespace vernier
