#include "decide/decision_fold.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "decide/intervals.h"

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

TEST(DecisionFold, NoiseTurnsAroundLessThanHalf) {
  DecisionSample tie = SampleOf(0.1, Flip::kNearTie);
  tie.near_tie = 0.2;
  tie.by_noise = true;
  DecisionOptions options;
  options.max_clear_flips = 0;
  const auto judged = [&](const char* kind, const char* first, const char* second) {
    tie.first = first, tie.second = second;
    DecisionFold fold("y", kind, 1);
    fold.Add(0, 0, std::vector<DecisionSample>(50, tie));
    const DecisionRecord record = fold.Record();
    const DecisionGateRecord gate = JudgeDecision(record, options).at(0);
    EXPECT_EQ(record.clear_flips + record.near_ties, 50);
    EXPECT_EQ(record.worst[0].sample.flip == Flip::kClear, record.clear_flips > 0);
    return std::pair(gate.verdict, gate.undecided);
  };
  const std::pair<std::string, bool> wrong = {"failed", false}, open = {"passed", true};
  EXPECT_EQ(judged("top1", "3", "4"), wrong);
  EXPECT_EQ(judged("threshold=0.5", "yes", "no"), wrong);
  EXPECT_EQ(judged("sign", "+", "-"), wrong);
  EXPECT_EQ(judged("argmax", "3", "4"), wrong);
  EXPECT_EQ(judged("argmax", "0:3 1:4", "0:4 1:3"), open) << "of many positions";
  EXPECT_EQ(judged("sign", "0 3", "none"), open);
  EXPECT_EQ(judged("top5", "3 4", "4 5"), open);
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

DecisionRecord RecordOf(int64_t samples, int64_t flips) {
  DecisionRecord record;
  record.output = "y";
  record.samples = samples;
  record.flips = record.clear_flips = flips;
  return record;
}

TEST(JudgeDecision, HoldsThePointEstimateAndSaysWhetherItIsDecided) {
  DecisionOptions options;
  options.max_flip_rate.entries = {{"y", 0.02}};
  const auto few = JudgeDecision(RecordOf(100, 1), options);
  ASSERT_THAT(few, SizeIs(1));
  EXPECT_EQ(few[0].gate, "--max-flip-rate");
  EXPECT_EQ(few[0].verdict, "passed");
  EXPECT_TRUE(few[0].undecided);
  EXPECT_EQ(few[0].samples_to_decide, SamplesToDecide(0.01, 0.02));
  const auto many = JudgeDecision(RecordOf(10000, 300), options);
  EXPECT_EQ(many[0].verdict, "failed");
  EXPECT_FALSE(many[0].undecided);
}

TEST(JudgeDecision, ALimitOfZeroIsDecidedByTheCount) {
  DecisionOptions options;
  options.max_flip_rate.fallback = 0;
  const auto none = JudgeDecision(RecordOf(10, 0), options);
  EXPECT_EQ(none[0].verdict, "passed");
  EXPECT_FALSE(none[0].undecided);
  EXPECT_EQ(JudgeDecision(RecordOf(10, 1), options)[0].verdict, "failed");
}

TEST(JudgeDecision, ARateHoldsForTheDecisionsThatItNames) {
  DecisionOptions options;
  options.max_flip_rate.fallback = 0.5;
  options.max_flip_rate.entries = {{"y", 0.1}, {"y:top1", 0.2}, {"top5", 0.05}};
  DecisionRecord record = RecordOf(10, 1);
  const auto limit_of = [&](const char* output, const char* kind) {
    record.output = output;
    record.kind = kind;
    return JudgeDecision(record, options).at(0).limit;
  };
  EXPECT_EQ(limit_of("y", "top1"), 0.2);
  EXPECT_EQ(limit_of("y", "top5"), 0.05);
  EXPECT_EQ(limit_of("y", "sign"), 0.1);
  EXPECT_EQ(limit_of("y[0]", "sign"), 0.1);
  EXPECT_EQ(limit_of("z", "sign"), 0.5);
}

TEST(JudgeDecision, TheNarrowestNameHoldsInAnyOrder) {
  DecisionOptions options;
  DecisionRecord record = RecordOf(10, 1);
  record.output = "y";
  record.kind = "top1";
  record.labels.emplace().samples = 10;
  record.labels->first = 1;
  const auto limits = [&](std::vector<std::pair<std::string, double>> entries) {
    options.max_flip_rate.entries = options.max_drop.entries = std::move(entries);
    const auto gates = JudgeDecision(record, options);
    return std::pair(gates.at(0).limit, gates.at(1).limit);
  };
  const auto both = [](double limit) { return std::pair(limit, limit); };
  EXPECT_EQ(limits({{"y:top1", 0.1}, {"y", 0.5}, {"top1", 0.4}}), both(0.1));
  EXPECT_EQ(limits({{"y", 0.05}, {"top1", 0.04}, {"y:top1", 0.1}}), both(0.1));
  // Neither is narrower than the other.
  EXPECT_EQ(limits({{"y", 0.5}, {"top1", 0.4}}), both(0.4));
  EXPECT_EQ(limits({{"top1", 0.4}, {"y", 0.5}}), both(0.4));
  EXPECT_EQ(limits({{"y", 0.1}, {"y", 0.5}}), both(0.5));
}

TEST(JudgeDecision, WhatIsZeroCannotDrop) {
  DecisionOptions options;
  options.max_drop.fallback = 0.01;
  DecisionRecord record = RecordOf(10, 1);
  LabelRecord& labels = record.labels.emplace();
  labels.samples = 10;
  labels.second = 0.1;
  labels.drop = -0.1;
  for (const DropType type : {DropType::kAbsolute, DropType::kRelative}) {
    options.drop_type = type;
    const auto gates = JudgeDecision(record, options);
    ASSERT_THAT(gates, SizeIs(1));
    EXPECT_EQ(gates[0].verdict, "no samples");
  }
}

TEST(JudgeDecision, WhatScoresNoMoreThanTheLimitCannotFail) {
  DecisionOptions options;
  DecisionRecord record = RecordOf(2000, 1986);
  LabelRecord& labels = record.labels.emplace();
  labels.samples = 2000;
  labels.first = 0.004;
  labels.second = 0.0005;
  labels.drop = 0.0035;
  const auto doubt = [&](double limit) {
    options.max_drop.fallback = limit;
    return JudgeDecision(record, options).front().doubtful_by;
  };
  EXPECT_EQ(doubt(0.01), "the reference scores no more than the drop that is allowed");
  EXPECT_TRUE(JudgeDecision(record, options).front().undecided);
  EXPECT_EQ(JudgeDecision(record, options).front().verdict, "passed");
  EXPECT_EQ(doubt(0.0039), "");
  EXPECT_EQ(doubt(1), "") << "whoever allows all asks for no gate";
  options.drop_type = DropType::kRelative;
  EXPECT_EQ(doubt(0.9), "");
}

TEST(JudgeDecision, SamplesThatAreAlikeProveLittle) {
  DecisionRecord record;
  record.samples = 1;
  LabelRecord& labels = record.labels.emplace();
  labels.metric = "mean IoU";
  labels.samples = 1;
  labels.first = 0.9;
  labels.second = 0.896;
  labels.drop = labels.drop_low = labels.drop_high = 0.004;
  DecisionOptions options;
  options.max_drop.fallback = 0.01;
  const auto judged = [&] { return JudgeDecision(record, options).front(); };
  EXPECT_EQ(judged().verdict, "passed");
  EXPECT_TRUE(judged().undecided);
  EXPECT_EQ(judged().doubtful_by, "the samples are too few, or too much alike, for an interval");
  EXPECT_GT(judged().samples_to_decide, 600);
  labels.samples = 1000;  // Wilson's upper end of 0 of 1000 is 0.0038
  EXPECT_FALSE(judged().undecided);
  labels.drop = labels.drop_low = labels.drop_high = 0;
  options.max_drop.fallback = 0;
  labels.samples = 2;
  EXPECT_FALSE(judged().undecided) << "by the count";
  labels.metric = std::string(kMeanAbsoluteError);
  options.max_drop.fallback = 0.1;
  EXPECT_FALSE(judged().undecided);
  labels.samples = 1;
  EXPECT_TRUE(judged().undecided);
  EXPECT_EQ(judged().samples_to_decide, std::nullopt);
  PrecisionRecord& precision = record.precision.emplace();
  precision.images = 1;
  precision.first.ap = 1;
  precision.second.ap = 0.9;
  for (const double limit : {0.2, 0.05}) {
    options.max_drop.fallback = limit;
    EXPECT_TRUE(judged().undecided) << limit;
  }
}

TEST(JudgeDecision, ClearFlipsAreCounted) {
  DecisionOptions options;
  options.max_clear_flips = 3;
  EXPECT_EQ(JudgeDecision(RecordOf(10, 3), options)[0].verdict, "passed");
  EXPECT_EQ(JudgeDecision(RecordOf(10, 4), options)[0].verdict, "failed");
  EXPECT_THAT(JudgeDecision(RecordOf(10, 4), {}), SizeIs(0));
}

TEST(JudgeDecision, FlipsOfRightNetworksLeaveItUndecided) {
  DecisionOptions options;
  options.max_clear_flips = 3;
  DecisionRecord record = RecordOf(10, 5);
  record.clear_by = "where no noise is known";
  const auto judged = [&](int64_t doubtful) {
    record.doubtful_clear = doubtful;
    return JudgeDecision(record, options)[0];
  };
  EXPECT_EQ(judged(2).verdict, "failed");
  EXPECT_TRUE(judged(2).undecided);
  EXPECT_EQ(judged(2).doubtful_by, "where no noise is known");
  EXPECT_FALSE(judged(1).undecided) << "four remain";
  options.near_tie = 0.1;
  EXPECT_FALSE(judged(2).undecided);
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
