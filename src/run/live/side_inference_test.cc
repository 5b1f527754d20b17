#include "run/live/side_inference.h"

#include <gtest/gtest.h>

#include <string>

#include "run/live/scheduler_for_test.h"
#include "run/workers/fake_workers.h"

namespace vernier {
namespace {

using testing_workers::Adds;
using testing_workers::FakeModel;
using testing_workers::Floats;
using testing_workers::InRun;
using testing_workers::Refuses;

class SideInferenceTest : public SchedulerTest {
 protected:
  static float FirstOf(const Result<TensorMap>& made) {
    EXPECT_TRUE(made.ok()) << made.status().message();
    return made.ok() ? made->front().tensor.As<float>().front() : -1;
  }

  const TensorMap feed_ = {{"x", Floats({4}, {3, 3, 3, 3})}};
};

TEST_F(SideInferenceTest, AnInferenceAsideDoesNotCount) {
  InferenceScheduler& live = Open({{"a", Adds(1)}});
  EXPECT_EQ(FirstOf(InferAside(live, 0, feed_, 0)), 4);
  EXPECT_EQ(live[0].iterations(), 0);
}

TEST_F(SideInferenceTest, AnInferenceAsideThatFailsEndsItsRunner) {
  InferenceScheduler& live = Open({{"a", Adds(1, InRun(0, Refuses("no room")))}});
  EXPECT_EQ(InferAside(live, 0, feed_, 0).status().message(), "no room");
  EXPECT_EQ(live[0].failure().message(), "no room");
  EXPECT_EQ(InferAside(live, 0, feed_, 0).status().message(), "no room");
}

TEST_F(SideInferenceTest, AnotherModelLeavesTheRunnerAsItIs) {
  FakeModel broken = Adds(1);
  broken.open = BackendError("operator Foo is unknown");
  InferenceScheduler& live = Open({{"a", Adds(1)}, {"b", Adds(2)}, {"c", broken}});
  const auto source = live.opener().SourceOf(live[1].plan().model, log_);
  ASSERT_TRUE(source.ok());
  EXPECT_EQ(FirstOf(InferAsideWith(live, 0, **source, feed_, 0)), 5);
  EXPECT_EQ(FirstOf(InferAside(live, 0, feed_, 0)), 4);
  const auto other = live.opener().SourceOf(live[2].plan().model, log_);
  EXPECT_EQ(InferAsideWith(live, 0, **other, feed_, 0).status().message(),
            "operator Foo is unknown");
  EXPECT_TRUE(live[0].alive());
}

TEST_F(SideInferenceTest, NothingIsTriedOnceASignalHasCome) {
  InferenceScheduler& live = Open({{"a", Adds(1)}});
  EXPECT_TRUE(*TryInference(live, 0, feed_));
  interrupted_ = 2;
  EXPECT_EQ(TryInference(live, 0, feed_).status().code(), StatusCode::kCancelled);
}

}  // namespace
}  // namespace vernier
