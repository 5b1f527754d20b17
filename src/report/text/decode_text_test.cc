#include "report/text/decode_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <string_view>

#include "report/text/run_summary.h"

namespace vernier {
namespace {

using testing::HasSubstr;
using testing::Not;

// Two prompts of eight tokens, of which the second parts at step 3.
PairRecord PartedPair(const std::string& kind) {
  PairRecord pair;
  pair.first = "a";
  pair.second = "b";
  DecodeRecord& decode = pair.decode.emplace();
  decode.logits = "logits";
  decode.prompts = 2;
  decode.tokens = 16;
  decode.agreeing = 12;
  decode.diverged = 1;
  decode.until_median = 5.5;
  decode.until_least = 3;
  decode.steps_after = 4;
  (kind == "near tie" ? decode.near_ties : decode.beyond_tolerance) = 1;
  decode.divergences = {{.sequence = 1,
                         .prompt = 0,
                         .step = 3,
                         .first_token = 281,
                         .second_token = 17,
                         .first_margin = 0.0025,
                         .second_margin = 0.0005,
                         .kind = kind}};
  return pair;
}

TEST(FormatDecode, SaysWhereTokensPart) {
  EXPECT_EQ(FormatDecode(PartedPair("near tie")),
            "12 of 16 tokens of 2 prompts agree (75 %); 1 prompt diverges, after a median of 5.5 "
            "agreeing tokens over all prompts, at the least 3; at step 3 of sequence 1, prompt 0: "
            "token 281 against 17, apart by 0.0025 in a and 0.0005 in b: a near tie; 4 steps after "
            "a divergence, with other histories, were not compared");
  EXPECT_EQ(FormatDecode(PairRecord()), "");
}

TEST(FormatDecode, SaysOfANearTieWhetherTheLogitsPass) {
  constexpr std::string_view kWithin = "a near tie, the logits are within their tolerance; 4 steps";
  PairRecord pair = PartedPair("near tie");
  OutputRecord& logits = pair.outputs.emplace_back();
  logits.name = "logits";
  logits.compared = 8;
  logits.passed = 8;
  EXPECT_THAT(FormatDecode(pair), HasSubstr(kWithin));
  logits.passed = 7;
  EXPECT_THAT(FormatDecode(pair), Not(HasSubstr(kWithin)));
}

TEST(FormatDecode, SaysThatAllAgree) {
  PairRecord pair = PartedPair("near tie");
  pair.decode->agreeing = 16;
  pair.decode->diverged = 0;
  EXPECT_EQ(FormatDecode(pair), "all 16 tokens of 2 prompts agree");
  pair.decode->forced = true;
  EXPECT_EQ(FormatDecode(pair), "all 16 tokens of 2 prompts agree, both fed with the same tokens");
  pair.decode->steps_after_end = 1;
  EXPECT_THAT(FormatDecode(pair), HasSubstr("; 1 step after the end of all prompts was not"));
  EXPECT_THAT(FormatDecode(pair), Not(HasSubstr("row")));
  pair.decode->rows_after_end = 20;
  EXPECT_THAT(FormatDecode(pair), HasSubstr("same tokens; 20 rows of prompts after their end were "
                                            "left out of the comparisons; 1 step"));
}

TEST(FormatDecode, CountsOneToken) {
  PairRecord pair = PartedPair("near tie");
  pair.decode->until_median = 1;
  EXPECT_THAT(FormatDecode(pair), HasSubstr("after a median of 1 agreeing token over all"));
}

TEST(FormatDecode, SaysWhichAgreementWasAskedFor) {
  PairRecord pair = PartedPair("near tie");
  pair.decode->min_agreement = 0.75;
  EXPECT_THAT(FormatDecode(pair), HasSubstr("agree (75 %, at least 75 % asked for); 1 prompt"));
  EXPECT_FALSE(FailsTokens(pair));
  pair.decode->min_agreement = 0.9;
  EXPECT_THAT(FormatDecode(pair), HasSubstr("agree (75 %, less than 90 % asked for); 1 prompt"));
  EXPECT_TRUE(FailsTokens(pair));
  pair.judged_by = "decisions";
  EXPECT_TRUE(FailsTokens(pair));
}

TEST(FormatDecode, NamesNanAndTheKindsOfSeveral) {
  PairRecord pair = PartedPair("beyond tolerance");
  DecodeRecord& decode = *pair.decode;
  decode.near_ties = 2;
  decode.divergences[0].second_token = -1;
  decode.divergences[0].first_margin = std::nan("");
  decode.divergences.insert(decode.divergences.begin(),
                            PartedPair("near tie").decode->divergences[0]);
  const std::string text = FormatDecode(pair);
  EXPECT_THAT(text, HasSubstr("(2 near ties, 1 out of tolerance)"));
  EXPECT_THAT(text, HasSubstr("token 281 against none (NaN): the logits are out of tolerance"));
}

TEST(FormatDecode, ADivergenceBeyondTheToleranceFailsItsPair) {
  PairRecord pair = PartedPair("beyond tolerance");
  OutputRecord& other = pair.outputs.emplace_back();
  other.name = "y";
  other.compared = other.passed = 4;
  other.elements = 3;
  pair.compared_iterations = pair.expected_iterations = 4;
  EXPECT_TRUE(FailsTokens(pair));
  EXPECT_THAT(FormatPair(pair, false), HasSubstr("FAILED"));
  pair.judged_by = "decisions";
  EXPECT_FALSE(FailsTokens(pair));
  EXPECT_FALSE(FailsTokens(PartedPair("near tie")));
}

}  // namespace
}  // namespace vernier
