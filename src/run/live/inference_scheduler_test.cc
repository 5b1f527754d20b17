// Runners one inference at a time, with workers that do as each test says.
#include "run/live/inference_scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "run/live/scheduler_for_test.h"
#include "run/live/side_inference.h"
#include "run/workers/fake_workers.h"

namespace vernier {
namespace {

using testing::ElementsAre;
using testing_workers::Adds;
using testing_workers::Dies;
using testing_workers::FakeModel;
using testing_workers::Floats;
using testing_workers::InRun;
using testing_workers::Refuses;
using testing_workers::RunnersOf;

class InferenceSchedulerTest : public SchedulerTest {
 protected:
  // The first element that the runner gives for an input of this value; -1: it has failed.
  float Infer(size_t index, float value, int64_t iteration, const WorkMeanwhile& meanwhile = {}) {
    const Result<std::optional<IterationResult>> made =
        live_->Infer(index, FeedOf(value), iteration, meanwhile);
    EXPECT_TRUE(made.ok()) << made.status().message();
    if (!made.ok() || !*made) return -1;
    return (*made)->outputs.front().tensor.As<float>().front();
  }

  static TensorMap FeedOf(float value) {
    return {{"x", Floats({4}, {value, value, value, value})}};
  }

  // Infer(), while which the feed after that is offered. Was it sent?
  bool Offer(const TensorMap& next, int64_t iteration) {
    bool sent = false;
    EXPECT_EQ(Infer(0, 10, iteration, {[&](size_t) { return &next; }, [&] { sent = true; }}), 11);
    return sent;
  }
};

TEST_F(InferenceSchedulerTest, RunnersOfOneBackendShareAWorker) {
  InferenceScheduler& live = Open({{"a", Adds(1)}, {"b", Adds(2)}});
  EXPECT_EQ(workers_->started(), 1u);
  EXPECT_EQ(Infer(0, 5, 0), 6);
  EXPECT_EQ(Infer(1, 5, 0), 7);
  EXPECT_THAT(live.names(), ElementsAre("a", "b"));
  EXPECT_EQ(live.CommonIterations(), 1u);
}

TEST_F(InferenceSchedulerTest, WithUseSubprocessEachHasItsOwn) {
  plan_.execution.use_subprocess = true;
  Open({{"a", Adds(1)}, {"b", Adds(2)}});
  EXPECT_EQ(workers_->started(), 2u);
}

TEST_F(InferenceSchedulerTest, ALoneRunnerIsSentTheNextFeedWhileItAnswers) {
  Open({{"a", Adds(1)}});
  const TensorMap next = FeedOf(20);
  EXPECT_FALSE(Offer(next, 0));  // how long it takes is not known yet
  EXPECT_TRUE(Offer(next, 1));
  EXPECT_EQ(Infer(0, 20, 2), 21);
}

TEST_F(InferenceSchedulerTest, AnAnswerThatIsNotWantedAnyMoreIsNobodysFailure) {
  InferenceScheduler& live = Open({{"a", Adds(1, InRun(2, Dies()))}});
  EXPECT_EQ(Infer(0, 1, 0), 2);
  const TensorMap next = FeedOf(20);
  ASSERT_TRUE(Offer(next, 1));
  live.Close(0);
  EXPECT_TRUE(live[0].alive()) << live[0].failure().message();
  EXPECT_EQ(live[0].iterations(), 2);
}

TEST_F(InferenceSchedulerTest, AnAnswerThatIsWantedFailsInItsOwnIteration) {
  InferenceScheduler& live = Open({{"a", Adds(1, InRun(2, Dies()))}});
  EXPECT_EQ(Infer(0, 1, 0), 2);
  const TensorMap next = FeedOf(20);
  ASSERT_TRUE(Offer(next, 1));
  EXPECT_EQ(Infer(0, 20, 2), -1);
  EXPECT_EQ(live[0].failure().message(), "closed its connection while running iteration 2");
}

TEST_F(InferenceSchedulerTest, SeveralRunnersAreSentNothingAhead) {
  Open({{"a", Adds(1)}, {"b", Adds(1)}});
  const TensorMap next = FeedOf(20);
  EXPECT_FALSE(Offer(next, 0));
  EXPECT_FALSE(Offer(next, 1));
}

TEST_F(InferenceSchedulerTest, ARunnerThatHasFailedIsAskedNoMore) {
  InferenceScheduler& live = Open({{"a", Adds(1, InRun(0, Refuses("no room")))}});
  EXPECT_EQ(Infer(0, 1, 0), -1);
  EXPECT_EQ(live[0].failure().message(), "no room");
  EXPECT_EQ(live[0].failure().code(), StatusCode::kBackend);
  EXPECT_EQ(Infer(0, 1, 1), -1);  // the model would answer
  EXPECT_FALSE(live.any_alive());
}

TEST_F(InferenceSchedulerTest, AFeedThatDoesNotFitIsNotTheRunnersFault) {
  InferenceScheduler& live = Open({{"a", Adds(1)}});
  const TensorMap wrong = {{"x", Floats({3}, {1, 2, 3})}};
  EXPECT_EQ(live.Infer(0, wrong, 0).status().code(), StatusCode::kMalformed);
  EXPECT_TRUE(live[0].alive());
}

TEST_F(InferenceSchedulerTest, WhatWasInferredBeforehandIsNotInferredAgain) {
  InferenceScheduler& live = Open({{"a", Adds(1, InRun(1, Refuses("asked twice")))}});
  EXPECT_TRUE(live.InferBeforehand(0, FeedOf(3), 0).ok());
  EXPECT_EQ(Infer(0, 3, 0), 4);
  EXPECT_EQ(live[0].iterations(), 1);
}

TEST_F(InferenceSchedulerTest, ATrialLeavesNoTrace) {
  InferenceScheduler& live = Open({{"a", Adds(1, InRun(0, Refuses("not with this")))}});
  EXPECT_EQ(TryInference(live, 0, FeedOf(3)).status().message(), "not with this");
  EXPECT_TRUE(live[0].alive());
  EXPECT_EQ(live[0].iterations(), 0);
  EXPECT_EQ(Infer(0, 3, 0), 4);
}

TEST_F(InferenceSchedulerTest, FeedsAreMadeForTheFirstRunnerThatIsThere) {
  FakeModel broken = Adds(1);
  broken.open = BackendError("operator Foo is unknown");
  InferenceScheduler& live = Open({{"a", broken}, {"b", Adds(1)}});
  EXPECT_FALSE(live[0].opened());
  const Result<std::vector<TensorInfo>> inputs = live.feeds().InputsToFeed(false, {});
  ASSERT_TRUE(inputs.ok());
  ASSERT_EQ(inputs->size(), 1u);
  EXPECT_EQ(inputs->front().name, "x");
}

}  // namespace
}  // namespace vernier
