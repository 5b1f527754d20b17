#include "decide/gates/decision_fold.h"
#include "decide/gates/decision_gates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "decide/figures/intervals.h"

namespace vernier {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

DecisionSample SampleOf(double margin, Flip flip = Flip::kNone) {
  DecisionSample sample;
  sample.first_margin = margin;
  sample.flip = flip;
  return sample;
}

TEST(DecisionFold, CountsFlipsAndTheirMargins) {
  DecisionFold fold("y", "top1", 2);
  fold.Add(0, 0, {SampleOf(0.5), SampleOf(3, Flip::kClear), SampleOf(0.01, Flip::kNearTie)});
  fold.Add(1, 0,
           {SampleOf(std::nan(""), Flip::kInvalid), SampleOf(1, Flip::kClear), SampleOf(0.2)});
  const DecisionRecord record = fold.Record();
  EXPECT_EQ(record.samples, 6);
  EXPECT_EQ(record.flips, 4);
  EXPECT_EQ(record.clear_flips, 3);
  EXPECT_EQ(record.near_ties, 1);
  EXPECT_EQ(record.invalid, 1);
  EXPECT_DOUBLE_EQ(record.agreement, 2.0 / 6);
  EXPECT_EQ(record.interval_low, WilsonInterval(2, 6).first);
  ASSERT_TRUE(record.first_flip);
  EXPECT_EQ(record.first_flip->iteration, 0);
  EXPECT_EQ(record.first_flip->row, 1);
  ASSERT_THAT(record.worst, SizeIs(2));
  EXPECT_EQ(record.worst[0].sample.first_margin, 3);
  EXPECT_EQ(record.worst[0].row, 1);
  EXPECT_EQ(record.worst[1].sample.first_margin, 1);
}

TEST(DecisionFold, WhatIsInvalidHidesNoClearFlip) {
  DecisionSample one = SampleOf(std::nan(""), Flip::kInvalid);
  one.first = "invalid";
  DecisionSample both = one;
  both.second = "invalid";
  DecisionFold fold("y", "top1", 4);
  fold.Add(0, 0, {both, both, one, SampleOf(0.01, Flip::kNearTie)});
  fold.Add(1, 0, {SampleOf(1, Flip::kClear), both});
  const DecisionRecord record = fold.Record();
  EXPECT_EQ(record.invalid, 4);
  ASSERT_THAT(record.worst, SizeIs(4));
  EXPECT_EQ(record.worst[0].sample.flip, Flip::kClear);
  EXPECT_EQ(record.worst[1].row, 2);
  EXPECT_EQ(record.worst[2].sample.flip, Flip::kNearTie);
  EXPECT_EQ(record.worst[3].row, 0);
}

TEST(DecisionFold, TheHistogramWidens) {
  DecisionFold fold("y", "top1", 1);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  fold.Add(0, 0, {SampleOf(0), SampleOf(0.9), SampleOf(7, Flip::kClear), SampleOf(kInfinity)});
  const DecisionRecord record = fold.Record();
  EXPECT_EQ(record.margin_most, 8);
  ASSERT_THAT(record.margin_counts, SizeIs(20));
  EXPECT_EQ(record.margin_counts[0], 1);
  EXPECT_EQ(record.margin_counts[2], 1);   // 0.9 of bins of 0.4
  EXPECT_EQ(record.margin_counts[17], 1);  // 7
  EXPECT_EQ(record.margin_flips[17], 1);
}

TEST(DecisionFold, AddsUpBoxesAndClasses) {
  DecisionSample boxes;
  boxes.boxes = {3, 1, 0, 2, 2.5};
  DecisionFold fold("y", "boxes:yolov8", 1);
  EXPECT_FALSE(fold.Record().boxes);
  fold.Add(0, 0, {boxes, SampleOf(0, Flip::kInvalid)});
  boxes.boxes = {1, 0, 4, 0, 1};
  fold.Add(1, 0, {boxes});
  const BoxTotalsRecord of = fold.Record().boxes.value();
  EXPECT_EQ(of.matched, 4);
  EXPECT_EQ(of.lost, 1);
  EXPECT_EQ(of.invented, 4);
  EXPECT_EQ(of.class_changed, 2);
  EXPECT_EQ(of.mean_iou, 3.5 / 4);
  fold.Add(2, 0, {SampleOf(1)});  // the counts of all samples, or of none
  EXPECT_FALSE(fold.Record().boxes);
  DecisionSample map;
  map.classes = {{0, 10, 8, 8}, {7, 0, 2, 0}};
  DecisionFold maps("y", "argmax", 1);
  maps.Add(0, 0, {map, map});
  map.classes = {{3, 5, 5, 5}, {7, 4, 4, 4}};
  maps.Add(1, 0, {map});
  const DecisionRecord record = maps.Record();
  EXPECT_FALSE(record.boxes);
  ASSERT_THAT(record.class_ious, SizeIs(3));
  EXPECT_EQ(record.class_ious[0].iou, 0.8);
  EXPECT_EQ(record.class_ious[1].category, 3);
  EXPECT_EQ(record.class_ious[1].iou, 1);
  EXPECT_EQ(record.class_ious[2].second, 8);
  EXPECT_EQ(record.class_ious[2].iou, 0.5);
}

TEST(DecisionFold, NothingFoundAnywhereShowsNothing) {
  DecisionSample none;
  none.first = none.second = "none";
  DecisionFold boxes("y", "boxes:yolov8", 1);
  boxes.Add(0, 0, {none, none});
  EXPECT_EQ(boxes.Record().vacuous, "no sample of either side has a detection");
  DecisionSample one = none;
  one.second = "3";
  boxes.Add(1, 0, {one});
  EXPECT_EQ(boxes.Record().vacuous, "");
  DecisionFold sign("y", "sign", 1);
  sign.Add(0, 0, {none});
  EXPECT_EQ(sign.Record().vacuous, "");
}

TEST(DecisionFold, EqualValuesShowNothingWhateverDecidesByThem) {
  const DecisionSample apart;
  DecisionSample tied;
  tied.all_above = true;
  for (const char* const kind : {"argmax", "argmax=-1", "rank=2", "ctc=-1"}) {
    DecisionFold fold("y", kind, 1);
    fold.Add(0, 0, {apart, tied});
    EXPECT_EQ(fold.Record().vacuous, "") << kind;
    fold.Add(1, 0, {tied});
    EXPECT_EQ(fold.Record().vacuous, "in most samples the reference decides between equal values")
        << kind;
  }
  DecisionFold sign("y", "sign", 1);
  sign.Add(0, 0, {apart, tied, tied});
  EXPECT_EQ(sign.Record().vacuous, "");
}

// 50 near ties whose sides have so much in common: the verdict of --max-clear-flips 0, and whether
// that is open.
std::pair<std::string, bool> JudgeTies(const char* kind, DecisionSample tie, double alike) {
  tie.near_tie = 0.2;
  tie.similarity = alike;
  DecisionOptions options;
  options.max_clear_flips = 0;
  DecisionFold fold("y", kind, 1);
  fold.Add(0, 0, std::vector<DecisionSample>(50, tie));
  const DecisionRecord record = fold.Record();
  const DecisionGateRecord gate = JudgeDecision(record, options).at(0);
  EXPECT_EQ(record.clear_flips + record.near_ties, 50);
  EXPECT_EQ(record.worst[0].sample.flip == Flip::kClear, record.clear_flips > 0);
  return {gate.verdict, gate.undecided};
}

TEST(DecisionFold, NoiseTurnsAroundLessThanHalf) {
  const std::pair<std::string, bool> wrong = {"failed", false}, open = {"passed", true};
  DecisionSample tie = SampleOf(0.1, Flip::kNearTie);
  tie.by_noise = true;
  EXPECT_EQ(JudgeTies("top1", tie, 0), wrong);
  for (const char* const kind : {"threshold=0.5", "sign", "argmax", "argmax=1"}) {
    EXPECT_EQ(JudgeTies(kind, tie, 0), wrong) << kind;
    EXPECT_EQ(JudgeTies(kind, tie, 0.45), wrong) << kind << ": most positions differ";
    EXPECT_EQ(JudgeTies(kind, tie, 0.5), open) << kind << ": one in each may";
  }
  for (const char* const kind : {"top5", "rank=3"}) {
    EXPECT_EQ(JudgeTies(kind, tie, 0), wrong) << kind << ": not one is left";
    EXPECT_EQ(JudgeTies(kind, tie, 0.2), open) << kind;
  }
  for (const char* const kind : {"ctc", "boxes:yolov8"}) {
    EXPECT_EQ(JudgeTies(kind, tie, 0), open) << kind;
  }
}

TEST(DecisionFold, ABoundThatIsExceededExcusesNoMajority) {
  DecisionSample tie = SampleOf(0.1, Flip::kNearTie);
  EXPECT_EQ(JudgeTies("top1", tie, 0).first, "passed") << "the bound may be right";
  tie.over_bound = true;
  EXPECT_EQ(JudgeTies("top1", tie, 0), std::pair(std::string("failed"), false));
  tie.by_noise = true;
  EXPECT_EQ(JudgeTies("top1", tie, 0), std::pair(std::string("passed"), true)) << "by two steps";
}

TEST(DecisionFold, WithoutSamplesThereIsNoAgreement) {
  const DecisionRecord record = DecisionFold("y", "top1", 4).Record();
  EXPECT_TRUE(std::isnan(record.agreement));
  DecisionOptions options;
  options.max_flip_rate.fallback = 0.1;
  options.max_clear_flips = 0;
  const auto gates = JudgeDecision(record, options);
  ASSERT_THAT(gates, SizeIs(2));
  EXPECT_EQ(gates[0].verdict, "no samples");
  EXPECT_EQ(gates[1].verdict, "no samples");
}

// A sample of two classes has no others whose noise could excuse a flip.
TEST(DecisionFold, FlipsWithoutNoiseAreHeldAgainstTheMargins) {
  DecisionFold fold("y", "top1", 4);
  std::vector<DecisionSample> samples(51);
  for (size_t i = 0; i + 1 < samples.size(); ++i) {
    samples[i].first_margin = 0.5;
    samples[i].second_margin = i % 2 == 0 ? 0.49 : 0.51;
  }
  samples[50].flip = Flip::kClear;
  samples[50].first_margin = 0.01;
  samples[50].by_noise = true;
  fold.Add(0, 0, samples);
  DecisionRecord record = fold.Record();
  EXPECT_EQ(record.clear_flips, 0);
  EXPECT_EQ(record.near_ties, 1);
  EXPECT_EQ(record.doubtful_by, "by the noise of the margins");
  EXPECT_EQ(record.worst[0].sample.flip, Flip::kNearTie);
  samples[50].first_margin = 0.05;
  fold.Add(1, 0, samples);
  record = fold.Record();
  EXPECT_EQ(record.clear_flips, 1);
  EXPECT_EQ(record.doubtful_clear, 1);
  samples[50].first_margin = 0.4;
  fold.Add(2, 0, samples);
  EXPECT_EQ(fold.Record().clear_flips, 2);
  EXPECT_EQ(fold.Record().doubtful_clear, 1);
}

}  // namespace
}  // namespace vernier
