#include "run/comparison/pair_tokens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace vernier {
namespace {

using testing::ElementsAre;

// Logits of two prompts and three classes that choose these tokens by 1.
Tensor Choosing(size_t first, size_t second) {
  std::vector<float> values(6, 0);
  values[first] = values[3 + second] = 1;
  return *Tensor::Copy(DType::kFloat32, {2, 1, 3}, std::as_bytes(std::span(values)));
}

class PairTokensTest : public testing::Test {
 protected:
  void Note(int64_t step, const Tensor& first, const Tensor& second) {
    tokens_.Note(step, {0, step, 4}, "logits", {&first, &second});
  }
  static StepPlan Stops(int64_t token, StateSource state) {
    StepPlan plan;
    plan.decode_stop = token;
    plan.state = state;
    return plan;
  }

  PairTokens tokens_{StepPlan()};
};

TEST_F(PairTokensTest, NothingWasDecoded) { EXPECT_FALSE(tokens_.Record()); }

TEST_F(PairTokensTest, TheLastStepOfAPromptIsKnown) {
  tokens_ = PairTokens(Stops(2, StateSource::kOwn));
  Note(0, Choosing(0, 1), Choosing(0, 1));
  Note(1, Choosing(2, 1), Choosing(2, 1));
  Note(2, Choosing(0, 1), Choosing(0, 1));
  Note(3, Choosing(0, 2), Choosing(0, 2));
  std::vector<bool> lasts;
  for (int64_t step = 0; step < 4; ++step) lasts.push_back(tokens_.IsLastOfPrompt(step));
  EXPECT_THAT(lasts, ElementsAre(false, true, false, true));
}

TEST_F(PairTokensTest, TheStepAtWhichTokensPartIsALastOne) {
  Note(0, Choosing(0, 1), Choosing(0, 1));
  Note(1, Choosing(0, 1), Choosing(0, 2));
  Note(2, Choosing(0, 1), Choosing(1, 1));
  EXPECT_FALSE(tokens_.IsLastOfPrompt(0));
  EXPECT_TRUE(tokens_.IsLastOfPrompt(1));
  EXPECT_FALSE(tokens_.IsLastOfPrompt(2));
}

TEST_F(PairTokensTest, PromptsOfABatchPartByThemselves) {
  Note(0, Choosing(0, 1), Choosing(0, 1));
  tokens_.Judge(0, {{.within = true}});
  Note(1, Choosing(0, 1), Choosing(0, 2));
  tokens_.Judge(1, {{.within = true}});
  EXPECT_FALSE(tokens_.IsAfterDivergence({0, 1, 4}));
  EXPECT_TRUE(tokens_.IsAfterDivergence({0, 2, 4}));
  EXPECT_FALSE(tokens_.IsAfterDivergence({1, 2, 4}));
  Note(2, Choosing(1, 1), Choosing(2, 1));
  tokens_.LeaveOut(2, {0, 2, 4});
  EXPECT_THAT(tokens_.At(2)->first, ElementsAre(1, 1));
  EXPECT_THAT(tokens_.At(2)->second, ElementsAre(2, 1));
  EXPECT_TRUE(tokens_.At(2)->after_divergence);
  const DecodeRecord record = *tokens_.Record();
  EXPECT_EQ(record.prompts, 2);
  EXPECT_EQ(record.tokens, 6);
  EXPECT_EQ(record.agreeing, 4);
  EXPECT_EQ(record.diverged, 2);
  EXPECT_EQ(record.until_least, 1);
  EXPECT_EQ(record.until_median, 1.5);
  EXPECT_EQ(record.near_ties, 1);
  EXPECT_EQ(record.not_judged, 1);
  EXPECT_EQ(record.divergences[1].kind, "not judged");
  EXPECT_EQ(record.divergences[1].prompt, 0);
  std::vector<int64_t> agreeing;
  for (const AgreementPoint& point : record.agreement) agreeing.push_back(point.agreeing);
  EXPECT_THAT(agreeing, ElementsAre(2, 1, 1));
}

TEST_F(PairTokensTest, AMetricOfAllLogitsMakesNoNearTie) {
  const auto logits = [](std::vector<float> values) {
    return *Tensor::Copy(DType::kFloat32, {1, 1, 4}, std::as_bytes(std::span(values)));
  };
  // The two largest are apart by much more than the others differ, and by less.
  const Tensor far_a = logits({3, 0, 1, 1}), far_b = logits({3, 5, 1, 1});
  const Tensor near_a = logits({3, 2.9f, 1, 1}), near_b = logits({2.9f, 3, 1.2f, 0.8f});
  Note(0, far_a, far_b);
  tokens_.Judge(0, {{.within = true, .by_element = false}});
  tokens_.Note(1, {1, 0, 1}, "logits", {&near_a, &near_b});
  tokens_.Judge(1, {{.within = true, .by_element = false}});
  tokens_.Note(2, {2, 0, 1}, "logits", {&far_a, &far_b});
  tokens_.Judge(2, {{.within = true}});
  const DecodeRecord record = *tokens_.Record();
  EXPECT_EQ(record.beyond_tolerance, 1);
  EXPECT_EQ(record.near_ties, 2);
  EXPECT_EQ(record.divergences[0].kind, "beyond tolerance");
}

TEST_F(PairTokensTest, WhatIsNotJudgedIsClearByItsMargins) {
  Note(0, Choosing(0, 1), Choosing(0, 2));
  tokens_.Judge(0, {{.within = true}});
  Note(1, Choosing(1, 1), Choosing(2, 1));
  tokens_.LeaveOut(1, {0, 1, 4});
  EXPECT_EQ(tokens_.Record()->not_judged, 1);
  EXPECT_EQ(tokens_.clear_not_judged(), 1);
}

TEST_F(PairTokensTest, NanIsNoToken) {
  Tensor broken = Choosing(0, 1);
  std::vector<float> values(6, std::numeric_limits<float>::quiet_NaN());
  broken = *Tensor::Copy(DType::kFloat32, {2, 1, 3}, std::as_bytes(std::span(values)));
  Note(0, broken, broken);
  tokens_.Judge(0, {{.within = false}});
  const DecodeRecord record = *tokens_.Record();
  EXPECT_EQ(record.agreeing, 0);
  EXPECT_EQ(record.beyond_tolerance, 2);
  EXPECT_EQ(record.divergences[0].first_token, -1);
  EXPECT_TRUE(std::isnan(record.divergences[0].first_margin));
}

// However two NaN compare.
TEST_F(PairTokensTest, NanMakesNoNearTie) {
  const std::vector<float> values(6, std::numeric_limits<float>::quiet_NaN());
  const Tensor broken = *Tensor::Copy(DType::kFloat32, {2, 1, 3}, std::as_bytes(std::span(values)));
  Note(0, broken, broken);
  tokens_.Judge(0, {{.within = true}});
  EXPECT_EQ(tokens_.Record()->near_ties, 0);
  EXPECT_EQ(tokens_.Record()->beyond_tolerance, 2);
}

TEST_F(PairTokensTest, TokensOfAnotherVocabularyDoNotAgree) {
  const std::vector<float> values = {1, 0, 0, 0, 0, 1, 0, 0};
  const Tensor four = *Tensor::Copy(DType::kFloat32, {2, 1, 4}, std::as_bytes(std::span(values)));
  for (const bool compared : {true, false}) {
    tokens_ = PairTokens(StepPlan());
    Note(0, Choosing(0, 1), four);
    tokens_.Judge(0,
                  compared ? std::optional<PairTokens::Verdict>{{.within = true}} : std::nullopt);
    const DecodeRecord record = *tokens_.Record();
    EXPECT_EQ(record.agreeing, 0);
    EXPECT_EQ(record.beyond_tolerance, 2);
    EXPECT_EQ(record.divergences[0].kind, "other vocabulary");
  }
}

TEST_F(PairTokensTest, WhatCannotBeToldIsCounted) {
  tokens_.Note(0, {0, 0, 4}, "logits", {nullptr, nullptr});
  EXPECT_EQ(tokens_.missed(), 1);
  EXPECT_EQ(tokens_.why_missed(), "a side has no output 'logits'");
}

TEST_F(PairTokensTest, AStopThatAForcedSideChoosesEndsNothing) {
  tokens_ = PairTokens(Stops(2, StateSource::kReference));
  Note(0, Choosing(0, 1), Choosing(2, 1));
  Note(1, Choosing(1, 2), Choosing(1, 0));
  Note(2, Choosing(0, 1), Choosing(0, 1));
  Note(3, Choosing(2, 0), Choosing(1, 1));
  EXPECT_THAT(tokens_.At(1)->second, ElementsAre(1, 0));
  // Behind the end of what is fed.
  EXPECT_THAT(tokens_.At(2)->second, ElementsAre(0, 2));
  const DecodeRecord record = *tokens_.Record();
  EXPECT_EQ(record.tokens, 6);
  EXPECT_EQ(record.agreeing, 3);
  EXPECT_EQ(record.diverged, 2);
  EXPECT_EQ(record.until_least, 0);
}

TEST_F(PairTokensTest, WithOwnTokensEachSideEndsByItself) {
  tokens_ = PairTokens(Stops(2, StateSource::kOwn));
  Note(0, Choosing(0, 2), Choosing(2, 2));
  Note(1, Choosing(1, 1), Choosing(1, 0));
  EXPECT_THAT(tokens_.At(1)->first, ElementsAre(1, 2));
  EXPECT_THAT(tokens_.At(1)->second, ElementsAre(2, 2));
  EXPECT_EQ(tokens_.Record()->tokens, 3);
  EXPECT_EQ(tokens_.Record()->agreeing, 1);
}

// What a side is fed after its end is not chosen: the other one's stop token agrees with nothing.
TEST_F(PairTokensTest, AStopTokenOfOneSideAloneIsNoAgreement) {
  tokens_ = PairTokens(Stops(2, StateSource::kOwn));
  Note(0, Choosing(2, 0), Choosing(0, 0));
  Note(1, Choosing(1, 0), Choosing(2, 0));
  Note(2, Choosing(1, 0), Choosing(1, 0));
  const DecodeRecord record = *tokens_.Record();
  EXPECT_EQ(record.tokens, 5);    // of the first prompt two
  EXPECT_EQ(record.agreeing, 3);  // of the second alone
  EXPECT_EQ(record.diverged, 1);
}

TEST_F(PairTokensTest, BehindTheEndOfAllPromptsNothingIsCompared) {
  tokens_ = PairTokens(Stops(2, StateSource::kOwn));
  Note(0, Choosing(0, 2), Choosing(0, 2));
  EXPECT_FALSE(tokens_.IsAfterEnd({0, 1, 4}));  // the first prompt goes on
  EXPECT_EQ(tokens_.GoingOnAt(0), nullptr);     // the token that ends one counts
  Note(1, Choosing(2, 1), Choosing(2, 0));
  ASSERT_NE(tokens_.GoingOnAt(1), nullptr);
  EXPECT_THAT(*tokens_.GoingOnAt(1), ElementsAre(0));
  EXPECT_FALSE(tokens_.IsAfterEnd({0, 1, 4}));
  EXPECT_TRUE(tokens_.IsAfterEnd({0, 2, 4}));
  EXPECT_FALSE(tokens_.IsAfterEnd({1, 2, 4}));
  Note(2, Choosing(0, 1), Choosing(1, 1));
  tokens_.LeaveOut(2, {0, 2, 4});
  EXPECT_TRUE(tokens_.At(2)->after_end);
  EXPECT_FALSE(tokens_.At(2)->after_divergence);
  EXPECT_EQ(tokens_.left_out(), 1);
  EXPECT_EQ(tokens_.Record()->steps_after_end, 1);
  EXPECT_EQ(tokens_.Record()->steps_after, 0);
  EXPECT_EQ(tokens_.GoingOnAt(2), nullptr);
  EXPECT_EQ(tokens_.Record()->rows_after_end, 1);
}

TEST_F(PairTokensTest, TwoCandidatesEndWithTheReference) {
  tokens_ = PairTokens(Stops(2, StateSource::kReference));
  const Tensor reference = Choosing(0, 2), first = Choosing(2, 0), second = Choosing(2, 1);
  for (int64_t step = 0; step < 2; ++step) {
    tokens_.Note(step, {0, step, 4}, "logits", {&first, &second, &reference});
  }
  EXPECT_EQ(tokens_.Record()->tokens, 3);
  EXPECT_EQ(tokens_.Record()->agreeing, 2);
}

TEST_F(PairTokensTest, LengthsOfManySequencesAreCounted) {
  const Tensor same = Choosing(0, 1), other = Choosing(0, 2);
  for (int64_t sequence = 0; sequence < 100; ++sequence) {
    for (int64_t step = 0; step < 2; ++step) {
      const bool parts = step == 1 && sequence % 2 == 0;
      const int64_t iteration = 2 * sequence + step;
      tokens_.Note(iteration, {sequence, step, 2}, "logits", {&same, parts ? &other : &same});
    }
    EXPECT_FALSE(tokens_.IsAfterDivergence({sequence, 1, 2}));
  }
  const DecodeRecord record = *tokens_.Record();
  EXPECT_EQ(record.prompts, 200);
  EXPECT_EQ(record.diverged, 50);
  EXPECT_EQ(record.until_least, 1);
  EXPECT_EQ(record.until_median, 2);
  EXPECT_EQ(record.not_judged, 50);
}

}  // namespace
}  // namespace vernier
