// Masks that models hand on from step to step, and what they exclude.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/classes/logits.h"
#include "run/comparison/position_feeds.h"
#include "run/steps/step_sequence.h"
#include "util/log/no_log.h"

namespace vernier {
namespace {

using testing::ElementsAre;

Tensor Longs(Dims dims, const std::vector<int64_t>& values) {
  return *Tensor::Copy(DType::kInt64, std::move(dims), std::as_bytes(std::span(values)));
}

TensorInfo LongRows(std::string name) {
  return {std::move(name), DType::kInt64, std::vector<Dim>{{-1, {}}, {-1, {}}}};
}

TensorInfo LogitRows() {
  return {"logits", DType::kFloat32, std::vector<Dim>{{-1, {}}, {-1, {}}, {4, {}}}};
}

// Two prompts, of which the second is padding throughout.
class FedBackMasksTest : public testing::Test {
 protected:
  FedBackMasksTest() {
    plan_.inputs.load_paths = {"in.npz"};
    plan_.steps.feed_back = {"attention_mask_out:attention_mask"};
  }

  Status Open(const std::vector<std::string>& runners) {
    const std::vector<TensorInfo> inputs = {LongRows("input_ids"), LongRows("attention_mask")};
    const std::vector<TensorInfo> outputs = {LogitRows(), LongRows("attention_mask_out")};
    states_.emplace(*StepStates::Create(plan_.steps, runners, log_));
    for (size_t i = 0; i < runners.size(); ++i) {
      VERNIER_TRY(states_->Pair(i, {runners[i], inputs, outputs}));
    }
    VERNIER_ASSIGN_OR_RETURN(sequence_,
                             StepSequence::Create(*states_, {.runner = "a", .inputs = inputs}));
    return {};
  }

  // The feed of the next step, which all runners answer with this mask.
  Result<TensorMap> Step(const Tensor& mask_out) {
    VERNIER_ASSIGN_OR_RETURN(const auto feed, sequence_->Next([this] {
      return Result<std::optional<TensorMap>>(
          TensorMap{{"input_ids", Longs({2, 3}, {1, 2, 3, 1, 2, 3})}, {"attention_mask", mask_}});
    }));
    const std::vector<float> logits(8, 0);
    for (size_t i = 0; i < states_->runners().size(); ++i) {
      VERNIER_TRY(states_->Remember(i, {{"logits", *Tensor::Copy(DType::kFloat32, {2, 1, 4},
                                                                 std::as_bytes(std::span(logits)))},
                                        {"attention_mask_out", mask_out}}));
    }
    return *feed;
  }

  RunPlan plan_;
  Tensor mask_ = Longs({2, 1}, {1, 0});  // of the first step
  NoLog log_;
  std::optional<StepStates> states_;
  std::unique_ptr<StepSequence> sequence_;
};

TEST_F(FedBackMasksTest, ExcludePositionsAtEveryStep) {
  plan_.steps.slices = {"input_ids:axis=1,size=1"};
  for (const StateSource state :
       {StateSource::kOwn, StateSource::kReference, StateSource::kCross}) {
    plan_.steps.state = state;
    const Status opened = Open({"a", "b"});
    ASSERT_TRUE(opened.ok()) << opened.message();
    PositionFeeds positions = *PositionFeeds::Create(plan_);
    for (int64_t step = 0; step < 3; ++step) {
      const std::vector<int64_t> columns(static_cast<size_t>(step) + 2, 1);
      std::vector<int64_t> rows = columns;
      rows.resize(2 * columns.size(), 0);
      const Result<TensorMap> feed = Step(Longs({2, step + 2}, rows));
      ASSERT_TRUE(feed.ok()) << feed.status().message();
      ASSERT_TRUE(positions.Note(step, *feed, sequence_.get()).ok());
      const FedPositions* const fed = positions.For(step, {0, step, 3}, true);
      ASSERT_TRUE(fed != nullptr && fed->mask.has_value());
      EXPECT_EQ(fed->mask->tensor.dims(), (Dims{2, step + 1}));
      EXPECT_THAT(MatchPositions(*fed, {2, 1}, 4).next, ElementsAre(kNoToken, kExcludedRow));
    }
  }
}

TEST_F(FedBackMasksTest, NeedNoAdvanceWhereTokensAreDecoded) {
  plan_.steps.decode = {"greedy"};
  plan_.steps.steps = 2;
  ASSERT_TRUE(Open({"a", "b"}).ok());
  mask_ = Longs({2, 3}, {1, 1, 1, 0, 1, 1});
  const Result<TensorMap> feed = Step(Longs({2, 4}, {1, 1, 1, 1, 0, 1, 1, 1}));
  EXPECT_TRUE(feed.ok()) << feed.status().message();
}

}  // namespace
}  // namespace vernier
