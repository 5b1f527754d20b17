#include "session/plan/plan_devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace vernier {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

RunPlan OnDevices(std::vector<std::string> devices) {
  RunPlan plan;
  plan.runners.emplace_back().name = "one";
  plan.execution.devices = std::move(devices);
  return plan;
}

TEST(CheckDevices, TakesDevicesAndAll) {
  EXPECT_TRUE(CheckDevices(RunPlan()).ok());
  EXPECT_TRUE(CheckDevices(OnDevices({"all"})).ok());
  EXPECT_TRUE(CheckDevices(OnDevices({"cuda:1", "cuda:0", "cuda:12"})).ok());
}

TEST(CheckDevices, QuotesWhatIsNone) {
  for (const char* word : {"cuda", "cuda:", "cuda:x", "cuda:-1", "cuda:1x", "0", "gpu:0", ""}) {
    const Status status = CheckDevices(OnDevices({"cuda:7", word}));
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << word;
    EXPECT_THAT(status.message(), HasSubstr("got '" + std::string(word) + "'"));
  }
  EXPECT_THAT(CheckDevices(OnDevices({"all", "cuda:0"})).message(), HasSubstr("got 'all'"));
  EXPECT_THAT(CheckDevices(OnDevices({"cuda:1", "cuda:1"})).message(), HasSubstr("named twice"));
}

TEST(CheckDevices, NamesWhatCannotGoWithThem) {
  const std::vector<std::pair<std::string, std::function<void(RunPlan&)>>> cases = {
      {"saved outputs", [](RunPlan& plan) { plan.runners.clear(); }},
      {"--in-process", [](RunPlan& plan) { plan.execution.in_process = true; }},
      {"--env CUDA_VISIBLE_DEVICES",
       [](RunPlan& plan) { plan.execution.environment = {"CUDA_VISIBLE_DEVICES=1"}; }},
      {"an object of the calling program",
       [](RunPlan& plan) {
         plan.runners[0].backend_options = {{"served_by_caller", "1"}};
       }},
  };
  for (const auto& [word, change] : cases) {
    RunPlan plan = OnDevices({"cuda:0"});
    change(plan);
    const Status status = CheckDevices(plan);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << word;
    EXPECT_THAT(status.message(), HasSubstr(word));
  }
}

TEST(NamesOfDevices, AreThoseOfTheProbe) {
  EXPECT_THAT(NamesOfDevices("0: NVIDIA H100 (compute 9.0), 1: A, B (compute 8.0), CUDA 12.4\n"),
              ElementsAre("NVIDIA H100", "A, B"));
  EXPECT_THAT(NamesOfDevices("there is no CUDA here"), IsEmpty());
  EXPECT_THAT(NamesOfDevices("CUDA 12.4"), IsEmpty());
  EXPECT_THAT(NamesOfDevices(""), IsEmpty());
}

TEST(ChooseDevices, AllAreThoseThatThereAre) {
  ExecutionPlan plan;
  plan.devices = {"all"};
  ASSERT_TRUE(ChooseDevices({"H100", "H100"}, plan).ok());
  EXPECT_THAT(plan.devices, ElementsAre("cuda:0", "cuda:1"));
  EXPECT_EQ(plan.WorkersOfRunner(), 2u);
  plan.workers_per_runner = 3;
  EXPECT_EQ(plan.WorkersOfRunner(), 6u);
}

TEST(ChooseDevices, OneThatDoesNotExistIsNamedWithThoseThatDo) {
  ExecutionPlan plan;
  plan.devices = {"cuda:1", "cuda:2"};
  const Status status = ChooseDevices({"H100", "A10"}, plan);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(),
            "--devices: there is no cuda:2; there is cuda:0 (H100), cuda:1 (A10)");
}

}  // namespace
}  // namespace vernier
