#include "session/plan/plan_batches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace vernier {
namespace {

using testing::HasSubstr;

RunPlan FourFeeds() {
  RunPlan plan;
  plan.runners.emplace_back().name = "one";
  plan.execution.batch_feeds = 4;
  return plan;
}

TEST(CheckBatchFeeds, TakesWhatCanBe) {
  EXPECT_TRUE(CheckBatchFeeds(RunPlan()).ok());
  EXPECT_TRUE(CheckBatchFeeds(FourFeeds()).ok());
  RunPlan more = FourFeeds();
  more.execution.batch_feeds = kMostBatchFeeds;
  more.execution.workers_per_runner = 3;
  EXPECT_TRUE(CheckBatchFeeds(more).ok());
}

TEST(CheckBatchFeeds, RefusesOtherNumbers) {
  for (const int64_t feeds : {int64_t{0}, int64_t{-1}, kMostBatchFeeds + 1}) {
    RunPlan plan = FourFeeds();
    plan.execution.batch_feeds = feeds;
    const Status status = CheckBatchFeeds(plan);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr("got " + std::to_string(feeds)));
  }
}

TEST(CheckBatchFeeds, NamesWhatCannotGoWithThem) {
  const std::vector<std::pair<std::string, std::function<void(RunPlan&)>>> cases = {
      {"saved outputs", [](RunPlan& plan) { plan.runners.clear(); }},
      {"--steps", [](RunPlan& plan) { plan.steps.steps = 3; }},
      {"--noise-floor", [](RunPlan& plan) { plan.noise_floor = true; }},
      {"--sequential-runners", [](RunPlan& plan) { plan.execution.sequential = true; }},
      {"--in-process", [](RunPlan& plan) { plan.execution.in_process = true; }},
      {"--parallel", [](RunPlan& plan) { plan.execution.parallel = true; }},
  };
  for (const auto& [word, change] : cases) {
    RunPlan plan = FourFeeds();
    change(plan);
    const Status status = CheckBatchFeeds(plan);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << word;
    EXPECT_THAT(status.message(), HasSubstr(word));
    plan.execution.batch_feeds = 1;
    EXPECT_TRUE(CheckBatchFeeds(plan).ok()) << word;
  }
}

}  // namespace
}  // namespace vernier
