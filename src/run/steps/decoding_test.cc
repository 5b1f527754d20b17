// What chooses the tokens of a runner, and what the next steps are fed with.
#include "run/steps/decoding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "run/steps/decode_words.h"
#include "run/steps/greedy_tokens.h"
#include "run/steps/step_sequence.h"
#include "util/log/no_log.h"

namespace vernier {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr float kNotNumber = std::numeric_limits<float>::quiet_NaN();

Tensor Logits(Dims dims, const std::vector<float>& values) {
  return *Tensor::Copy(DType::kFloat32, std::move(dims), std::as_bytes(std::span(values)));
}

Tensor Ids(Dims dims, const std::vector<int64_t>& values) {
  return *Tensor::Copy(DType::kInt64, std::move(dims), std::as_bytes(std::span(values)));
}

// Of sizes below 0 nothing is declared.
TensorInfo Declared(std::string name, DType dtype, const Dims& dims) {
  TensorInfo info{std::move(name), dtype, std::vector<Dim>()};
  for (const int64_t size : dims) info.shape->push_back({size, {}});
  return info;
}

std::vector<int64_t> IdsOf(const TensorMap& feed, const std::string& name) {
  const auto values = Find(feed, name)->As<int64_t>();
  return {values.begin(), values.end()};
}

TEST(GreedyTokens, AreTheLargestOfTheLastPositionAndTheFirstOfEqualOnes) {
  const Tensor logits = Logits({2, 2, 3}, {9, 0, 0, 1, 2, 2,  //
                                           0, 9, 0, -3, -2, -1});
  EXPECT_THAT(*GreedyTokens(logits), ElementsAre(1, 2));
  EXPECT_THAT(*GreedyTokens(Logits({1, 3}, {1, 1, 1})), ElementsAre(0));
  EXPECT_EQ(LogitOf(logits, 1, 2), -1);
  EXPECT_TRUE(std::isnan(LogitOf(logits, 1, 3)));
}

TEST(GreedyTokens, AreFoundBeyondABlock) {
  std::vector<float> values(5000, 0);
  values[4321] = 1;
  EXPECT_THAT(*GreedyTokens(Logits({1, 1, 5000}, values)), ElementsAre(4321));
}

TEST(GreedyTokens, AreNoneWhereThereIsNan) {
  EXPECT_THAT(*GreedyTokens(Logits({2, 1, 2}, {kNotNumber, 1, 0, 1})), ElementsAre(kNoChoice, 1));
  EXPECT_THAT(*GreedyTokens(Logits({1, 2, 2}, {kNotNumber, 1, 0, 1})), ElementsAre(1));
}

TEST(GreedyTokens, NeedFloatsWithAPosition) {
  EXPECT_THAT(GreedyTokens(Ids({1, 1, 2}, {1, 2})).status().message(),
              HasSubstr("int64 (1, 1, 2)"));
  EXPECT_FALSE(GreedyTokens(Logits({1, 0, 2}, {})).ok());
  EXPECT_FALSE(GreedyTokens(Logits({2}, {1, 2})).ok());
}

TEST(TokensAsInput, HaveTheTypeAndRankOfTheInput) {
  const Tensor tokens = *TokensAsInput({7, 8}, DType::kInt32, 2);
  EXPECT_EQ(tokens.dtype(), DType::kInt32);
  EXPECT_EQ(tokens.dims(), (Dims{2, 1}));
  EXPECT_EQ(TokensAsInput({7}, DType::kInt64, 1)->dims(), (Dims{1}));
  EXPECT_THAT(TokensAsInput({300}, DType::kInt8, 2).status().message(), HasSubstr("int8"));
}

TEST(IsPerToken, IsWhatEndsInThePromptsDimensions) {
  EXPECT_TRUE(IsPerToken({1, 5}, {1, 5}));
  EXPECT_TRUE(IsPerToken({3, 2, 5}, {2, 5}));
  EXPECT_TRUE(IsPerToken({5}, {2, 5}));
  EXPECT_FALSE(IsPerToken({5}, {5, 5}));  // a value for each prompt, perhaps
  EXPECT_FALSE(IsPerToken({1, 9}, {1, 5}));
  EXPECT_FALSE(IsPerToken({1, 1}, {1, 1}));
}

class TokenPairTest : public testing::Test {
 protected:
  Result<TokenPair> Find(const std::vector<std::string>& words) {
    auto parsed = ParseDecodeWords(words, names_);
    if (!parsed.ok()) return parsed.status();
    return FindTokenPair(*parsed, {"a", inputs_, outputs_}, states_, driven_);
  }
  std::string WhyNot(const std::vector<std::string>& words) {
    return Find(words).status().message();
  }

  std::vector<std::string> names_ = {"a", "b"};
  std::vector<TensorInfo> inputs_ = {Declared("input_ids", DType::kInt32, {-1, -1}),
                                     Declared("attention_mask", DType::kInt64, {-1, -1}),
                                     Declared("past", DType::kFloat32, {1, -1, 4})};
  std::vector<TensorInfo> outputs_ = {Declared("logits", DType::kFloat16, {-1, -1, 50}),
                                      Declared("hidden", DType::kFloat32, {-1, -1, 4}),
                                      Declared("present", DType::kFloat32, {1, -1, 4})};
  std::vector<StatePair> states_ = {{"present", "past"}};
  std::vector<std::string> driven_ = {"attention_mask"};
};

TEST_F(TokenPairTest, IsFoundByName) {
  const Result<TokenPair> found = Find({"greedy"});
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_EQ(found->logits, "logits");
  EXPECT_EQ(found->tokens, "input_ids");
  EXPECT_EQ(found->dtype, DType::kInt32);
  EXPECT_EQ(found->vocabulary, 50);
}

TEST_F(TokenPairTest, IsTheOnlyOneThatIsLeft) {
  inputs_[0].name = "ids";
  outputs_.erase(outputs_.begin());
  const Result<TokenPair> found = Find({"greedy"});
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_EQ(found->logits, "hidden");
  EXPECT_EQ(found->tokens, "ids");
}

TEST_F(TokenPairTest, IsTheDecodersBesideAnEncoder) {
  inputs_.push_back(Declared("decoder_input_ids", DType::kInt64, {-1, -1}));
  EXPECT_EQ(Find({"greedy"})->tokens, "decoder_input_ids");
}

TEST_F(TokenPairTest, IsAskedForWhereThereAreSeveral) {
  outputs_[0].name = "scores";
  EXPECT_THAT(WhyNot({"greedy"}), HasSubstr("several outputs that may be the logits: 'scores'"));
  EXPECT_THAT(WhyNot({"greedy"}), HasSubstr("--decode greedy:a:LOGITS=TOKENS"));
  EXPECT_EQ(Find({"greedy:scores=input_ids"})->logits, "scores");
  EXPECT_EQ(Find({"greedy", "greedy:a:hidden=input_ids"})->logits, "hidden");
  inputs_[0].name = "ids";
  driven_.clear();
  EXPECT_THAT(WhyNot({"greedy:b:x=y", "greedy:a:scores=nosuch"}),
              HasSubstr("a has no input 'nosuch', but 'ids'"));
  outputs_[0].name = "logits";
  EXPECT_THAT(WhyNot({"greedy"}), HasSubstr("several inputs that may take the tokens: 'ids'"));
}

TEST_F(TokenPairTest, IsNoneWithoutLogitsOrTokens) {
  outputs_ = {outputs_[2]};
  EXPECT_THAT(WhyNot({"greedy"}), HasSubstr("no floating output [batch, sequence, vocabulary]"));
  EXPECT_THAT(WhyNot({"greedy:q=input_ids"}), HasSubstr("a has no output 'q', but 'present'"));
  outputs_ = {Declared("logits", DType::kFloat32, {-1, 50})};
  inputs_ = {inputs_[2]};
  EXPECT_THAT(WhyNot({"greedy"}), HasSubstr("no integer input that is left for the tokens"));
  EXPECT_THAT(WhyNot({"greedy:logits=past"}), HasSubstr("'past' is not an integer input"));
}

TEST_F(TokenPairTest, IsNotFedTwice) {
  driven_ = {"input_ids"};
  EXPECT_THAT(WhyNot({"greedy:logits=input_ids"}), HasSubstr("'input_ids' is set twice"));
}

TEST_F(TokenPairTest, WordsAreRead) {
  EXPECT_THAT(WhyNot({"beam"}), HasSubstr("--decode beam: only 'greedy' is known"));
  EXPECT_THAT(WhyNot({"greedy:logits"}), HasSubstr("expected greedy:LOGITS=TOKENS"));
  EXPECT_THAT(WhyNot({"greedy:z:"}), HasSubstr("about one runner, got 'z:' behind 'greedy:'"));
  EXPECT_THAT(WhyNot({"greedy", "greedy:l=t"}), HasSubstr("another word about all runners"));
  EXPECT_THAT(WhyNot({"greedy:a:l=t", "greedy:a:m=t"}), HasSubstr("another word about 'a'"));
}

// A model with two prompts of three tokens.
class DecodedFeedsTest : public testing::Test {
 protected:
  DecodedFeedsTest() {
    plan_.steps = 3;
    plan_.decode = {"greedy"};
    plan_.advances = {"position_ids:+1", "attention_mask:append 1"};
    whole_ = {{"input_ids", Ids({2, 3}, {1, 2, 3, 0, 1, 2})},
              {"position_ids", Ids({2, 3}, {0, 1, 2, 0, 0, 1})},
              {"attention_mask", Ids({2, 3}, {1, 1, 1, 0, 1, 1})}};
  }

  Status Open() {
    auto states = StepStates::Create(plan_, {"a"}, log_);
    if (!states.ok()) return states.status();
    states_.emplace(*std::move(states));
    Status paired = states_->Pair(0, {"a", inputs_, outputs_});
    if (!paired.ok()) return paired;
    auto sequence = StepSequence::Create(*states_, {.runner = "a", .inputs = inputs_});
    if (!sequence.ok()) return sequence.status();
    sequence_ = *std::move(sequence);
    return {};
  }

  Result<std::optional<TensorMap>> Next() {
    return sequence_->Next([this] { return Result<std::optional<TensorMap>>(whole_); });
  }
  TensorMap Fed() { return **Next(); }

  Status Say(const std::vector<float>& logits) {
    return states_->Remember(0, {{"logits", Logits({2, 1, 4}, logits)}});
  }

  StepPlan plan_;
  TensorMap whole_;
  std::vector<TensorInfo> inputs_ = {Declared("input_ids", DType::kInt64, {-1, -1}),
                                     Declared("position_ids", DType::kInt64, {-1, -1}),
                                     Declared("attention_mask", DType::kInt64, {-1, -1})};
  std::vector<TensorInfo> outputs_ = {Declared("logits", DType::kFloat32, {-1, -1, 4})};
  NoLog log_;
  std::optional<StepStates> states_;
  std::unique_ptr<StepSequence> sequence_;
};

TEST_F(DecodedFeedsTest, ThePromptComesFirstAndThenATokenAStep) {
  ASSERT_TRUE(Open().ok());
  TensorMap feed = Fed();
  EXPECT_THAT(IdsOf(feed, "input_ids"), ElementsAre(1, 2, 3, 0, 1, 2));
  EXPECT_THAT(IdsOf(feed, "position_ids"), ElementsAre(0, 1, 2, 0, 0, 1));
  ASSERT_TRUE(Say({0, 1, 0, 0, 0, 0, 0, 1}).ok());
  feed = Fed();
  EXPECT_EQ(Find(feed, "input_ids")->dims(), (Dims{2, 1}));
  EXPECT_THAT(IdsOf(feed, "input_ids"), ElementsAre(1, 3));
  EXPECT_THAT(IdsOf(feed, "position_ids"), ElementsAre(3, 2));
  EXPECT_THAT(IdsOf(feed, "attention_mask"), ElementsAre(1, 1, 1, 1, 0, 1, 1, 1));
  ASSERT_TRUE(Say({1, 0, 0, 0, 0, 0, 1, 0}).ok());
  feed = Fed();
  EXPECT_THAT(IdsOf(feed, "input_ids"), ElementsAre(0, 2));
  EXPECT_THAT(IdsOf(feed, "position_ids"), ElementsAre(4, 3));
  ASSERT_TRUE(Say({1, 0, 0, 0, 0, 0, 1, 0}).ok());
  EXPECT_THAT(IdsOf(Fed(), "input_ids"), ElementsAre(1, 2, 3, 0, 1, 2));
}

TEST_F(DecodedFeedsTest, ASequenceThatHasEndedStaysEnded) {
  plan_.decode_stop = 3;
  ASSERT_TRUE(Open().ok());
  Fed();
  ASSERT_TRUE(Say({0, 1, 0, 0, 0, 0, 0, 1}).ok());
  EXPECT_THAT(IdsOf(Fed(), "input_ids"), ElementsAre(1, 3));
  ASSERT_TRUE(Say({0, 0, 1, 0, 1, 0, 0, 0}).ok());
  EXPECT_THAT(IdsOf(Fed(), "input_ids"), ElementsAre(2, 3));
}

TEST_F(DecodedFeedsTest, BehindNanAPromptGoesOnWithAnyToken) {
  const std::vector<std::string> runners = {"a"};
  ASSERT_TRUE(Open().ok());
  Fed();
  ASSERT_TRUE(Say({0, 1, 0, 0, 0, 0, 0, 1}).ok());
  EXPECT_THAT(states_->decoding()->DescribeNans(runners), IsEmpty());
  Fed();
  ASSERT_TRUE(Say({0, 1, 0, 0, 0, kNotNumber, 0, 1}).ok());
  EXPECT_THAT(IdsOf(Fed(), "input_ids"), ElementsAre(1, 0));
  EXPECT_THAT(states_->decoding()->DescribeNans(runners),
              ElementsAre("a: 'logits' holds NaN at its last position and chooses no token at step "
                          "1 of sequence 0, prompt 1"));
}

TEST_F(DecodedFeedsTest, PromptsAreTokensOfTheVocabulary) {
  whole_[0].tensor = Ids({2, 3}, {1, 2, 3, 0, 4, 2});
  ASSERT_TRUE(Open().ok());
  EXPECT_THAT(Next().status().message(),
              HasSubstr("token 4 at place 1 of prompt 1 of sequence 0 is not in the vocabulary: "
                        "'logits' has 4 (random prompts: --val-range input_ids:[0,3])"));
}

TEST_F(DecodedFeedsTest, TheFirstLogitsShowAVocabularyThatIsNotDeclared) {
  outputs_[0].shape->back().value = -1;
  whole_[0].tensor = Ids({2, 3}, {1, 2, 3, 0, 4, 2});
  ASSERT_TRUE(Open().ok());
  Fed();
  EXPECT_THAT(Say({0, 0, 1, 0, 1, 0, 0, 0}).message(),
              HasSubstr("token 4 at place 1 of prompt 1 of sequence 0 is not in the vocabulary: "
                        "'logits' has 4"));
}

TEST_F(DecodedFeedsTest, ThePromptIsNotPaddedOnTheRight) {
  whole_[2].tensor = Ids({2, 3}, {0, 1, 1, 1, 1, 0});
  ASSERT_TRUE(Open().ok());
  const Status why = Next().status();
  EXPECT_EQ(why.code(), StatusCode::kMalformed);
  EXPECT_THAT(why.message(),
              HasSubstr("--decode: 'attention_mask' excludes the last position of prompt 1 of "
                        "sequence 0, which chooses the next token: pad prompts on the left"));
}

TEST_F(DecodedFeedsTest, AMaskThatIsNoneSaysNothingOfPadding) {
  whole_[2].tensor = Ids({2, 3}, {0, 1, 1, 1, 1, 0});
  ASSERT_TRUE(Open().ok());
  states_->decoding()->NameMask("none");
  EXPECT_TRUE(Next().ok());
}

// An encoder's, beside a decoder that calls its tokens as it likes.
TEST_F(DecodedFeedsTest, WhatBelongsToOtherTokensStaysWhole) {
  const auto named = [](std::string name, std::string axis) {
    TensorInfo info = Declared(std::move(name), DType::kInt64, {-1, -1});
    info.shape->front().symbol = "b";
    info.shape->back().symbol = std::move(axis);
    return info;
  };
  inputs_ = {named("input_ids", "s"), named("attention_mask", "s"), named("tgt_ids", "t"),
             named("position_ids", "t")};
  plan_.decode = {"greedy:logits=tgt_ids"};
  plan_.advances = {"attention_mask:+0", "input_ids:+0", "position_ids:+1"};
  const Tensor prompt = whole_[0].tensor;
  whole_[2].tensor = Ids({2, 3}, {1, 1, 1, 1, 1, 0});
  whole_.push_back({"tgt_ids", prompt});
  ASSERT_TRUE(Open().ok());
  ASSERT_TRUE(Next().ok());
  ASSERT_TRUE(Say({0, 1, 0, 0, 0, 0, 0, 1}).ok());
  const TensorMap feed = Fed();
  EXPECT_EQ(Find(feed, "tgt_ids")->dims(), (Dims{2, 1}));
  EXPECT_EQ(Find(feed, "position_ids")->dims(), (Dims{2, 1}));
  EXPECT_THAT(IdsOf(feed, "attention_mask"), ElementsAre(1, 1, 1, 1, 1, 0));
  EXPECT_THAT(IdsOf(feed, "input_ids"), ElementsAre(1, 2, 3, 0, 1, 2));
}

// Where axes have no names, the name of the tokens tells the encoder's mask, and not positions.
TEST_F(DecodedFeedsTest, PositionsBesideADecodersTokensAreTheirs) {
  whole_[0].name = "decoder_input_ids";
  inputs_[0].name = "decoder_input_ids";
  plan_.advances = {"position_ids:+1", "attention_mask:+0"};
  whole_[2].tensor = Ids({2, 3}, {1, 1, 1, 1, 1, 0});
  ASSERT_TRUE(Open().ok());
  ASSERT_TRUE(Next().ok());
  ASSERT_TRUE(Say({0, 1, 0, 0, 0, 0, 0, 1}).ok());
  const TensorMap feed = Fed();
  EXPECT_THAT(IdsOf(feed, "position_ids"), ElementsAre(3, 2));
  EXPECT_THAT(IdsOf(feed, "attention_mask"), ElementsAre(1, 1, 1, 1, 1, 0));
}

TEST_F(DecodedFeedsTest, TheMaskOfADecoderGoesOn) {
  whole_[0].name = inputs_[0].name = "decoder_input_ids";
  whole_[1].name = "decoder_position_ids";
  whole_[2].name = "decoder_attention_mask";
  plan_.advances = {"decoder_position_ids:+1"};
  ASSERT_TRUE(Open().ok());
  EXPECT_THAT(Next().status().message(),
              HasSubstr("--decode: 'decoder_attention_mask' has a value for each of the 3 tokens"));
  plan_.advances = {"decoder_attention_mask:append 1"};
  ASSERT_TRUE(Open().ok());
  EXPECT_THAT(Next().status().message(), HasSubstr("'decoder_position_ids' has a value for each"));
}

// Where nothing tells them apart but that somebody says so.
TEST_F(DecodedFeedsTest, AValueThatIsSaidToStayStaysWhole) {
  inputs_ = {Declared("input_ids", DType::kInt64, {-1, -1}),
             Declared("attention_mask", DType::kInt64, {-1, -1}),
             Declared("tgt_ids", DType::kInt64, {-1, -1}),
             Declared("token_type_ids", DType::kInt64, {-1, -1})};
  plan_.decode = {"greedy:logits=tgt_ids"};
  plan_.advances = {"attention_mask:+0", "input_ids:+0", "token_type_ids:+0"};
  whole_[1].name = "token_type_ids";
  whole_.push_back({"tgt_ids", whole_[0].tensor});
  ASSERT_TRUE(Open().ok());
  ASSERT_TRUE(Next().ok());
  ASSERT_TRUE(Say({0, 1, 0, 0, 0, 0, 0, 1}).ok());
  const TensorMap feed = Fed();
  EXPECT_EQ(Find(feed, "tgt_ids")->dims(), (Dims{2, 1}));
  EXPECT_THAT(IdsOf(feed, "attention_mask"), ElementsAre(1, 1, 1, 0, 1, 1));
  EXPECT_THAT(IdsOf(feed, "input_ids"), ElementsAre(1, 2, 3, 0, 1, 2));
  EXPECT_THAT(IdsOf(feed, "token_type_ids"), ElementsAre(2, 1));  // that of the next token
}

TEST_F(DecodedFeedsTest, WhatIsForEachTokenOfThePromptGoesOn) {
  plan_.advances = {"attention_mask:append 1"};
  ASSERT_TRUE(Open().ok());
  EXPECT_THAT(Next().status().message(),
              HasSubstr("--decode: 'position_ids' has a value for each of the 3 tokens"));
}

TEST_F(DecodedFeedsTest, TheTokenThatEndsASequenceIsOfTheVocabulary) {
  plan_.decode_stop = 4;
  const Status why = Open();
  EXPECT_EQ(why.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(why.message(), HasSubstr("--decode-stop 4: 'logits' of a has 4 tokens, from 0 to 3"));
}

TEST_F(DecodedFeedsTest, AnUndeclaredVocabularyIsKnownByTheFirstLogits) {
  plan_.decode_stop = 4;
  outputs_[0].shape->back().value = -1;
  ASSERT_TRUE(Open().ok());
  Fed();
  EXPECT_THAT(Say({0, 1, 0, 0, 0, 0, 0, 1}).message(), HasSubstr("--decode-stop 4: 'logits'"));
}

TEST_F(DecodedFeedsTest, VocabulariesAreOfOneSize) {
  auto states = StepStates::Create(plan_, {"a", "b"}, log_);
  ASSERT_TRUE(states.ok());
  ASSERT_TRUE(states->Pair(0, {"a", inputs_, outputs_}).ok());
  outputs_[0].shape->back().value = 5;
  EXPECT_THAT(states->Pair(1, {"b", inputs_, outputs_}).message(),
              HasSubstr("the vocabulary of b has 5 tokens, that of another runner 4"));
}

}  // namespace
}  // namespace vernier
