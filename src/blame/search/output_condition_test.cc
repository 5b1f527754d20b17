#include "blame/search/output_condition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "blame/judge/verdicts.h"
#include "blame/probe/search_for_test.h"

namespace vernier {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing_workers::Adds;
using testing_workers::FakeAnswer;
using testing_workers::FakeModel;

// y = (x - 1) * 1e6, with every other element moved by this share.
FakeModel Cancels(float moved) {
  FakeModel model = Adds(0);
  model.infer = [moved](const TensorMap& feed, int64_t) {
    std::vector<float> values;
    for (const float x : feed.front().tensor.As<float>()) {
      values.push_back((x - 1) * 1e6F * (values.size() % 2 == 0 ? 1 : 1 + moved));
    }
    return FakeAnswer{FakeAnswer::Kind::kOutputs,
                      TensorMap{{"y", testing_workers::Floats({4}, values)}}};
  };
  return model;
}

// y = x + the number of the inference.
FakeModel Counts() {
  FakeModel model = Adds(0);
  model.infer = [](const TensorMap& feed, int64_t run) {
    return Adds(static_cast<float>(run)).infer(feed, run);
  };
  return model;
}

class ExplainOutputsTest : public SearchForTest {
 protected:
  using SearchForTest::SearchForTest;
  BlameRecord Explain(const FakeModel& reference, const FakeModel& candidate, float value,
                      BlameRecord record = {}) {
    Result<UnprobedRun> run = Run(reference, candidate, {value});
    EXPECT_TRUE(run.ok()) << run.status().message();
    if (!run.ok()) return record;
    const SearchSubject subject{plan_, *context_, *sides_, models_, *run};
    EXPECT_TRUE(ExplainOutputs(subject, {}, record).ok());
    return record;
  }
};

TEST_F(ExplainOutputsTest, OutputsWithinTheirBoundsNeedNoExplanation) {
  const BlameRecord record = Explain(Adds(1), Adds(1), 1);
  EXPECT_THAT(record.output_conditions, IsEmpty());
  EXPECT_EQ(DescribeCondition(record, false), "");
}

TEST_F(ExplainOutputsTest, RoundingThatTheModelAmplifiesExplainsThem) {
  const BlameRecord record = Explain(Cancels(0), Cancels(3e-3F), 1.0001F);
  ASSERT_EQ(record.output_conditions.size(), 1U);
  EXPECT_EQ(record.output_conditions[0].name, "y");
  EXPECT_GT(record.output_conditions[0].error, 1);
  EXPECT_TRUE(ExplainedByRounding(record));
  EXPECT_THAT(DescribeCondition(record, false), HasSubstr("the model amplifies rounding"));
}

TEST_F(ExplainOutputsTest, AnotherFunctionIsNotExplained) {
  const BlameRecord record = Explain(Adds(1), Adds(2), 1);
  ASSERT_EQ(record.output_conditions.size(), 1U);
  EXPECT_FALSE(ExplainedByRounding(record));
  EXPECT_TRUE(RepeatsItself(record));
}

TEST_F(ExplainOutputsTest, WhatMovesOnTheSameInputsHasNoCondition) {
  const BlameRecord record = Explain(Adds(5), Counts(), 1);
  ASSERT_EQ(record.output_conditions.size(), 1U);
  EXPECT_FALSE(RepeatsItself(record));
  EXPECT_EQ(record.output_conditions[0].condition, 0);
  EXPECT_THAT(record.random_nodes, IsEmpty());  // a Relu is not random
}

// Of one layer that makes no error, with probes off by that much, within a bound that its values
// give.
BlameRecord WithinWiderBound(double rms) {
  BlameLayerRecord layer;
  layer.node = "n";
  layer.own_error = 0;
  layer.outputs.resize(1);
  layer.outputs[0].name = "y";
  layer.outputs[0].total_rms = rms;
  layer.outputs[0].total_error = rms / 2;
  layer.outputs[0].total_bound = 2;
  BlameRecord record;
  record.layers = {layer};
  return record;
}

TEST_F(ExplainOutputsTest, ValuesShowWhatTheModelMakesOfRounding) {
  const BlameRecord record = Explain(Adds(1), Adds(2), 1, WithinWiderBound(0.4));
  EXPECT_TRUE(ExplainedByRounding(record));
  EXPECT_THAT(DescribeCondition(record, true),
              HasSubstr("the values of the tensors before them explain"));
}

TEST_F(ExplainOutputsTest, ValuesOfTensorsThatAgreeShowNothing) {
  EXPECT_FALSE(ExplainedByRounding(Explain(Adds(1), Adds(2), 1, WithinWiderBound(0))));
}

// y = x, and more by this where an input is not the one that is fed.
FakeModel Grows(float by, float fed) {
  FakeModel model = Adds(0);
  model.infer = [by, fed](const TensorMap& feed, int64_t run) {
    const auto values = feed.front().tensor.As<float>();
    const bool moved = std::any_of(values.begin(), values.end(), [&](float x) { return x != fed; });
    return Adds(moved ? by : 0).infer(feed, run);
  };
  return model;
}

class ExplainFlipsTest : public ExplainOutputsTest {
 protected:
  ExplainFlipsTest() : ExplainOutputsTest(OneQuantiser()) {}
};

TEST_F(ExplainFlipsTest, StepsThatRoundingFlipsExplainThem) {
  const BlameRecord record = Explain(Adds(0.6F), Grows(0.5F, 1), 1);
  ASSERT_EQ(record.output_conditions.size(), 1U);
  EXPECT_GT(record.output_conditions[0].error, 1);
  EXPECT_GE(record.output_conditions[0].condition, record.output_conditions[0].error);
  EXPECT_TRUE(ExplainedByRounding(record));
  EXPECT_THAT(DescribeCondition(record, true), HasSubstr("the model makes much of single steps"));
}

TEST_F(ExplainFlipsTest, MoreThanTwiceWhatTheyMoveIsNotExplained) {
  EXPECT_FALSE(ExplainedByRounding(Explain(Adds(0.6F), Grows(0.1F, 1), 1)));
}

// Of one layer that is right by itself, and off within its group.
BlameRecord Fused(double error, double total) {
  BlameLayerRecord layer;
  layer.node = "n";
  layer.total_error = total;
  layer.own_error = 0;
  layer.fused_error = error;
  BlameRecord record;
  record.layers = {layer};
  return record;
}

TEST_F(ExplainFlipsTest, AGroupThatRoundsElsewhereMakesNoError) {
  const BlameRecord record = Explain(Adds(0.6F), Grows(0.5F, 1), 1, Fused(1.3, 0.1));
  EXPECT_TRUE(ExplainedByRounding(record));
}

TEST_F(ExplainFlipsTest, AClearErrorOfAGroupIsOne) {
  EXPECT_THAT(Explain(Adds(0.6F), Grows(0.5F, 1), 1, Fused(3.1, 0.1)).output_conditions, IsEmpty());
}

TEST_F(ExplainFlipsTest, AnErrorOfAGroupThatReachesItsEndIsOne) {
  EXPECT_THAT(Explain(Adds(0.6F), Grows(0.5F, 1), 1, Fused(1.3, 1.2)).output_conditions, IsEmpty());
}

TEST_F(ExplainFlipsTest, AModelThatKeepsItsStepsExplainsNothing) {
  const BlameRecord record = Explain(Adds(0.6F), Adds(0), 1);
  ASSERT_EQ(record.output_conditions.size(), 1U);
  EXPECT_FALSE(ExplainedByRounding(record));
}

}  // namespace
}  // namespace vernier
