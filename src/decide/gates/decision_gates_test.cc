#include "decide/gates/decision_gates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "decide/figures/intervals.h"

namespace vernier {
namespace {

using testing::SizeIs;

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

}  // namespace
}  // namespace vernier
