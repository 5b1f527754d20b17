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
    tokens_.Note(step, {0, step, 4}, "logits", &first, &second);
  }

  PairTokens tokens_{StepPlan()};
};

TEST_F(PairTokensTest, NothingWasDecoded) { EXPECT_FALSE(tokens_.Record()); }

TEST_F(PairTokensTest, PromptsOfABatchPartByThemselves) {
  Note(0, Choosing(0, 1), Choosing(0, 1));
  tokens_.Judge(0, true);
  Note(1, Choosing(0, 1), Choosing(0, 2));
  tokens_.Judge(1, true);
  EXPECT_FALSE(tokens_.IsAfterDivergence({0, 1, 4}));
  EXPECT_TRUE(tokens_.IsAfterDivergence({0, 2, 4}));
  EXPECT_FALSE(tokens_.IsAfterDivergence({1, 2, 4}));
  Note(2, Choosing(1, 1), Choosing(2, 1));
  tokens_.LeaveOut(2);
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

TEST_F(PairTokensTest, NanIsNoToken) {
  Tensor broken = Choosing(0, 1);
  std::vector<float> values(6, std::numeric_limits<float>::quiet_NaN());
  broken = *Tensor::Copy(DType::kFloat32, {2, 1, 3}, std::as_bytes(std::span(values)));
  Note(0, broken, broken);
  tokens_.Judge(0, false);
  const DecodeRecord record = *tokens_.Record();
  EXPECT_EQ(record.agreeing, 0);
  EXPECT_EQ(record.beyond_tolerance, 2);
  EXPECT_EQ(record.divergences[0].first_token, -1);
  EXPECT_TRUE(std::isnan(record.divergences[0].first_margin));
}

TEST_F(PairTokensTest, WhatCannotBeToldIsCounted) {
  tokens_.Note(0, {0, 0, 4}, "logits", nullptr, nullptr);
  EXPECT_EQ(tokens_.missed(), 1);
  EXPECT_EQ(tokens_.why_missed(), "a side has no output 'logits'");
}

}  // namespace
}  // namespace vernier
