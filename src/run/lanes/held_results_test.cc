#include "run/lanes/held_results.h"

#include <gtest/gtest.h>

namespace vernier {
namespace {

IterationResult ResultCalled(const std::string& runner) {
  IterationResult result;
  result.runner_name = runner;
  return result;
}

TEST(HeldResultsTest, AResultIsThereForItsRunnerAndIterationOnce) {
  HeldResults held;
  held.Hold(1, 0, ResultCalled("b"));
  EXPECT_TRUE(held.Has(1, 0));
  EXPECT_FALSE(held.Has(0, 0));
  EXPECT_FALSE(held.Take(1, 1).has_value());
  const std::optional<Result<IterationResult>> taken = held.Take(1, 0);
  ASSERT_TRUE(taken.has_value());
  EXPECT_EQ((*taken)->runner_name, "b");
  EXPECT_FALSE(held.Has(1, 0));
}

TEST(HeldResultsTest, AFailureIsHeldToo) {
  HeldResults held;
  EXPECT_EQ(held.Hold(0, 0, BackendError("no room")).status().message(), "no room");
  EXPECT_EQ(held.Take(0, 0)->status().message(), "no room");
}

TEST(HeldResultsTest, WhatIsDroppedWasNeverInferred) {
  const RunnerPlan plan;
  std::deque<RunnerSession> runners;
  for (int i = 0; i < 2; ++i) runners.emplace_back(plan).TakeOver(0.5);
  HeldResults held;
  held.Hold(1, 0, ResultCalled("b"));
  held.Drop(runners);
  EXPECT_FALSE(held.Has(1, 0));
  EXPECT_EQ(runners[0].iterations(), 1);
  EXPECT_EQ(runners[1].iterations(), 0);
}

}  // namespace
}  // namespace vernier
