#include "run/live/runner_feeds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run/live/live_parts_for_test.h"

namespace vernier {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::StartsWith;
using testing_workers::Adds;
using testing_workers::FakeModel;
using testing_workers::FeedOfFour;
using testing_workers::Floats;
using testing_workers::LiveParts;

const std::map<std::string, FakeModel>& TwoModels() {
  static const std::map<std::string, FakeModel> models = {{"a", Adds(1)}, {"b", Adds(2)}};
  return models;
}

TEST(RunnerFeedsTest, AFeedThatFitsIsPassedOnAsItIs) {
  LiveParts parts(TwoModels(), LiveParts::PlanOf(TwoModels()));
  parts.OpenAll();
  const TensorMap feed = FeedOfFour(3);
  const Result<CoercedFeed> own = parts.feeds.CoerceAndNote(0, feed, 0);
  ASSERT_TRUE(own.ok());
  EXPECT_EQ(own->tensors.front().tensor.bytes().data(), feed.front().tensor.bytes().data());
  EXPECT_THAT(parts.reports.notes(), IsEmpty());
}

TEST(RunnerFeedsTest, AnErrorSaysWhichFeedItIs) {
  LiveParts parts(TwoModels(), LiveParts::PlanOf(TwoModels()));
  parts.OpenAll();
  const TensorMap wrong = {{"x", Floats({3}, {1, 2, 3})}};
  const auto message = [&](int64_t iteration) {
    return parts.feeds.Coerce(0, wrong, iteration).status().message();
  };
  EXPECT_THAT(message(2), StartsWith("iteration 2: "));
  EXPECT_EQ("iteration 2: " + message(0), message(2));
  EXPECT_EQ(message(-1), message(0));
  parts.feeds.NameFeedsBy([](int64_t) { return "cat.png"; });
  EXPECT_EQ(message(0), "cat.png: " + message(-1));
}

TEST(RunnerFeedsTest, WhatMapsDoIsNotedAndDescribed) {
  RunPlan plan = LiveParts::PlanOf(TwoModels());
  plan.inputs.map_words = {"b:x=z"};
  LiveParts parts(TwoModels(), plan);
  parts.OpenAll();
  EXPECT_TRUE(parts.feeds.CheckMaps().ok());
  const TensorMap feed = {{"z", Floats({4}, {1, 2, 3, 4})}};
  ASSERT_TRUE(parts.feeds.Coerce(1, feed).ok());
  EXPECT_THAT(parts.reports.notes(), IsEmpty());
  const Result<CoercedFeed> own = parts.feeds.CoerceAndNote(1, feed, 0);
  ASSERT_TRUE(own.ok()) << own.status().message();
  EXPECT_EQ(own->tensors.front().name, "x");
  EXPECT_THAT(parts.reports.notes(), ElementsAre("b: input 'x': is 'z' (--map-inputs)"));
  RunnerRecord first, second;
  parts.feeds.DescribeMaps(0, first);
  parts.feeds.DescribeMaps(1, second);
  EXPECT_THAT(first.mapped_inputs, IsEmpty());
  EXPECT_THAT(second.mapped_inputs, ElementsAre(Pair("x", "z")));
}

TEST(RunnerFeedsTest, AMapThatIsNoneIsAnError) {
  RunPlan plan = LiveParts::PlanOf(TwoModels());
  plan.inputs.map_words = {"x"};
  LiveParts parts(TwoModels(), plan);
  EXPECT_EQ(parts.feeds.status().code(), StatusCode::kInvalidArgument);
}

TEST(RunnerFeedsTest, FeedsAreForTheFirstRunnerThatIsOpen) {
  std::map<std::string, FakeModel> models = TwoModels();
  models["a"].open = BackendError("operator Foo is unknown");
  models["b"].inputs.front().name = "other";
  LiveParts parts(models, LiveParts::PlanOf(models));
  parts.OpenAll();
  EXPECT_EQ(parts.feeds.InputsToFeed(false, {})->front().name, "other");
}

}  // namespace
}  // namespace vernier
