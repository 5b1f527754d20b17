// Whole runs whose runners choose their tokens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "run/comparison/no_reports.h"
#include "run/executor.h"
#include "run/workers/fake_workers.h"
#include "util/log/no_log.h"

namespace vernier {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing_workers::FakeAnswer;
using testing_workers::FakeModel;
using testing_workers::FakeWorkers;
using testing_workers::Floats;
using testing_workers::RunnersOf;

constexpr int64_t kClasses = 5;
constexpr int64_t kStepsOfRun = 4;

using Scores = std::vector<float>;

// One class is chosen by 1.
Scores OneOf(size_t token) {
  Scores row(kClasses, 0);
  row[token] = 1;
  return row;
}

// What a model was fed as tokens, inference by inference.
using Heard = std::shared_ptr<std::vector<std::vector<int64_t>>>;

// A prompt of three tokens, then one a step; the last position of `logits` is `row` of the
// inference's number.
FakeModel Says(std::function<Scores(int64_t run)> row, const Heard& heard = nullptr) {
  FakeModel model;
  model.inputs = {{"input_ids", DType::kInt64, std::vector<Dim>{{1, {}}, {-1, {}}}}};
  model.outputs = {
      {"logits", DType::kFloat32, std::vector<Dim>{{1, {}}, {-1, {}}, {kClasses, {}}}}};
  model.infer = [row, heard](const TensorMap& feed, int64_t run) {
    const Tensor& ids = *Find(feed, "input_ids");
    const auto tokens = ids.As<int64_t>();
    if (heard) heard->emplace_back(tokens.begin(), tokens.end());
    std::vector<float> values(tokens.size() * kClasses, 0.25F);
    const Scores last = row(run);
    std::ranges::copy(last, values.end() - kClasses);
    return FakeAnswer{FakeAnswer::Kind::kOutputs,
                      TensorMap{{"logits", Floats({1, ids.dims()[1], kClasses}, values)}}};
  };
  return model;
}

// 3, 4, 2, 1 in each sequence.
Scores Script(int64_t run) {
  constexpr size_t kTokens[] = {3, 4, 2, 1};
  return OneOf(kTokens[run % kStepsOfRun]);
}

class DecodingRunsTest : public testing::Test {
 protected:
  DecodingRunsTest() {
    plan_.inputs.iterations = 2;
    plan_.inputs.range_words = {"[0,4]"};
    plan_.inputs.shape_words = {"input_ids:[1,3]"};
    plan_.steps.steps = kStepsOfRun;
    plan_.steps.decode = {"greedy"};
    plan_.execution.use_subprocess = true;
  }

  RunOutcome Run(const std::map<std::string, FakeModel>& models) {
    plan_.runners = RunnersOf(models);
    FakeWorkers workers(models, interrupted_, log_);
    Embedder caller;
    caller.workers = &workers;
    return ExecuteRun(plan_, log_, observer_, interrupted_, &caller);
  }

  // `other` in step 2 of the first sequence, else as Script().
  static FakeModel SaysOtherwise(Scores other, const Heard& heard = nullptr) {
    return Says([other](int64_t run) { return run == 2 ? other : Script(run); }, heard);
  }
  static Heard Listen() { return std::make_shared<std::vector<std::vector<int64_t>>>(); }

  RunPlan plan_;
  std::atomic<int> interrupted_{0};
  NoLog log_;
  NoReports observer_;
};

TEST_F(DecodingRunsTest, EachStepIsFedWithTheTokenOfTheOneBefore) {
  const Heard a = Listen(), b = Listen();
  for (const bool alone : {true, false}) {
    a->clear();
    const RunOutcome ran = alone ? Run({{"a", Says(Script, a)}})
                                 : Run({{"a", Says(Script, a)}, {"b", Says(Script, b)}});
    EXPECT_THAT(ran.record.error, IsEmpty());
    EXPECT_FALSE(ran.faults.any());
    ASSERT_EQ(a->size(), 8u);
    EXPECT_EQ((*a)[0].size(), 3u);
    EXPECT_THAT((*a)[1], ElementsAre(3));
    EXPECT_THAT((*a)[2], ElementsAre(4));
    EXPECT_THAT((*a)[3], ElementsAre(2));
    EXPECT_EQ((*a)[4].size(), 3u);
    EXPECT_THAT((*a)[5], ElementsAre(3));
    if (!alone) {
      EXPECT_EQ(*a, *b);
    }
  }
}

TEST_F(DecodingRunsTest, TokensThatAgreeAreCounted) {
  for (const bool in_turn : {false, true}) {
    plan_.execution.sequential = in_turn;
    const RunOutcome ran = Run({{"a", Says(Script)}, {"b", Says(Script)}});
    EXPECT_THAT(ran.record.error, IsEmpty());
    EXPECT_FALSE(ran.faults.any());
    ASSERT_TRUE(ran.record.pairs[0].decode);
    const DecodeRecord& decode = *ran.record.pairs[0].decode;
    EXPECT_EQ(decode.prompts, 2);
    EXPECT_EQ(decode.tokens, 8);
    EXPECT_EQ(decode.agreeing, 8);
    EXPECT_EQ(decode.diverged, 0);
    EXPECT_EQ(decode.until_least, 4);
    EXPECT_THAT(decode.divergences, IsEmpty());
    EXPECT_EQ(ran.record.pairs[0].compared_iterations, 8);
  }
}

TEST_F(DecodingRunsTest, ANearTieEndsTheComparisonOfItsSequenceAndIsNoMismatch) {
  const Scores first = {0, 0, 1, 1 - 4e-6F, 0}, second = {0, 0, 1 - 4e-6F, 1, 0};
  const Heard a = Listen(), b = Listen();
  const RunOutcome ran = Run({{"a", SaysOtherwise(first, a)}, {"b", SaysOtherwise(second, b)}});
  EXPECT_FALSE(ran.faults.any());
  EXPECT_THAT((*a)[3], ElementsAre(2));
  EXPECT_THAT((*b)[3], ElementsAre(3));
  const PairRecord& pair = ran.record.pairs[0];
  EXPECT_EQ(pair.compared_iterations, 7);
  EXPECT_EQ(pair.decode->steps_after, 1);
  EXPECT_EQ(pair.decode->near_ties, 1);
  EXPECT_EQ(pair.decode->agreeing, 7);  // the token behind it is the same again
  EXPECT_EQ(pair.decode->until_least, 2);
  EXPECT_EQ(pair.decode->until_median, 3);
  ASSERT_EQ(pair.decode->divergences.size(), 1u);
  const DivergenceRecord& divergence = pair.decode->divergences[0];
  EXPECT_EQ(divergence.sequence, 0);
  EXPECT_EQ(divergence.step, 2);
  EXPECT_EQ(divergence.first_token, 2);
  EXPECT_EQ(divergence.second_token, 3);
  EXPECT_NEAR(divergence.first_margin, 4e-6, 1e-7);
  EXPECT_EQ(divergence.kind, "near tie");
}

TEST_F(DecodingRunsTest, ADivergenceBeyondTheToleranceIsAMismatch) {
  const RunOutcome ran = Run({{"a", Says(Script)}, {"b", SaysOtherwise(OneOf(0))}});
  EXPECT_TRUE(ran.faults.mismatch);
  const DecodeRecord& decode = *ran.record.pairs[0].decode;
  EXPECT_EQ(decode.beyond_tolerance, 1);
  EXPECT_EQ(decode.divergences[0].first_margin, 1);
  EXPECT_THAT(ran.record.rejections,
              ElementsAre(HasSubstr("step 2 of sequence 0, prompt 0: token 2 against 0")));
}

TEST_F(DecodingRunsTest, WhatIsBehindADivergenceIsNotJudged) {
  const Scores first = {0, 0, 1, 1 - 4e-6F, 0}, second = {0, 0, 1 - 4e-6F, 1, 0};
  const auto goes_astray = [second](int64_t run) {
    return run == 2 ? second : run == 3 ? OneOf(0) : Script(run);
  };
  const RunOutcome ran = Run({{"a", SaysOtherwise(first)}, {"b", Says(goes_astray)}});
  EXPECT_FALSE(ran.faults.any());
  EXPECT_EQ(ran.record.pairs[0].decode->agreeing, 6);
}

TEST_F(DecodingRunsTest, WithTheReferencesTokensEveryStepIsJudged) {
  plan_.steps.state = StateSource::kReference;
  const Heard b = Listen();
  const RunOutcome ran = Run({{"a", Says(Script)}, {"b", SaysOtherwise(OneOf(0), b)}});
  EXPECT_TRUE(ran.faults.mismatch);
  EXPECT_THAT((*b)[3], ElementsAre(2));
  const PairRecord& pair = ran.record.pairs[0];
  EXPECT_EQ(pair.compared_iterations, 8);
  EXPECT_TRUE(pair.decode->forced);
  EXPECT_EQ(pair.decode->steps_after, 0);
  EXPECT_EQ(pair.decode->agreeing, 7);
}

TEST_F(DecodingRunsTest, AStopThatTheCandidateAloneChoosesEndsNothingWhereItIsForced) {
  plan_.steps.state = StateSource::kReference;
  plan_.steps.decode_stop = 0;
  const RunOutcome ran = Run({{"a", Says(Script)}, {"b", SaysOtherwise(OneOf(0))}});
  const DecodeRecord& decode = *ran.record.pairs[0].decode;
  EXPECT_EQ(decode.tokens, 8);
  EXPECT_EQ(decode.agreeing, 7);
  EXPECT_EQ(decode.divergences.size(), 1u);
}

TEST_F(DecodingRunsTest, CrossedStatesHaveTheCandidatesTokens) {
  plan_.steps.state = StateSource::kCross;
  const RunOutcome ran = Run({{"a", Says(Script)}, {"b", Says(Script)}});
  EXPECT_THAT(ran.record.error, IsEmpty());
}

TEST_F(DecodingRunsTest, AStateInsideIsNotThatOfAnother) {
  FakeModel keeps = Says(Script);
  keeps.reset = [] {};
  for (const StateSource source : {StateSource::kReference, StateSource::kCross}) {
    plan_.steps.state = source;
    const std::string flag = source == StateSource::kCross ? "--state cross" : "--state reference";
    EXPECT_THAT(Run({{"a", Says(Script)}, {"b", keeps}}).record.error,
                HasSubstr(flag + ": b keeps its state inside"));
    EXPECT_THAT(Run({{"a", keeps}, {"b", Says(Script)}}).record.error,
                HasSubstr(flag + ": a keeps its state inside"));
  }
  plan_.steps.state = StateSource::kOwn;
  plan_.steps.initial_state = "none.npz";
  EXPECT_THAT(
      Run({{"a", Says(Script)}, {"b", keeps}}).record.error,
      HasSubstr("--initial-state: b keeps its state inside, where a first state cannot be set"));
  plan_.steps.initial_state.clear();
  EXPECT_THAT(Run({{"a", Says(Script)}, {"b", keeps}}).record.error, IsEmpty());
  plan_.steps.finds_own_errors = true;
  const RunOutcome ran = Run({{"a", Says(Script)}, {"b", keeps}});
  EXPECT_TRUE(ran.faults.usage);
  EXPECT_THAT(ran.record.error,
              HasSubstr("no step shows its own error; find the step with `vernier run --decode"));
}

TEST_F(DecodingRunsTest, BehindTheEndNoTokenCounts) {
  plan_.steps.decode_stop = 4;
  const Heard a = Listen();
  const RunOutcome ran = Run({{"a", Says(Script, a)}, {"b", Says(Script)}});
  EXPECT_FALSE(ran.faults.any());
  EXPECT_THAT((*a)[2], ElementsAre(4));
  EXPECT_THAT((*a)[3], ElementsAre(4));
  EXPECT_EQ(ran.record.pairs[0].decode->tokens, 4);
  EXPECT_EQ(ran.record.pairs[0].decode->agreeing, 4);
}

TEST_F(DecodingRunsTest, BehindTheEndOutputsAreNotJudged) {
  plan_.steps.decode_stop = 4;
  for (const StateSource source : {StateSource::kOwn, StateSource::kReference}) {
    plan_.steps.state = source;
    const RunOutcome ran = Run({{"a", Says(Script)}, {"b", SaysOtherwise(OneOf(0))}});
    EXPECT_FALSE(ran.faults.any());
    const PairRecord& pair = ran.record.pairs[0];
    EXPECT_EQ(pair.compared_iterations, 4);
    EXPECT_EQ(pair.decode->steps_after_end, 4);
    EXPECT_EQ(pair.decode->diverged, 0);
  }
}

TEST_F(DecodingRunsTest, NanPartsOneSequenceAndTheOthersGoOn) {
  const Scores broken(kClasses, std::numeric_limits<float>::quiet_NaN());
  for (const StateSource source : {StateSource::kOwn, StateSource::kReference}) {
    plan_.steps.state = source;
    const RunOutcome ran = Run({{"a", Says(Script)}, {"b", SaysOtherwise(broken)}});
    EXPECT_TRUE(ran.faults.mismatch);
    EXPECT_FALSE(ran.faults.incomplete);
    EXPECT_THAT(ran.record.error, IsEmpty());
    EXPECT_EQ(ran.record.pairs[0].compared_iterations, source == StateSource::kOwn ? 7 : 8);
    const DecodeRecord& decode = *ran.record.pairs[0].decode;
    EXPECT_EQ(decode.divergences[0].second_token, -1);
    EXPECT_EQ(decode.beyond_tolerance, 1);
  }
}

TEST_F(DecodingRunsTest, NanOnBothSidesIsNoAgreement) {
  const Scores broken(kClasses, std::numeric_limits<float>::quiet_NaN());
  const RunOutcome ran = Run({{"a", SaysOtherwise(broken)}, {"b", SaysOtherwise(broken)}});
  EXPECT_TRUE(ran.faults.mismatch);
  EXPECT_EQ(ran.record.pairs[0].decode->near_ties, 0);
  EXPECT_EQ(ran.record.pairs[0].decode->beyond_tolerance, 1);
}

TEST_F(DecodingRunsTest, NanOfALoneRunnerIsNoPass) {
  const Scores broken(kClasses, std::numeric_limits<float>::quiet_NaN());
  const RunOutcome ran = Run({{"a", SaysOtherwise(broken)}});
  EXPECT_TRUE(ran.faults.incomplete);
  EXPECT_THAT(ran.record.faults,
              ElementsAre("--decode: a: 'logits' holds NaN at its last position and chooses no "
                          "token at step 2 of sequence 0"));
}

TEST_F(DecodingRunsTest, ARunnerWithoutTokensIsNamed) {
  FakeModel mute = Says(Script);
  mute.inputs[0].dtype = DType::kFloat32;
  EXPECT_THAT(Run({{"a", Says(Script)}, {"b", mute}}).record.error,
              HasSubstr("--decode: b has no integer input that is left for the tokens"));
}

}  // namespace
}  // namespace vernier
