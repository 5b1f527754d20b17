// What a part keeps of decisions and images is read as it was written.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <string_view>

#include "record/shards/shard_lines.h"

namespace vernier {
namespace {

constexpr double kNoMargin = std::numeric_limits<double>::quiet_NaN();
constexpr double kEndlessMargin = std::numeric_limits<double>::infinity();

Result<ShardIteration> Again(const std::string& text) {
  return ReadShardIteration(std::string_view(text).substr(0, text.size() - 1), "line");
}

DecisionSample FlippedSample() {
  DecisionSample sample;
  sample.first = "281";
  sample.second = "invalid";
  sample.first_margin = kNoMargin;
  sample.second_margin = kEndlessMargin;
  sample.near_tie = 0.1;
  sample.similarity = 1.0 / 3;
  sample.flip = Flip::kInvalid;
  sample.detail = "1 lost";
  return sample;
}

ShardIteration DecidedIteration() {
  ShardDecision decision;
  DecisionSample labelled;
  labelled.flip = Flip::kNearTie;
  labelled.label = "map";
  labelled.first_score = 0.25;
  labelled.second_score = 1e-300;
  decision.row = {"y", "top1", {FlippedSample(), labelled}};
  decision.row.classes = 20;
  ShardExtra extra;
  extra.boxes = {1, 2, 3, 4, 1.0 / 3};
  extra.classes = {{7, 3, 2, 1}};
  decision.extras = {extra};
  decision.scores = ShardScores{7, "too few", {{1, "is 21"}}};
  decision.first = {{{{0.1, 2, 3, 4, kEndlessMargin, 5}}, false}, {{}, true}};
  decision.undetected = "too many boxes";
  ShardIteration line;
  line.index = 4;
  line.pairs.emplace_back().decisions = {{{decision}, ""}, {{}, "no output fits"}};
  line.image = ShardImage{"a/b.png", {{true, 0.5, 0.25, 1, 2, 30, 40}, {}}};
  line.pictures = {{{4, 0, "x", "gray", "aGk="}, 2}};
  return line;
}

TEST(ShardDecisions, ComeBackAsTheyWere) {
  const std::string text = ShardIterationText(DecidedIteration());
  const Result<ShardIteration> line = Again(text);
  ASSERT_TRUE(line.ok()) << line.status().message();
  EXPECT_EQ(ShardIterationText(*line), text);
  ASSERT_EQ(line->pairs.at(0).decisions.size(), 2u);
  EXPECT_EQ(line->pairs[0].decisions[1].why, "no output fits");
  const ShardDecision& kept = line->pairs[0].decisions[0].outputs.at(0);
  const DecisionSample& sample = kept.row.samples.at(0);
  EXPECT_TRUE(std::isnan(sample.first_margin));
  EXPECT_EQ(sample.second_margin, kEndlessMargin);
  EXPECT_EQ(sample.similarity, 1.0 / 3);
  EXPECT_EQ(sample.flip, Flip::kInvalid);
  EXPECT_FALSE(sample.labelled());
  EXPECT_EQ(kept.row.samples.at(1).second_score, 1e-300);
  EXPECT_EQ(kept.scores.value().unfit.at(0).why, "is 21");
  EXPECT_EQ(kept.first.at(0).boxes.at(0).x, 0.1);
  EXPECT_EQ(kept.extras.at(0).boxes.value().class_changed, 4);
  EXPECT_EQ(kept.extras[0].boxes->overlap, 1.0 / 3);
  EXPECT_EQ(kept.extras[0].classes.at(0).both, 1);
  EXPECT_TRUE(kept.first.at(1).has_nan);
  EXPECT_EQ(line->image.value().placements.at(0).width, 40);
  EXPECT_FALSE(line->image.value().placements.at(1).known);
  EXPECT_EQ(line->pictures.at(0).picture.png, "aGk=");
}

TEST(ShardDecisions, ASkippedImageHasNothingElse) {
  ShardIteration skipped;
  skipped.index = 2;
  skipped.skipped = "broken.png";
  const std::string text = ShardIterationText(skipped);
  EXPECT_EQ(IndexOfShardLine(text), 2);
  const Result<ShardIteration> line = Again(text);
  ASSERT_TRUE(line.ok()) << line.status().message();
  EXPECT_EQ(line->skipped, "broken.png");
  EXPECT_TRUE(line->pairs.empty());
  EXPECT_FALSE(line->image);
}

}  // namespace
}  // namespace vernier
