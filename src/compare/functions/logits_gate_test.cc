// What --compare logits is for, and what passes it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "compare/functions/comparator.h"
#include "compare/outputs/tensor_for_test.h"
#include "core/test_values.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

CompareOptions LogitsOptions() {
  CompareOptions options;
  options.functions = {CompareFunction::kLogits};
  return options;
}

FunctionResult JudgeAsLogits(const Tensor& a, const Tensor& b,
                             const CompareOptions& options = LogitsOptions()) {
  return CompareOutputs({"y", a}, {"y", b}, options).functions.front();
}

const LogitsResult& LogitsOf(const FunctionResult& result) {
  return std::get<LogitsResult>(result.data);
}

TEST(LogitsGate, HoldsTheMeanDivergenceAgainstItsThreshold) {
  const Tensor a = Floats({2, 2}, {std::log(3.f), 0, 1, 2});
  const Tensor b = Floats({2, 2}, {0.125f, 0, 1, 2});
  FunctionResult result = JudgeAsLogits(a, b);
  EXPECT_EQ(result.verdict, Verdict::kMismatched);
  EXPECT_THAT(result.why, HasSubstr("mean KL divergence 0.0"));
  EXPECT_THAT(result.why, HasSubstr("the threshold is 0.001"));
  EXPECT_EQ(LogitsOf(result).axis, 1);
  EXPECT_THAT(LogitsOf(result).position_dims, ElementsAre(2));
  CompareOptions options = LogitsOptions();
  options.logits_kl_threshold.entries = {{"y", LogitsOf(result).measures.divergence_mean}};
  EXPECT_EQ(JudgeAsLogits(a, b, options).verdict, Verdict::kMatched);  // equal to it
}

TEST(LogitsGate, CloseFlipsDoNotFail) {
  CompareOptions options = LogitsOptions();
  options.logits_kl_threshold.fallback = 10;
  const Tensor a = Floats({2, 3}, {1.01f, 1, 0, 5, 1, 0});
  const Tensor close = Floats({2, 3}, {1, 1.01f, 0.05f, 5, 1, 0});
  const FunctionResult passed = JudgeAsLogits(a, close, options);
  EXPECT_EQ(passed.verdict, Verdict::kMatched);
  EXPECT_EQ(LogitsOf(passed).measures.close_flips, 1);
  const Tensor far = Floats({2, 3}, {1.01f, 1, 0, 1.9f, 2, 0});
  const FunctionResult failed = JudgeAsLogits(a, far, options);
  EXPECT_EQ(failed.verdict, Verdict::kMismatched);
  EXPECT_EQ(failed.why, "share of equal top-1 0.5, the threshold is 1");
  options.logits_top1_threshold.fallback = 0.5;
  EXPECT_EQ(JudgeAsLogits(a, far, options).verdict, Verdict::kMatched);
}

TEST(LogitsGate, WhatIsNotFinite) {
  const Tensor masked = Floats({2, 2}, {1, -kInfinity, 2, 3});
  EXPECT_EQ(JudgeAsLogits(masked, *Tensor::Copy(DType::kFloat32, {2, 2}, masked.bytes())).verdict,
            Verdict::kMatched);
  const auto why = [&](float value) {
    const FunctionResult result = JudgeAsLogits(masked, Floats({2, 2}, {1, value, 2, 3}));
    EXPECT_EQ(result.verdict, Verdict::kMismatched);
    return result.why;
  };
  EXPECT_THAT(why(kNan), HasSubstr("NaN at 1 of 2 positions"));
  EXPECT_THAT(why(kInfinity), HasSubstr("+inf at 1 of 2 positions"));
  EXPECT_THAT(why(0), HasSubstr("-inf on one side alone at 1 of 2 positions"));
  EXPECT_THAT(why(0), HasSubstr("mean KL divergence inf"));
}

TEST(LogitsGate, RefusesWhatHoldsNoLogits) {
  const auto refused = [](const Tensor& a, const Tensor& b) {
    const FunctionResult result = JudgeAsLogits(a, b);
    EXPECT_EQ(result.verdict, Verdict::kNotVerified);
    return result.why;
  };
  const Tensor softmax = Floats({2, 2}, {0.25f, 0.75f, 1, 0});
  EXPECT_THAT(refused(softmax, Floats({2, 2}, {0.5f, 0.5f, 1, 0})),
              HasSubstr("these are probabilities"));
  EXPECT_THAT(refused(softmax, Floats({2, 2}, {3, 0, 1, 0})), HasSubstr("the first side holds"));
  EXPECT_THAT(refused(Floats({2, 1}, {1, 2}), Floats({2, 1}, {1, 2})), HasSubstr("one class"));
  EXPECT_THAT(refused(Floats({1, 2}, {1, 2}), Ints({1, 2}, {1, 2})), HasSubstr("not int64"));
  EXPECT_THAT(refused(Ints({1, 2}, {1, 2}), Floats({1, 2}, {1, 2})), HasSubstr("not int64"));
  const float none = -kInfinity;
  EXPECT_THAT(refused(Floats({1, 2}, {none, none}), Floats({1, 2}, {none, none})),
              HasSubstr("every class"));
}

TEST(LogitsGate, MixesTypesAndTakesAnyAxis) {
  CompareOptions options = LogitsOptions();
  options.logits_axis.fallback = 0;
  const Tensor a = Floats({3, 2}, {1, 5, 2, 6, 3, 9});
  const Tensor b = TensorForTest<double>(DType::kFloat64, {3, 2}, {1, 5, 2, 6, 3, 9});
  const FunctionResult result = JudgeAsLogits(a, b, options);
  EXPECT_EQ(result.verdict, Verdict::kMatched);
  EXPECT_EQ(LogitsOf(result).measures.positions, 2);
  EXPECT_EQ(LogitsOf(result).measures.top_k, 3);
  EXPECT_EQ(LogitsOf(result).measures.divergence_most, 0);
}

IterationComparison CompareFour(const CompareOptions& options) {
  const auto outputs = [] {
    return TensorMap{{"scores", Floats({2, 2}, {1, 2, 3, 5})},
                     {"loss", Floats({}, {1})},
                     {"ids", Ints({2}, {1, 2})},
                     {"other", Floats({1, 2}, {1, 2})}};
  };
  return CompareIteration({"a", {}, outputs()}, {"b", {}, outputs()}, options, {});
}

TEST(LogitsGate, LeavesOutWhatItIsNotFor) {
  const IterationComparison all = CompareFour(LogitsOptions());
  EXPECT_EQ(all.outputs.size(), 2U);
  EXPECT_TRUE(all.passed());
  EXPECT_THAT(all.not_logits, ElementsAre(Pair("loss", "a scalar"), Pair("ids", "int64")));
  CompareOptions options = LogitsOptions();
  options.logits_axis.entries = {{"scores", -1}};
  const IterationComparison named = CompareFour(options);
  EXPECT_EQ(named.outputs.size(), 1U);
  EXPECT_EQ(named.not_logits.size(), 3U);
  EXPECT_THAT(named.not_logits.back(), Pair("other", "not named"));
  // Another function looks at all of them.
  options.functions.push_back(CompareFunction::kSimple);
  EXPECT_EQ(CompareFour(options).outputs.size(), 4U);
  options.functions.pop_back();
  options.logits_axis.entries = {{"ids", -1}};
  EXPECT_FALSE(CompareFour(options).passed());
}

TEST(LogitsGate, HasNoAverage) {
  CompareOptions options = LogitsOptions();
  options.check_average = true;
  EXPECT_FALSE(CheckAverageOptions(options).ok());
}

}  // namespace
}  // namespace vernier
