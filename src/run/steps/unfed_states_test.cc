// Inputs that stay, of which only the sizes of a step show whether an output could feed them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "run/steps/state_likeness.h"
#include "run/steps/step_sequence.h"
#include "run/steps/step_states.h"
#include "util/log/recording_logger.h"

namespace vernier {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Axes below 0 are not declared.
TensorInfo DeclaredAs(std::string name, const std::vector<int64_t>& dims) {
  TensorInfo info{std::move(name), DType::kFloat32, std::vector<Dim>()};
  for (const int64_t size : dims) info.shape->push_back({size, {}});
  return info;
}

Tensor OfShape(const Dims& dims) {
  const int64_t count = std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
  const std::vector<float> values(static_cast<size_t>(count));
  return *Tensor::Copy(DType::kFloat32, dims, std::as_bytes(std::span(values)));
}

class UnfedStatesTest : public testing::Test {
 protected:
  UnfedStatesTest() {
    plan_.feed_back = {"o1:st"};
    plan_.slices = {"x:axis=1,size=4"};
  }

  Status Pair() {
    states_.emplace(*StepStates::Create(plan_, {"ort"}, log_));
    RunnerSides sides{"ort", inputs_, outputs_};
    sides.own_outputs = own_outputs_;
    return states_->Pair(0, sides);
  }

  // A step in which the output `name` has this shape, and 'mem' (2, 4).
  Status See(const std::string& name, const Dims& shape) {
    const Status paired = Pair();
    if (!paired.ok() || !states_->WantsToSee(0)) return paired;
    return states_->See(0, {{"x", OfShape({2, 4})}, {"mem", OfShape(mem_)}},
                        {{"o1", OfShape({2, 4})}, {name, OfShape(shape)}});
  }

  StepPlan plan_;
  RecordingLogger log_;
  Dims mem_ = {2, 4};
  std::vector<TensorInfo> inputs_ = {DeclaredAs("x", {-1, 4}), DeclaredAs("st", {-1, -1}),
                                     DeclaredAs("mem", {-1, -1})};
  std::vector<TensorInfo> outputs_ = {DeclaredAs("o1", {-1, -1}), DeclaredAs("o2", {-1, -1}),
                                      DeclaredAs("y", {-1, -1})};
  std::optional<std::vector<std::string>> own_outputs_;
  std::optional<StepStates> states_;
};

TEST_F(UnfedStatesTest, OneThatIsCalledNewIsRefused) {
  EXPECT_TRUE(Pair().ok());
  EXPECT_THAT(states_->doubts(), IsEmpty());
  const Status why = See("o2", {2, 4});
  EXPECT_EQ(why.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(why.message(),
            "--feed-back: nothing feeds the input 'mem' of ort after the first step, and an output "
            "that feeds nothing has its type and shape: add --advance mem:+0 for a value that "
            "stays, or o2:mem for a state");
  EXPECT_FALSE(states_->WantsToSee(0));
  EXPECT_TRUE(See("o2", {2, 3}).ok());
  mem_ = {2, 1};
  EXPECT_TRUE(See("o2", {2, 1}).ok());
}

TEST_F(UnfedStatesTest, OneWhoseNameSaysNothingIsDoubtful) {
  ASSERT_TRUE(See("y", {2, 4}).ok());
  const std::string why =
      ", though an output that feeds nothing has its type and shape: add --advance mem:+0 for a "
      "value that stays, or y:mem for a state";
  EXPECT_TRUE(log_.Has("ort | Stays the same at every step: 'mem'" + why));
  EXPECT_THAT(states_->doubts(), ElementsAre("input 'mem' stays the same at every step" + why));
  ASSERT_TRUE(See("y", {4, 2}).ok());
  EXPECT_THAT(states_->doubts(), IsEmpty());
}

TEST_F(UnfedStatesTest, NamesOfAxesThatNoInputHasSayNothing) {
  inputs_[2].shape = std::vector<Dim>{{-1, "b"}, {4, {}}};
  outputs_[2].shape = std::vector<Dim>{{-1, "Add_y_dim_0"}, {4, {}}};
  ASSERT_TRUE(See("y", {2, 4}).ok());
  EXPECT_EQ(states_->doubts().size(), 1);
  inputs_[1].shape = std::vector<Dim>{{-1, "Add_y_dim_0"}, {4, {}}};
  outputs_[0].shape = inputs_[1].shape;
  ASSERT_TRUE(See("y", {2, 4}).ok());
  EXPECT_THAT(states_->doubts(), IsEmpty());
}

// A script says at most what it takes.
TEST_F(UnfedStatesTest, OutputsThatNothingDeclaresAreSeen) {
  outputs_.clear();
  ASSERT_TRUE(See("y", {2, 4}).ok());
  EXPECT_EQ(states_->doubts().size(), 1);
  EXPECT_THAT(See("new_mem", {2, 4}).message(), HasSubstr("is called like it: add new_mem:mem"));
  inputs_.clear();
  ASSERT_TRUE(See("y", {2, 4}).ok());
  EXPECT_EQ(states_->doubts().size(), 1);
  EXPECT_THAT(See("new_mem", {2, 4}).message(), HasSubstr("is called like it: add new_mem:mem"));
}

TEST_F(UnfedStatesTest, WhereNothingIsFedBackInputsThatNothingDeclaresAreSeen) {
  plan_.feed_back.clear();
  inputs_.clear();
  outputs_.clear();
  ASSERT_TRUE(See("y", {2, 4}).ok());
  EXPECT_THAT(See("new_mem", {2, 4}).message(),
              HasSubstr("is called like it: add --feed-back new_mem:mem"));
}

TEST_F(UnfedStatesTest, OutputsThatWereMarkedAreNone) {
  own_outputs_ = {"o1", "y"};
  outputs_[1].name = "new_mem";
  ASSERT_TRUE(See("new_mem", {2, 4}).ok());
  EXPECT_THAT(states_->doubts(), IsEmpty());
  ASSERT_TRUE(See("y", {2, 4}).ok());
  EXPECT_EQ(states_->doubts().size(), 1);
  own_outputs_ = {"z"};  // chosen, so that none of its own is left
  ASSERT_TRUE(Pair().ok());
  EXPECT_FALSE(states_->WantsToSee(0));
}

TEST_F(UnfedStatesTest, WhatIsDeclaredOrSaidToStayNeedsNoStep) {
  plan_.advances = {"mem:+0"};
  ASSERT_TRUE(Pair().ok());
  EXPECT_FALSE(states_->WantsToSee(0));
  plan_.advances.clear();
  for (auto* const infos : {&inputs_, &outputs_}) {
    for (TensorInfo& info : *infos) info.shape = std::vector<Dim>{{1, {}}, {4, {}}};
  }
  outputs_[1].shape = std::vector<Dim>{{1, {}}, {3, {}}};
  ASSERT_TRUE(Pair().ok());
  EXPECT_FALSE(states_->WantsToSee(0));
  EXPECT_EQ(states_->doubts().size(), 1);
}

// A decoder whose cache is fed back, fed token by token.
class MovesOnTest : public testing::Test {
 protected:
  MovesOnTest() {
    plan_.feed_back = {"present:past"};
    plan_.slices = {"input_ids:axis=1,size=1"};
    plan_.advances = {"position_ids:+1"};
  }

  // Of the first step.
  Status Enter() {
    StepStates states = *StepStates::Create(plan_, {"ort"}, log_);
    const std::vector<TensorInfo> inputs = {Ids("input_ids"), Ids("position_ids"),
                                            Ids("attention_mask"),
                                            DeclaredAs("past", {1, 2, -1, 4})};
    const std::vector<TensorInfo> outputs = {DeclaredAs("present", {1, 2, -1, 4})};
    VERNIER_TRY(states.Pair(0, {"ort", inputs, outputs}));
    TensorMap feed = {{"past", OfShape(past_)}};
    for (const char* name : {"input_ids", "position_ids", "attention_mask"}) {
      const std::vector<int64_t> one = {1};
      feed.push_back({name, *Tensor::Copy(DType::kInt64, {1, 1}, std::as_bytes(std::span(one)))});
    }
    return states.Enter({0, 0, 3}, {}, feed);
  }

  static TensorInfo Ids(std::string name) {
    return {std::move(name), DType::kInt64, std::vector<Dim>{{1, {}}, {-1, {}}}};
  }

  StepPlan plan_;
  RecordingLogger log_;
  Dims past_ = {1, 2, 0, 4};
};

TEST_F(MovesOnTest, AMaskThatStaysIsRefused) {
  EXPECT_EQ(Enter().message(),
            "--feed-back: 'attention_mask' stays the same at every step, while what is fed back "
            "holds more tokens at each: add --advance 'attention_mask:append 1', or --advance "
            "attention_mask:+0 for a value that stays");
  for (const char* word : {"attention_mask:append 1", "attention_mask:+0"}) {
    plan_.advances = {"position_ids:+1", word};
    EXPECT_TRUE(Enter().ok()) << word;
  }
  plan_.advances = {"attention_mask:+0"};
  EXPECT_THAT(Enter().message(), HasSubstr("add --advance position_ids:+1, or"));
}

// A merged decoder: bool [1], and an `If` in the graph.
class CacheSwitchTest : public testing::Test {
 protected:
  // The values of three steps; empty, why they cannot be.
  std::vector<int64_t> Steps(const std::vector<bool>& first) {
    plan_.feed_back = {"present:past"};
    plan_.steps = 3;
    states_.emplace(*StepStates::Create(plan_, {"ort"}, log_));
    const std::vector<TensorInfo> inputs = {{kSwitch, DType::kBool, std::vector<Dim>{{-1, {}}}},
                                            DeclaredAs("past", {1, 2, -1, 4})};
    const std::vector<TensorInfo> outputs = {DeclaredAs("present", {1, 2, -1, 4})};
    EXPECT_TRUE(states_->Pair(0, {"ort", inputs, outputs}).ok());
    auto sequence = *StepSequence::Create(*states_, {.runner = "ort", .inputs = inputs});
    std::vector<uint8_t> bytes(first.begin(), first.end());
    const TensorMap whole = {
        {kSwitch, *Tensor::Copy(DType::kBool, {static_cast<int64_t>(first.size())},
                                std::as_bytes(std::span(bytes)))},
        {"past", OfShape({1, 2, past_, 4})}};
    std::vector<int64_t> values;
    for (int64_t step = 0; step < 3; ++step) {
      const auto feed = sequence->Next([&] { return Result<std::optional<TensorMap>>(whole); });
      why_ = feed.status().message();
      if (!feed.ok()) return {};
      values.push_back(static_cast<int64_t>(Find(**feed, kSwitch)->bytes().front()));
      EXPECT_TRUE(states_->Remember(0, {{"present", OfShape({1, 2, past_ + 1, 4})}}).ok());
    }
    return values;
  }

  static constexpr const char* kSwitch = "use_cache_branch";
  StepPlan plan_;
  RecordingLogger log_;
  int64_t past_ = 0;
  std::string why_;
  std::optional<StepStates> states_;
};

TEST_F(CacheSwitchTest, IsTurnedOnWhereCachesAreFedBack) {
  EXPECT_THAT(Steps({false}), ElementsAre(0, 1, 1));
  EXPECT_TRUE(
      log_.Has("'use_cache_branch' is 0 at the first step and 1 from step 1 on, where "
               "caches are read (--advance use_cache_branch:+0 for a value that stays)"));
  EXPECT_FALSE(log_.Has("Stays the same at every step: 'use_cache_branch'"));
  EXPECT_THAT(Steps({true}), ElementsAre(1, 1, 1));
  EXPECT_THAT(Steps({false, false}), ElementsAre(0, 0, 0));
}

TEST_F(CacheSwitchTest, OptionsSayOtherwise) {
  plan_.advances = {"use_cache_branch:+0"};
  EXPECT_THAT(Steps({false}), ElementsAre(0, 0, 0));
  plan_.advances = {"use_cache_branch:set 1"};
  EXPECT_THAT(Steps({false}), ElementsAre(0, 1, 1));
  plan_.advances = {"use_cache_branch:+1"};
  EXPECT_THAT(Steps({false}), IsEmpty());
  EXPECT_THAT(why_, HasSubstr("--advance 'use_cache_branch:set 1' is 1 from step 1 on"));
}

// Such a state does not hold tokens.
TEST_F(MovesOnTest, WithoutACacheNothingHasToMove) {
  past_ = {1, 4};
  EXPECT_TRUE(Enter().ok());
}

// Its tokens are those of the encoder, at every step.
TEST_F(MovesOnTest, TheMaskOfAnEncoderMayStay) {
  plan_.slices = {"decoder_input_ids:axis=1,size=1"};
  EXPECT_TRUE(Enter().ok());
}

}  // namespace
}  // namespace vernier
