#include "run/live/batch_inference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <mutex>

#include "run/live/live_parts_for_test.h"

namespace vernier {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing_workers::Adds;
using testing_workers::FakeAnswer;
using testing_workers::FakeModel;
using testing_workers::Floats;
using testing_workers::LiveParts;
using testing_workers::Refuses;

constexpr std::array<size_t, 1> kAlone = {0};

// One row that is all this.
TensorMap FeedOfRow(float value) { return {{"x", Floats({1, 2}, {value, value})}}; }

// One runner, y = 10 * x of any number of rows, of which three feeds are one inference.
class BatchInferenceTest : public testing::Test {
 protected:
  BatchInferenceTest() {
    model_.inputs = {{"x", DType::kFloat32, std::vector<Dim>{{-1, "n"}, {2, {}}}}};
    model_.outputs = {{"y", DType::kFloat32, std::vector<Dim>{{-1, "n"}, {2, {}}}}};
    model_.infer = [this](const TensorMap& feed, int64_t) {
      const Tensor& x = feed.front().tensor;
      const std::scoped_lock lock(mutex_);
      rows_.push_back(x.dims().front());
      std::vector<float> values;
      for (const float element : x.As<float>()) values.push_back(10 * element);
      return FakeAnswer{FakeAnswer::Kind::kOutputs, TensorMap{{"y", Floats(x.dims(), values)}}};
    };
  }

  BatchInference& Open() {
    const std::map<std::string, FakeModel> models = {{"a", model_}};
    RunPlan plan = LiveParts::PlanOf(models);
    plan.execution.batch_feeds = 3;
    parts_ = std::make_unique<LiveParts>(models, plan);
    parts_->OpenAll();
    replicas_ = std::make_unique<RunnerReplicas>(parts_->plan, parts_->runners, parts_->opener,
                                                 parts_->reports);
    const LaneInference::Parts parts{parts_->plan, *replicas_, parts_->feeds, parts_->reports,
                                     parts_->held};
    batches_ = std::make_unique<BatchInference>(parts, true);
    return *batches_;
  }

  std::vector<int64_t> Rows() {
    batches_->Wait();
    const std::scoped_lock lock(mutex_);
    return rows_;
  }

  FakeModel model_;
  std::mutex mutex_;
  std::vector<int64_t> rows_;
  std::unique_ptr<LiveParts> parts_;
  std::unique_ptr<RunnerReplicas> replicas_;
  std::unique_ptr<BatchInference> batches_;
};

float FirstOf(const Result<LaneOutcome>& made) {
  EXPECT_TRUE(made.ok() && made->outcome.ok());
  if (!made.ok() || !made->outcome.ok()) return -1;
  return made->outcome->outputs.tensors.front().tensor.As<float>().front();
}

TEST_F(BatchInferenceTest, TheLastOfABatchHasItBegin) {
  BatchInference& batches = Open();
  for (int64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(Rows().size(), i < 3 ? 0U : 1U);
    batches.Send(kAlone, FeedOfRow(static_cast<float>(i)), i);
  }
  batches.SendRest();
  EXPECT_THAT(Rows(), ElementsAre(3, 1));
  for (int64_t i = 0; i < 4; ++i) {
    EXPECT_TRUE(batches.IsInferred(i));
    batches.Collect(i);
    EXPECT_EQ(FirstOf(batches.Take(0, i)), static_cast<float>(10 * i));
  }
}

TEST_F(BatchInferenceTest, WhatWasNotSentIsInferredAsAWholeBatch) {
  BatchInference& batches = Open();
  for (int64_t i = 0; i < 3; ++i) batches.Send({}, FeedOfRow(static_cast<float>(i)), i);
  batches.Collect(0);
  EXPECT_THAT(Rows(), IsEmpty());
  EXPECT_EQ(FirstOf(batches.Take(0, 1)), 10);
  EXPECT_EQ(FirstOf(batches.Take(0, 2)), 20);
  EXPECT_THAT(Rows(), ElementsAre(3));
}

TEST_F(BatchInferenceTest, FeedsThatDifferInShapeAreAnErrorOfTheOption) {
  BatchInference& batches = Open();
  for (int64_t i = 0; i < 2; ++i) batches.Send(kAlone, FeedOfRow(1), i);
  batches.Send(kAlone, {{"x", Floats({2, 2}, {1, 1, 1, 1})}}, 2);
  batches.Collect(0);
  const Status wrong = batches.Take(0, 0).status();
  EXPECT_EQ(wrong.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(wrong.message(), HasSubstr("--batch-feeds: a: input 'x'"));
}

TEST_F(BatchInferenceTest, AFrameworkThatFailsIsAnOutcome) {
  model_.infer = [](const TensorMap&, int64_t) { return Refuses("no room"); };
  BatchInference& batches = Open();
  for (int64_t i = 0; i < 3; ++i) batches.Send(kAlone, FeedOfRow(1), i);
  batches.Collect(0);
  const Result<LaneOutcome> made = batches.Take(0, 0);
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made->outcome.status().message(), "no room");
}

TEST_F(BatchInferenceTest, AnotherFeedTakesTheIterationsPlace) {
  BatchInference& batches = Open();
  for (int64_t i = 0; i < 3; ++i) batches.Send(kAlone, FeedOfRow(static_cast<float>(i)), i);
  batches.Collect(0);
  const Result<TensorMap> made = batches.InferAside(0, FeedOfRow(7), 1);
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made->front().tensor.As<float>().front(), 70);
  EXPECT_EQ(FirstOf(batches.Take(0, 1)), 10);
  EXPECT_EQ(batches.InferAside(0, FeedOfRow(7), 3).status().code(), StatusCode::kUnavailable);
  EXPECT_TRUE(parts_->runners[0].alive());
}

TEST_F(BatchInferenceTest, HashesAreThoseOfTheWholeBatch) {
  BatchInference& batches = Open();
  for (int64_t i = 0; i < 3; ++i) batches.Send({}, FeedOfRow(static_cast<float>(i)), i);
  batches.Collect(0);
  EXPECT_EQ(*batches.HashInputs(0), *HashBatch({0, {FeedOfRow(0), FeedOfRow(1), FeedOfRow(2)}}));
}

TEST_F(BatchInferenceTest, AWarmUpIsAsLargeAsInferencesWillBe) {
  Open();
  const auto rows = [&] {
    const Result<TensorBlock> block =
        EncodeForWarmUp(parts_->plan, parts_->runners[0], FeedOfRow(1));
    EXPECT_TRUE(parts_->runners[0].InferOnly(*block, -1).ok());
    return Rows().back();
  };
  parts_->plan.inputs.iterations = 9;
  EXPECT_EQ(rows(), 3);
  parts_->plan.inputs.iterations = 2;
  EXPECT_EQ(rows(), 2);
  parts_->plan.execution.batch_feeds = 1;
  EXPECT_EQ(rows(), 1);
}

TEST_F(BatchInferenceTest, AModelOfFixedSizesIsRefused) {
  Open();
  EXPECT_TRUE(CheckBatchRunners(parts_->runners).ok());
  model_ = Adds(1);
  Open();
  EXPECT_THAT(CheckBatchRunners(parts_->runners).message(), HasSubstr("--batch-feeds: a: input"));
}

}  // namespace
}  // namespace vernier
