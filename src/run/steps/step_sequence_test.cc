// The feeds that steps make of a sequence.
#include "run/steps/step_sequence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "util/log/no_log.h"

namespace vernier {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Tensor FloatRow(const std::vector<float>& values) {
  return *Tensor::Copy(DType::kFloat32, {1, static_cast<int64_t>(values.size())},
                       std::as_bytes(std::span(values)));
}

Tensor LongRow(const std::vector<int64_t>& values) {
  return *Tensor::Copy(DType::kInt64, {1, static_cast<int64_t>(values.size())},
                       std::as_bytes(std::span(values)));
}

std::vector<float> FloatsOf(const TensorMap& feed, const std::string& name) {
  const auto values = Find(feed, name)->As<float>();
  return {values.begin(), values.end()};
}

std::vector<int64_t> LongsOf(const TensorMap& feed, const std::string& name) {
  const auto values = Find(feed, name)->As<int64_t>();
  return {values.begin(), values.end()};
}

class StepSequenceTest : public testing::Test {
 protected:
  Status Open() {
    auto states = StepStates::Create(plan_, runners_, log_);
    if (!states.ok()) return states.status();
    states_.emplace(*std::move(states));
    StepSequence::Source source;
    source.runner = "a";
    source.state_is_drawn = drawn_;
    source.inputs = {{"x", DType::kFloat32, std::vector<Dim>{{1, {}}, {4, {}}}}};
    auto sequence = StepSequence::Create(*states_, std::move(source));
    if (!sequence.ok()) return sequence.status();
    sequence_ = *std::move(sequence);
    return {};
  }

  // Of the sequences that are left.
  Result<std::optional<TensorMap>> Next() {
    return sequence_->Next([this]() -> Result<std::optional<TensorMap>> {
      if (left_-- == 0) return std::optional<TensorMap>();
      return std::optional<TensorMap>(whole_);
    });
  }

  std::string WhyNot() {
    left_ = 1;
    const Status opened = Open();
    return opened.ok() ? Next().status().message() : opened.message();
  }

  StepPlan plan_;
  std::vector<std::string> runners_ = {"a", "b"};
  NoLog log_;
  TensorMap whole_ = {
      {"x", FloatRow({1, 2, 3, 4, 5, 6, 7})}, {"mask", LongRow({1, 1})}, {"at", LongRow({5})}};
  int left_ = 1;
  bool drawn_ = false;
  std::optional<StepStates> states_;
  std::unique_ptr<StepSequence> sequence_;
};

TEST_F(StepSequenceTest, EachStepTakesItsSlice) {
  plan_.slices = {"x:axis=1,size=3,hop=2,pad=1"};
  ASSERT_TRUE(Open().ok());
  EXPECT_THAT(FloatsOf(**Next(), "x"), ElementsAre(0, 1, 2));
  EXPECT_THAT(FloatsOf(**Next(), "x"), ElementsAre(2, 3, 4));
  EXPECT_THAT(FloatsOf(**Next(), "x"), ElementsAre(4, 5, 6));
  EXPECT_EQ(sequence_->position(), (StepPosition{0, 2, 3}));
  EXPECT_FALSE(Next()->has_value());
  EXPECT_THAT(states_->timeline().lengths(), ElementsAre(3));
  EXPECT_EQ(FloatsOf(sequence_->whole(), "x").size(), 7u);
}

TEST_F(StepSequenceTest, ALoneRunnersStepsAreThereBeforehandToTheEndOfTheSequence) {
  plan_.slices = {"x:axis=1,size=3,hop=2,pad=1"};
  runners_ = {"a"};
  ASSERT_TRUE(Open().ok());
  EXPECT_EQ(sequence_->Prepare(0), nullptr);
  EXPECT_THAT(FloatsOf(**Next(), "x"), ElementsAre(0, 1, 2));
  EXPECT_THAT(FloatsOf(*sequence_->Prepare(1), "x"), ElementsAre(4, 5, 6));
  EXPECT_THAT(FloatsOf(*sequence_->Prepare(0), "x"), ElementsAre(2, 3, 4));
  EXPECT_EQ(sequence_->Prepare(2), nullptr);
  EXPECT_THAT(FloatsOf(**Next(), "x"), ElementsAre(2, 3, 4));
  EXPECT_THAT(FloatsOf(*sequence_->Prepare(0), "x"), ElementsAre(4, 5, 6));
  EXPECT_THAT(FloatsOf(**Next(), "x"), ElementsAre(4, 5, 6));
  EXPECT_FALSE(Next()->has_value());
}

TEST_F(StepSequenceTest, ARunnerMayHaveSlicesOfItsOwn) {
  plan_.slices = {"x:axis=1,size=3", "b:x:axis=1,size=2,hop=3"};
  ASSERT_TRUE(Open().ok());
  (void)Next();
  const TensorMap feed = **Next();
  EXPECT_THAT(FloatsOf(feed, "x"), ElementsAre(4, 5, 6));
  EXPECT_THAT(FloatsOf(states_->WithSlices(0, feed), "x"), ElementsAre(4, 5, 6));
  EXPECT_THAT(FloatsOf(states_->WithSlices(1, feed), "x"), ElementsAre(4, 5));
}

TEST_F(StepSequenceTest, ARunnerMayTakeAllStepsAtOnce) {
  plan_.slices = {"x:axis=1,size=3,hop=2,pad=1"};
  plan_.advances = {"at:+1", "mask:append 1"};
  plan_.axes = {"b:0"};
  ASSERT_TRUE(Open().ok());
  const Result<std::optional<TensorMap>> feed = Next();
  ASSERT_TRUE(feed.ok() && *feed);
  EXPECT_THAT(FloatsOf(states_->WithSlices(0, **feed), "x"), ElementsAre(0, 1, 2));
  const TensorMap all = states_->WithSlices(1, **feed);
  EXPECT_EQ(Find(all, "x")->dims(), (Dims{3, 3}));
  EXPECT_THAT(FloatsOf(all, "x"), ElementsAre(0, 1, 2, 2, 3, 4, 4, 5, 6));
  EXPECT_EQ(Find(all, "at")->dims(), (Dims{3, 1}));
  EXPECT_THAT(LongsOf(all, "at"), ElementsAre(5, 6, 7));
  EXPECT_THAT(LongsOf(all, "mask"), ElementsAre(1, 1, 1, 1));
}

TEST_F(StepSequenceTest, SizesComeFromTheModelWhereTheWordsHaveNone) {
  plan_.slices = {"x:axis=1,pad=2"};
  ASSERT_TRUE(Open().ok());
  EXPECT_THAT(FloatsOf(**Next(), "x"), ElementsAre(0, 0, 1, 2));
  EXPECT_THAT(FloatsOf(**Next(), "x"), ElementsAre(1, 2, 3, 4));
  plan_.slices = {"mask:axis=1"};
  EXPECT_THAT(WhyNot(), HasSubstr("give size="));
}

TEST_F(StepSequenceTest, InputsAdvanceAndBeginAnewWithEachSequence) {
  plan_.steps = 3;
  plan_.advances = {"at:+2", "mask:append 1"};
  left_ = 2;
  ASSERT_TRUE(Open().ok());
  for (int64_t sequence = 0; sequence < 2; ++sequence) {
    for (int64_t step = 0; step < 3; ++step) {
      const TensorMap feed = **Next();
      EXPECT_THAT(LongsOf(feed, "at"), ElementsAre(5 + 2 * step));
      EXPECT_EQ(LongsOf(feed, "mask"), std::vector<int64_t>(static_cast<size_t>(2 + step), 1));
      EXPECT_EQ(states_->timeline().Of(3 * sequence + step), (StepPosition{sequence, step, 3}));
    }
  }
  EXPECT_FALSE(Next()->has_value());
}

// Where step 0 is too short, and step 1 would fit, the framework refuses step 0.
TEST_F(StepSequenceTest, AnAxisThatIsDeclaredDoesNotGetLonger) {
  plan_.steps = 2;
  whole_[0].tensor = FloatRow({1});
  plan_.advances = {"x:append 1*3"};
  EXPECT_EQ(WhyNot(), "");
  for (const char* const word : {"x:append 1", "x:append 1*2"}) {
    plan_.advances = {word};
    EXPECT_THAT(WhyNot(), HasSubstr("along its last axis at step 1")) << word;
  }
}

TEST_F(StepSequenceTest, FractionsAreAddedToFloatsAndChunksAppended) {
  plan_.steps = 3;
  whole_[0].tensor = FloatRow({1, 2, 3, 4});
  plan_.advances = {"x:-0.25", "mask:append 1*3"};
  ASSERT_TRUE(Open().ok());
  for (int64_t step = 0; step < 3; ++step) {
    const TensorMap feed = **Next();
    const float by = 0.25F * static_cast<float>(step);
    EXPECT_THAT(FloatsOf(feed, "x"), ElementsAre(1 - by, 2 - by, 3 - by, 4 - by));
    EXPECT_EQ(LongsOf(feed, "mask"), std::vector<int64_t>(static_cast<size_t>(2 + 3 * step), 1));
  }
  plan_.advances = {"at:+0.5"};
  EXPECT_THAT(WhyNot(), HasSubstr("--advance at:+0.5: elements of type int64 take whole numbers "
                                  "alone"));
}

TEST_F(StepSequenceTest, AValueIsSetFromTheSecondStepOn) {
  plan_.steps = 3;
  whole_[0].tensor = FloatRow({1, 2, 3, 4});
  plan_.advances = {"x:set -0.5", "at:set 7"};
  ASSERT_TRUE(Open().ok());
  EXPECT_THAT(FloatsOf(**Next(), "x"), ElementsAre(1, 2, 3, 4));
  for (int64_t step = 1; step < 3; ++step) {
    const TensorMap feed = **Next();
    EXPECT_THAT(FloatsOf(feed, "x"), ElementsAre(-0.5, -0.5, -0.5, -0.5));
    EXPECT_THAT(LongsOf(feed, "at"), ElementsAre(7));
  }
  plan_.advances = {"at:set 0.5"};
  EXPECT_THAT(WhyNot(), HasSubstr("take whole numbers alone"));
}

TEST_F(StepSequenceTest, WhatASequenceDoesNotHaveIsNamed) {
  plan_.steps = 4;
  plan_.slices = {"x:axis=1,size=3,hop=2,pad=1"};
  EXPECT_THAT(WhyNot(), HasSubstr("'x' of sequence 0 has 7 elements along axis 1, enough for 3 "
                                  "steps of 3, not for 4"));
  plan_.slices = {"x:axis=2,size=3"};
  EXPECT_THAT(WhyNot(), HasSubstr("'x' has the shape (1, 4), and no axis 2"));
  plan_.slices = {"x:axis=1,size=9,pad=1"};
  EXPECT_THAT(WhyNot(), HasSubstr("'x' of sequence 0 has the shape (1, 7), of which axis 1 is "
                                  "shorter than one step of 9 elements, 1 of them padding"));
  plan_.slices = {"z:axis=1,size=3"};
  EXPECT_THAT(WhyNot(), HasSubstr("the inputs have no 'z', but 'x', 'mask', 'at'"));
  plan_.slices = {};
  plan_.advances = {"z:+1"};
  EXPECT_THAT(WhyNot(), HasSubstr("--advance z:+1: the inputs have no 'z'"));
}

TEST_F(StepSequenceTest, OneStepOfDrawnInputsHasNothingToFeed) {
  drawn_ = true;
  whole_[0].tensor = FloatRow({1, 2, 3, 4});
  plan_.slices = {"x:axis=1"};
  EXPECT_EQ(WhyNot(), "");
  plan_.advances = {"at:+1"};
  EXPECT_THAT(WhyNot(), HasSubstr("--advance: the inputs hold one step"));
  drawn_ = false;
  EXPECT_EQ(WhyNot(), "");  // a sequence among others
  EXPECT_THAT(DescribeOneStep(plan_, std::vector<int64_t>{1, 1}), HasSubstr("one step"));
  EXPECT_EQ(DescribeOneStep(plan_, std::vector<int64_t>{1, 2}), "");
}

TEST_F(StepSequenceTest, ValuesThatTheTypeDoesNotHaveAreFoundAtOnce) {
  plan_.steps = 1'000'000'000;
  whole_[2].tensor = LongRow({INT64_MAX - 77});
  plan_.advances = {"at:+2"};
  EXPECT_THAT(WhyNot(), HasSubstr("--advance at:+2: at step 39 of sequence 0, a value would be "
                                  "9223372036854775808, and int64 goes from"));
}

TEST_F(StepSequenceTest, MoreStepsThanAnyTensorHoldsAreNamed) {
  plan_.steps = 9'000'000'000'000'000'000;
  plan_.slices = {"x:axis=1,hop=4"};
  ASSERT_TRUE(Open().ok());
  const std::vector<TensorInfo> inputs = {
      {"x", DType::kFloat32, std::vector<Dim>{{1, {}}, {4, {}}}}};
  EXPECT_THAT(InputsOfSequences(*states_, "a", inputs).status().message(),
              HasSubstr("--steps 9000000000000000000: that many steps of --step-slice "
                        "x:axis=1,hop=4 are longer than any tensor"));
}

TEST_F(StepSequenceTest, WordsThatAreNoneAreNamed) {
  for (const char* word : {"x", "x:size=3", "x:axis=-1", "x:axis=1,size=0", "x:axis=1,step=2",
                           "x:axis=1,size=3,pad=3"}) {
    plan_.slices = {word};
    EXPECT_THAT(WhyNot(), HasSubstr(std::string("--step-slice ") + word + ": ")) << word;
  }
  plan_.slices = {"x:axis=0,size=1,axis=1"};
  EXPECT_THAT(WhyNot(), HasSubstr(plan_.slices[0] + ": axis= is given twice"));
  plan_.slices = {"x:axis=1", "x:axis=0"};
  EXPECT_THAT(WhyNot(), HasSubstr("'x' is sliced twice"));
  plan_.slices = {};
  for (const char* word :
       {"at", "at:1", "at:+x", "at:+0.0", "at:+inf", "at:0.5", "mask:append", "mask:append 1*0",
        "mask:append 1*x", "mask:append 0.5", "at:set", "at:set x"}) {
    plan_.advances = {word};
    EXPECT_THAT(WhyNot(),
                HasSubstr("expected NAME:+1, NAME:-0.5, 'NAME:append 1', 'NAME:append 1*3' or "
                          "'NAME:set 1'"))
        << word;
  }
}

}  // namespace
}  // namespace vernier
