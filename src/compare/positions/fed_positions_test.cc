// Which rows of logits tokens and masks are about.
#include "compare/positions/fed_positions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compare/outputs/tensor_for_test.h"
#include "kernels/classes/logits.h"

namespace vernier {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

PositionValues FedInput(const Tensor& tensor, int64_t count, bool asked = false) {
  return {.source = "fed", .asked = asked, .tensor = tensor, .count = count};
}

PositionValues FedFile(const Tensor& tensor, const PositionValues::Place& place) {
  return {.source = "t.npy", .asked = true, .tensor = tensor, .place = place};
}

TEST(MatchPositions, JudgesAPositionByTheTokenBehindIt) {
  const FedPositions fed{.tokens = FedInput(Ints({2, 3}, {1, 2, 3, 4, 5, 6}), 3), .mask = {}};
  const RowTokens rows = MatchPositions(fed, {2, 3}, 7);
  EXPECT_THAT(rows.next, ElementsAre(2, 3, kNoToken, 5, 6, kNoToken));
  EXPECT_EQ(rows.tokens, "fed");
}

TEST(MatchPositions, TheFirstTokenOfTheNextStepIsKnown) {
  const FedPositions fed{.tokens = FedInput(Ints({1, 3}, {1, 2, 3}), 2), .mask = {}};
  EXPECT_THAT(MatchPositions(fed, {1, 2}, 7).next, ElementsAre(2, 3));
  EXPECT_THAT(MatchPositions(fed, {2}, 7).next, ElementsAre(2, 3));
}

TEST(MatchPositions, NeitherPaddingNorWhatPrecedesItIsJudged) {
  const FedPositions fed{.tokens = FedInput(Ints({1, 4}, {0, 5, 6, 0}), 4),
                         .mask = FedInput(Ints({1, 4}, {0, 1, 1, 0}), 4)};
  const RowTokens rows = MatchPositions(fed, {1, 4}, 7);
  EXPECT_THAT(rows.next, ElementsAre(kExcludedRow, 6, kNoToken, kExcludedRow));
  EXPECT_EQ(rows.mask, "fed");
}

TEST(MatchPositions, NorIsThePaddingThatTheNextStepBeginsWith) {
  const FedPositions fed{.tokens = FedInput(Ints({2, 3}, {1, 2, 3, 4, 5, 6}), 2),
                         .mask = FedInput(Ints({2, 3}, {1, 1, 0, 0, 1, 1}), 2)};
  EXPECT_THAT(MatchPositions(fed, {2, 2}, 7).next, ElementsAre(2, kNoToken, kExcludedRow, 6));
}

TEST(MatchPositions, WhatNobodyAskedForAndDoesNotFitIsNotApplied) {
  const FedPositions fed{.tokens = FedInput(Ints({1, 4}, {0, 5, 6, 9}), 4),
                         .mask = FedInput(Ints({1, 6}, {0, 1, 1, 0, 1, 1}), 6)};
  const RowTokens rows = MatchPositions(fed, {1, 4}, 7);
  EXPECT_THAT(rows.next, IsEmpty());
  EXPECT_EQ(rows.why_no_tokens + rows.why_no_mask, "");
  EXPECT_EQ(rows.foreign_token, "in 'fed', token 9 at (0, 3) is none of the 7 classes");
}

TEST(MatchPositions, WhatWasAskedForSaysWhyItDoesNotFit) {
  FedPositions fed{.tokens = FedInput(Ints({1, 4}, {0, 5, 6, 9}), 4, true),
                   .mask = FedInput(Ints({1, 3}, {1, 1, 1}), 3, true)};
  const RowTokens rows = MatchPositions(fed, {1, 4}, 7);
  EXPECT_EQ(rows.why_no_tokens, "token 9 at (0, 3) is none of the 7 classes");
  EXPECT_THAT(rows.why_no_mask, HasSubstr("shape (1, 3) does not fit logits at positions of"));
}

TEST(MatchPositions, TheFirstTokenIsOfTheVocabularyToo) {
  FedPositions fed{.tokens = FedInput(Ints({2, 3}, {1, 5, 6, -3, 5, 6}), 3, true), .mask = {}};
  EXPECT_EQ(MatchPositions(fed, {2, 3}, 7).why_no_tokens,
            "token -3 at (1, 0) is none of the 7 classes");
  fed.mask = FedInput(Ints({2, 3}, {1, 1, 1, 0, 1, 1}), 3, true);
  EXPECT_EQ(MatchPositions(fed, {2, 3}, 7).why_no_tokens, "");
}

TEST(MatchPositions, AMaskThatWasAskedForAndIsLongerIsAboutItsEnd) {
  const FedPositions fed{.tokens = {}, .mask = FedInput(Ints({1, 4}, {0, 0, 0, 1}), 4, true)};
  EXPECT_THAT(MatchPositions(fed, {1, 2}, 7).next, ElementsAre(kExcludedRow, kNoToken));
}

TEST(MatchPositions, AFileHasTheColumnsOfStepsAndTheRowsOfSequences) {
  const Tensor tokens = Ints({2, 5}, {0, 1, 2, 3, 4, 4, 3, 2, 1, 0});
  const auto next = [&](const PositionValues::Place& place, const Dims& dims) {
    return MatchPositions({.tokens = FedFile(tokens, place), .mask = {}}, dims, 5);
  };
  EXPECT_THAT(next({1, 1, true}, {1, 2}).next, ElementsAre(1, 0));
  EXPECT_THAT(next({0, 2, true}, {1, 2}).why_no_tokens, HasSubstr("step 2 of sequence 0"));
  EXPECT_THAT(next({2, 0, true}, {1, 2}).why_no_tokens, HasSubstr("sequence 2"));
  EXPECT_THAT(next({1, 0, false}, {1, 4}).next, ElementsAre(3, 2, 1, 0));
  EXPECT_THAT(next({0, 0, false}, {2, 3}).why_no_tokens, HasSubstr("has no tokens for the (2, 3)"));
}

TEST(MatchPositions, AFileGoesOnWhereTheSequencesBeforeItEnd) {
  const Tensor tokens = Ints({5, 2}, {0, 1, 0, 2, 0, 3, 0, 4, 0, 5});
  const auto judge = [&](PositionValues::Place place, int64_t batch) {
    return MatchPositions({.tokens = FedFile(tokens, place), .mask = {}}, {batch, 2}, 6);
  };
  const RowTokens known = judge({.sequence = 2, .rows_before = 4}, 1);
  EXPECT_THAT(known.next, ElementsAre(5, kNoToken));
  EXPECT_EQ(known.first_row, 4);
  EXPECT_EQ(known.rows, 1);
  EXPECT_EQ(judge({.sequence = 2, .most = 2}, 1).first_row, 4);
  EXPECT_EQ(judge({.sequence = 1, .most = 1}, 2).first_row, 2);
  EXPECT_EQ(judge({.sequence = 1}, 5).rows, 0);  // which serves every sequence
}

TEST(WhyNoMask, OnlyZerosAndOnesOfIntegersSayWhichPositionsCount) {
  EXPECT_THAT(WhyNoMask(Ints({4}, {0, 1, 1, 0})), IsEmpty());
  EXPECT_EQ(WhyNoMask(Ints({3}, {0, 1, -100})), "-100");
  EXPECT_THAT(WhyNoMask(*Tensor::Copy(DType::kBool, {1}, Ints({1}, {1}).bytes().first(1))),
              HasSubstr("bool"));
}

}  // namespace
}  // namespace vernier
