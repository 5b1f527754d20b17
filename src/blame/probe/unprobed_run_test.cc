#include "blame/probe/unprobed_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "blame/probe/search_for_test.h"

namespace vernier {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing_workers::Adds;
using testing_workers::FakeAnswer;
using testing_workers::FakeModel;
using testing_workers::InRun;
using testing_workers::Refuses;

using RunUnprobedTest = SearchForTest;

TEST_F(RunUnprobedTest, BothSidesRunEveryFeed) {
  Result<UnprobedRun> run = Run(Adds(1), Adds(1), {1, 2});
  ASSERT_TRUE(run.ok()) << run.status().message();
  EXPECT_EQ(run->feeds.size(), 2U);
  EXPECT_THAT(run->outputs.Errors(), ElementsAre(Pair("y", 0.0)));
  EXPECT_THAT(run->fused_away, IsEmpty());
  EXPECT_EQ(run->shortened, "");
  EXPECT_GT(run->held.model, 0U);
}

TEST_F(RunUnprobedTest, TheFirstOfTwoEqualBackendsIsTheReference) {
  Result<UnprobedRun> run = Run(Adds(1), Adds(1));
  ASSERT_TRUE(run.ok()) << run.status().message();
  EXPECT_EQ(sides_->ReferenceName(), "a");
  const std::vector<RunnerRecord> runners = run->Describe();
  ASSERT_EQ(runners.size(), 2U);
  EXPECT_EQ(runners[0].name, "a");
  EXPECT_EQ(runners[1].name, "b");
}

TEST_F(RunUnprobedTest, ADifferenceIsAnErrorOfItsOutput) {
  Result<UnprobedRun> run = Run(Adds(1), Adds(2));
  ASSERT_TRUE(run.ok()) << run.status().message();
  EXPECT_GT(run->outputs.Errors().at("y"), 1);
}

TEST_F(RunUnprobedTest, WhatTheModelDoesNotDeclareIsNoOutput) {
  FakeModel chatty = Adds(1);
  chatty.outputs.push_back(testing_workers::FloatInfo("z", {4}));
  chatty.infer = [](const TensorMap&, int64_t) {
    const Tensor four = testing_workers::Floats({4}, {1, 2, 3, 4});
    return FakeAnswer{FakeAnswer::Kind::kOutputs, TensorMap{{"y", four}, {"z", four}}};
  };
  Result<UnprobedRun> run = Run(chatty, chatty);
  ASSERT_TRUE(run.ok()) << run.status().message();
  EXPECT_THAT(run->outputs.partners(), ElementsAre(Pair("y", "y")));
}

TEST_F(RunUnprobedTest, ASideThatFailsIsNamed) {
  const Result<UnprobedRun> run = Run(Adds(1), Adds(1, InRun(1, Refuses("no room"))), {1, 2});
  ASSERT_FALSE(run.ok());
  EXPECT_THAT(run.status().message(), HasSubstr("'b': no room"));
}

TEST_F(RunUnprobedTest, ThatTheReferenceCannotBeOpenedComesFirst) {
  FakeModel broken = Adds(1), other = Adds(1);
  broken.open = BackendError("operator Foo is unknown");
  other.open = BackendError("operator Bar is unknown");
  const Result<UnprobedRun> run = Run(broken, other);
  ASSERT_FALSE(run.ok());
  EXPECT_THAT(run.status().message(), AllOf(HasSubstr("'a'"), HasSubstr("Foo")));
}

TEST_F(RunUnprobedTest, ALimitOfDeviceMemoryIsOneForBothSides) {
  ASSERT_TRUE(Run(Adds(1), Adds(1)).ok());
  EXPECT_TRUE(MayOverlap(plan_, *sides_));
  plan_.max_gpu_bytes = 1;
  EXPECT_FALSE(MayOverlap(plan_, *sides_));
}

}  // namespace
}  // namespace vernier
