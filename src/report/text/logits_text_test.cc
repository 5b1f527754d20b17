#include "report/text/logits_text.h"

#include <gtest/gtest.h>

#include <cmath>

#include "report/text/tokens_text.h"

namespace vernier {
namespace {

LogitsResult SomeLogits() {
  LogitsResult logits;
  logits.axis = 2;
  logits.classes = 49152;
  logits.position_dims = {1, 512};
  LogitMeasures& measures = logits.measures;
  measures.positions = measures.compared = 512;
  measures.divergence_mean = 0.000999996;
  measures.divergence_error = 1.25e-5;
  measures.divergence_quantiles = {1e-4, 2e-4, 3e-4, 4e-4, 5e-4, 6e-4};
  measures.divergence_most = 0.0007;
  measures.worst_row = 17;
  measures.top_probability_rms = 0.01;
  measures.top_k = 5;
  measures.equal_top1 = 510;
  measures.equal_sets = 500;
  measures.flips = 2;
  measures.close_flips = 1;
  measures.flip_margin_mean = 0.25;
  measures.flip_margin_most = 0.5;
  measures.flip_row = 3;
  logits.kl_threshold = 1e-3;
  logits.top1_threshold = 1;
  return logits;
}

TEST(FormatLogits, SaysEverythingThatWasMeasured) {
  const std::vector<LogitsLine> lines = FormatLogits(SomeLogits());
  ASSERT_EQ(lines.size(), 7U);
  EXPECT_EQ(lines[0].text, "512 positions of 49152 logits, along axis 2");
  EXPECT_EQ(lines[1].text,
            "KL divergence: mean 0.001 ± 1.25e-05, median 0.0003, 1 % 0.0001, 5 % 0.0002, 95 % "
            "0.0004, 99 % 0.0005, 99.9 % 0.0006, maximum 0.0007 (at (0, 17))");
  EXPECT_EQ(lines[2].text, "Probability of the reference's top-1: RMS difference 0.01");
  EXPECT_EQ(lines[3].text,
            "Top-1 equal: 510 of 512 (99.609 %), top-5 sets equal: 500 of 512 (97.656 %)");
  EXPECT_EQ(lines[4].text,
            "2 flips of the top-1, 1 of them close; margin of the reference: mean 0.25, maximum "
            "0.5 (at (0, 3))");
  EXPECT_EQ(lines[5].text, "Mean KL divergence: 0.000999996 (tolerance: 0.001) | PASSED");
  EXPECT_EQ(lines[5].passed, true);
  EXPECT_EQ(lines[6].text, "Share of equal top-1: 0.99805 (min required: 1) | FAILED");
  EXPECT_EQ(lines[6].passed, false);
}

TEST(FormatLogits, SaysThatSetsOfAllClassesShowNothing) {
  LogitsResult logits = SomeLogits();
  logits.classes = logits.measures.top_k = 40;
  EXPECT_EQ(
      FormatLogits(logits)[3].text,
      "Top-1 equal: 510 of 512 (99.609 %); larger sets not compared: --logits-top-k 40 covers all "
      "40 classes");
}

TEST(FormatLogits, SaysHowLikelyTheNextTokensAreAndWhatAMaskExcludes) {
  LogitsResult logits = SomeLogits();
  logits.tokens.tokens = "input_ids";
  logits.tokens.mask = "attention_mask";
  logits.measures.excluded = 3;
  logits.measures.tokens.Add(std::log(2.0), 0);
  const std::vector<LogitsLine> lines = FormatLogits(logits);
  EXPECT_EQ(lines[0].text,
            "512 positions of 49152 logits, along axis 2, 3 excluded by 'attention_mask'");
  EXPECT_EQ(
      lines[5].text,
      "Next token: perplexity 2 and 2 over 1 token of 'input_ids', ratio 1, RMS difference of "
      "the token's probability 0");
}

TEST(FormatLogits, CountsWhatCouldNotBeCompared) {
  LogitsResult logits = SomeLogits();
  logits.measures.nan = 2;
  logits.measures.masked = 1;
  const std::vector<LogitsLine> lines = FormatLogits(logits);
  EXPECT_EQ(lines[0].text, "512 positions of 49152 logits, along axis 2, 1 masked, 2 with NaN");
  EXPECT_EQ(lines[5].text, "NaN | FAILED");
  logits.measures.torn = 1;
  EXPECT_EQ(FormatLogits(logits)[5].text, "NaN, -inf on one side alone | FAILED");
}

TEST(FormatNotLogits, SaysWhy) {
  EXPECT_EQ(FormatNotLogits({{"ids", "int64"}, {"loss", "a scalar"}}),
            "'ids' (int64), 'loss' (a scalar)");
}

TEST(LogitsText, PositionsThatWereNotComparedAreNamed) {
  LogitsTotalsRecord total;
  total.iterations = 8;
  total.compared = 4;
  total.top1_share = 1;
  total.nan = 4;
  EXPECT_EQ(FormatLogitsTotal(total),
            "over 4 positions of 8 iterations mean KL divergence 0 ± 0, maximum 0, equal top-1 "
            "100 %; 4 positions with NaN");
  total.infinite = 1;
  EXPECT_TRUE(FormatLogitsTotal(total).ends_with("; 4 positions with NaN; 1 position with +inf"));
}

}  // namespace
}  // namespace vernier
