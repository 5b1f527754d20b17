#include "run/live/lane_inference.h"

#include <gtest/gtest.h>

#include <array>

#include "run/live/live_parts_for_test.h"

namespace vernier {
namespace {

using testing_workers::Adds;
using testing_workers::FakeModel;
using testing_workers::FeedOfFour;
using testing_workers::Floats;
using testing_workers::InRun;
using testing_workers::LiveParts;
using testing_workers::Refuses;

constexpr std::array<size_t, 2> kBoth = {0, 1};

// Two runners with two workers each.
class LaneInferenceTest : public testing::Test {
 protected:
  LaneInference& Open(const FakeModel& a, const FakeModel& b) {
    const std::map<std::string, FakeModel> models = {{"a", a}, {"b", b}};
    RunPlan plan = LiveParts::PlanOf(models);
    plan.execution.workers_per_runner = 2;
    parts_ = std::make_unique<LiveParts>(models, plan);
    parts_->OpenAll();
    replicas_ = std::make_unique<RunnerReplicas>(parts_->plan, parts_->runners, parts_->opener,
                                                 parts_->reports);
    EXPECT_TRUE(replicas_->Open({}).ok());
    const LaneInference::Parts parts{parts_->plan, *replicas_, parts_->feeds, parts_->reports,
                                     parts_->held};
    lanes_ = std::make_unique<LaneInference>(parts, true);
    return *lanes_;
  }

  std::unique_ptr<LiveParts> parts_;
  std::unique_ptr<RunnerReplicas> replicas_;
  std::unique_ptr<LaneInference> lanes_;
};

TEST_F(LaneInferenceTest, EachIterationIsThereInItsTurn) {
  LaneInference& lanes = Open(Adds(1), Adds(2));
  EXPECT_EQ(lanes.feeds_ahead(), 3U);
  for (int64_t i = 0; i < 5; ++i) lanes.Send(kBoth, FeedOfFour(static_cast<float>(10 * i)), i);
  lanes.Wait();
  for (int64_t i = 0; i < 5; ++i) {
    EXPECT_TRUE(lanes.IsInferred(i));
    lanes.Collect(i);
    for (const size_t runner : kBoth) {
      ASSERT_TRUE(lanes.Has(runner));
      const Result<LaneOutcome> made = lanes.Take(runner, i);
      ASSERT_TRUE(made.ok() && made->outcome.ok());
      EXPECT_TRUE(made->shared);
      const Tensor& y = made->outcome->outputs.tensors.front().tensor;
      EXPECT_EQ(y.As<float>().front(), static_cast<float>(10 * i + 1 + static_cast<int>(runner)));
      EXPECT_FALSE(lanes.Has(runner));
    }
  }
}

TEST_F(LaneInferenceTest, AFailureIsThatOfItsIteration) {
  LaneInference& lanes = Open(Adds(1, InRun(1, Refuses("no room"))), Adds(2));
  for (int64_t i = 0; i < 3; ++i) lanes.Send(kBoth, FeedOfFour(1), i);
  for (int64_t i = 0; i < 3; ++i) {
    lanes.Collect(i);
    EXPECT_EQ(lanes.Take(0, i)->outcome.ok(), i < 2);  // the second one of the first lane
    EXPECT_TRUE(lanes.Take(1, i)->outcome.ok());
  }
  EXPECT_TRUE(parts_->runners[0].alive());  // that is the caller's to say
}

TEST_F(LaneInferenceTest, WhatIsHeldOrDoesNotFitIsNotSent) {
  LaneInference& lanes = Open(Adds(1), Adds(2));
  parts_->held.Hold(0, 0, IterationResult());
  lanes.Send(kBoth, FeedOfFour(1), 0);
  lanes.Send(kBoth, {{"x", Floats({3}, {1, 2, 3})}}, 1);
  lanes.Collect(0);
  EXPECT_FALSE(lanes.Has(0));
  EXPECT_TRUE(lanes.Has(1));
  lanes.Collect(1);
  EXPECT_FALSE(lanes.Has(1));
}

TEST(MaySendAheadTest, NotInThisProcessNorWhereFilesAreSaved) {
  const std::map<std::string, FakeModel> models = {{"a", Adds(1)}};
  LiveParts parts(models, LiveParts::PlanOf(models));
  ExecutionPlan plan;
  EXPECT_FALSE(MaySendAhead(plan, parts.runners[0]));  // it has no worker
  parts.OpenAll();
  EXPECT_TRUE(MaySendAhead(plan, parts.runners[0]));
  plan.in_process = true;
  EXPECT_FALSE(MaySendAhead(plan, parts.runners[0]));
  plan.in_process = false;
  parts.plan.runners[0].session_options = {{"save_timeline", "t.json"}};
  EXPECT_FALSE(MaySendAhead(plan, parts.runners[0]));
}

}  // namespace
}  // namespace vernier
