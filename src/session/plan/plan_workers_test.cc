#include "session/plan/plan_workers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace vernier {
namespace {

using testing::HasSubstr;

RunPlan TwoWorkers() {
  RunPlan plan;
  RunnerPlan& runner = plan.runners.emplace_back();
  runner.name = "one";
  runner.backend = "onnxruntime";
  runner.model.path = "m.onnx";
  runner.model.type = "onnx";
  plan.execution.workers_per_runner = 2;
  return plan;
}

TEST(CheckWorkers, TakesWhatCanBe) {
  EXPECT_TRUE(CheckWorkers(RunPlan()).ok());
  EXPECT_TRUE(CheckWorkers(TwoWorkers()).ok());
  RunPlan most = TwoWorkers();
  most.execution.workers_per_runner = kMostWorkersPerRunner;
  EXPECT_TRUE(CheckWorkers(most).ok());
}

TEST(CheckWorkers, RefusesOtherNumbers) {
  for (const int64_t workers : {int64_t{0}, int64_t{-1}, kMostWorkersPerRunner + 1}) {
    RunPlan plan = TwoWorkers();
    plan.execution.workers_per_runner = workers;
    const Status status = CheckWorkers(plan);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr("got " + std::to_string(workers)));
  }
}

TEST(CheckWorkers, NamesWhatCannotGoWithThem) {
  const std::vector<std::pair<std::string, std::function<void(RunPlan&)>>> cases = {
      {"saved outputs", [](RunPlan& plan) { plan.runners.clear(); }},
      {"--steps", [](RunPlan& plan) { plan.steps.steps = 3; }},
      {"--sequential-runners", [](RunPlan& plan) { plan.execution.sequential = true; }},
      {"--in-process", [](RunPlan& plan) { plan.execution.in_process = true; }},
      {"--parallel", [](RunPlan& plan) { plan.execution.parallel = true; }},
      {"--save-engine", [](RunPlan& plan) { plan.runners[0].backend = "tensorrt"; }},
      {"'t.json'",
       [](RunPlan& plan) {
         plan.runners[0].session_options = {{"save_timeline", "t.json"}};
       }},
  };
  for (const auto& [word, change] : cases) {
    RunPlan plan = TwoWorkers();
    change(plan);
    const Status status = CheckWorkers(plan);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << word;
    EXPECT_THAT(status.message(), HasSubstr(word));
    plan.execution.workers_per_runner = 1;
    EXPECT_TRUE(CheckWorkers(plan).ok()) << word;
  }
}

}  // namespace
}  // namespace vernier
