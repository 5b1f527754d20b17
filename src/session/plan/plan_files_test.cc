#include "session/plan/plan_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace vernier {
namespace {

using testing::HasSubstr;

TEST(PlanFiles, WhatARunnerSavesReplacesNothingThatIsRead) {
  const std::string folder = testing::TempDir() + "plan_files/";
  std::filesystem::create_directories(folder);
  const std::string model = folder + "m.onnx";
  std::ofstream(model) << "x";
  for (const std::string key : {"save_engine", "save_tactics"}) {
    RunPlan plan;
    RunnerPlan& runner = plan.runners.emplace_back();
    runner.model.path = model;
    runner.session_options = {{key, model}};
    const Status status = CheckPlanFiles(plan);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << key;
    EXPECT_THAT(status.message(), HasSubstr("is read by this run (the model)"));
    runner.session_options = {{key, folder + "other"}};
    EXPECT_TRUE(CheckPlanFiles(plan).ok()) << key;
    plan.save.record = folder + "other";
    EXPECT_THAT(CheckPlanFiles(plan).message(), HasSubstr("would both write"));
  }
}

}  // namespace
}  // namespace vernier
