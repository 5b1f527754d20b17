#include "compare/functions/comparator.h"
#include "core/test_values.h"

#include <gtest/gtest.h>

#include <atomic>
#include <limits>

#include "compare/functions/simple.h"
#include "compare/outputs/tensor_for_test.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

Verdict VerdictOf(const Tensor& a, const Tensor& b, const CompareOptions& options = {}) {
  return CompareOutputs({"y", a}, {"y", b}, options).functions.front().verdict;
}

CompareOptions With(CompareFunction function) {
  CompareOptions options;
  options.functions = {function};
  return options;
}

CompareOptions WithStats(std::vector<ErrorStat> stats, double atol, double rtol) {
  CompareOptions options;
  options.check_error_stat.fallback = std::move(stats);
  options.atol.fallback = atol;
  options.rtol.fallback = rtol;
  return options;
}

TEST(CompareOutputs, TellsVacuousMatchesApart) {
  EXPECT_EQ(VerdictOf(Floats({1, 2}), Floats({1, 2})), Verdict::kMatched);
  EXPECT_EQ(VerdictOf(Floats({0, 0}), Floats({0, 0})), Verdict::kVacuous);
  EXPECT_EQ(VerdictOf(Floats({7, 7}), Floats({7, 7})), Verdict::kVacuous);
  EXPECT_EQ(VerdictOf(Floats({0, 3}, {}), Floats({0, 3}, {})), Verdict::kVacuous);
  EXPECT_EQ(VerdictOf(Floats({7}), Floats({7})), Verdict::kMatched);  // one element always is
  EXPECT_EQ(VerdictOf(Floats({kNan, kNan}), Floats({kNan, kNan})), Verdict::kMismatched);
}

TEST(CompareOutputs, RefusesOtherShapes) {
  const OutputComparison c =
      CompareOutputs({"y", Floats({1, 2})}, {"y", Floats({2, 1}, {1, 2})}, {});
  EXPECT_EQ(c.functions[0].verdict, Verdict::kMismatched);
  EXPECT_TRUE(c.functions[0].shapes_differ);
}

TEST(CompareOutputs, TransposesWhenShapesNeedNotMatch) {
  CompareOptions options;
  options.no_shape_check = true;
  const Tensor a = Floats({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(VerdictOf(a, Floats({3, 2}, {1, 4, 2, 5, 3, 6}), options), Verdict::kMatched);
  EXPECT_EQ(VerdictOf(a, Floats({3, 2}, {1, 2, 3, 4, 5, 6}), options), Verdict::kMismatched);
  EXPECT_EQ(VerdictOf(a, Floats({6}, {1, 2, 3, 4, 5, 6}), options), Verdict::kMatched);
  EXPECT_EQ(VerdictOf(a, Floats({5}, {1, 2, 3, 4, 5}), options), Verdict::kFailed);
}

TEST(CompareIteration, LooksAtNothingOnceItIsInterrupted) {
  const IterationResult a{"a", std::nullopt, {{"y", Floats({1, 2})}}};
  const std::atomic<int> interrupted = 2;
  ComparisonDetail detail;
  EXPECT_EQ(CompareIteration(a, a, {}, detail).outputs.size(), 1);
  detail.interrupted = &interrupted;
  EXPECT_TRUE(CompareIteration(a, a, {}, detail).outputs.empty());
}

TEST(Simple, ElementsMayUseEitherTolerance) {
  const Tensor a = Floats({0, 1, 2, 3});
  const Tensor b = Floats({.15f, 1.25f, 2.5f, 3.75f});
  EXPECT_EQ(VerdictOf(a, b, WithStats({}, .3, 0)), Verdict::kMismatched);
  EXPECT_EQ(VerdictOf(a, b, WithStats({}, 0, .25)), Verdict::kMismatched);
  EXPECT_EQ(VerdictOf(a, b, WithStats({}, .3, .25)), Verdict::kMatched);
}

TEST(Simple, EveryNamedStatisticMustPass) {
  std::vector<float> values(100, 1);
  const Tensor a = Floats(values);
  values[7] = 101;
  const Tensor b = Floats(values);
  EXPECT_EQ(VerdictOf(a, b, WithStats({ErrorStat::kMean}, 1, 0)), Verdict::kMatched);
  EXPECT_EQ(VerdictOf(a, b, WithStats({ErrorStat::kMedian}, 0, 0)), Verdict::kMatched);
  EXPECT_EQ(VerdictOf(a, b, WithStats({ErrorStat::kMax}, 1, 0)), Verdict::kMismatched);
  EXPECT_EQ(VerdictOf(a, b, WithStats({ErrorStat::kMean, ErrorStat::kMax}, 1, 0)),
            Verdict::kMismatched);
  EXPECT_EQ(VerdictOf(a, b, WithStats({ErrorStat::kMean, ErrorStat::kMedian}, 1, 0)),
            Verdict::kMatched);
}

TEST(Simple, EmptyOutputsPassUnlessTheirStatisticIsUndefined) {
  const Tensor empty = Floats({0}, {});
  for (const ErrorStat stat : {ErrorStat::kElemwise, ErrorStat::kMax, ErrorStat::kMedian}) {
    EXPECT_EQ(VerdictOf(empty, empty, WithStats({stat}, 0, 0)), Verdict::kVacuous);
  }
  for (const ErrorStat stat : {ErrorStat::kMean, ErrorStat::kQuantile}) {
    EXPECT_EQ(VerdictOf(empty, empty, WithStats({stat}, 1, 1)), Verdict::kMismatched);
  }
}

TEST(Simple, StringsMustBeEqualWhateverTheTolerance) {
  const CompareOptions loose = WithStats({}, 10, 10);
  EXPECT_EQ(VerdictOf(Strings({"a", "b"}), Strings({"a", "b"}), loose), Verdict::kMatched);
  EXPECT_EQ(VerdictOf(Strings({"a", "b"}), Strings({"a", "c"}), loose), Verdict::kMismatched);
  EXPECT_EQ(VerdictOf(Strings({"a", "b"}), Floats({1, 2}), loose), Verdict::kFailed);
}

TEST(Simple, RefusesAnImpossibleQuantileOnlyWhereItMatters) {
  CompareOptions options = WithStats({ErrorStat::kQuantile}, 1, 1);
  options.error_quantile.fallback = 1.5;
  EXPECT_EQ(VerdictOf(Floats({1, 2}), Floats({1, 2}), options), Verdict::kFailed);
  options.check_error_stat.fallback = std::vector<ErrorStat>{ErrorStat::kMax};
  EXPECT_EQ(VerdictOf(Floats({1, 2}), Floats({1, 2}), options), Verdict::kMatched);
}

TEST(Simple, LooksTolerancesUpByTheFirstRunnersName) {
  CompareOptions options;
  options.atol.entries = {{"y", 1.0}};
  const NamedTensor near{"y", Floats({1, 2})};
  EXPECT_TRUE(CompareOutputs(near, {"z", Floats({2, 3})}, options).passed());
  EXPECT_FALSE(CompareOutputs({"z", Floats({1, 2})}, {"y", Floats({2, 3})}, options).passed());
}

TEST(Metrics, DoNotOverflow) {
  // Polygraphy multiplies in int32 and finds a similarity of -0.19.
  const Tensor a = TensorForTest<int32_t>(DType::kInt32, {2}, {60000, 50000});
  const Tensor same = TensorForTest<int32_t>(DType::kInt32, {2}, {60000, 50000});
  EXPECT_EQ(VerdictOf(a, same, With(CompareFunction::kCosineSimilarity)), Verdict::kMatched);
  const Tensor large = Floats({1e30f, 1e30f, -1e30f});
  const auto l2 =
      CompareOutputs({"y", large}, {"y", Floats({0, 0, 0})}, With(CompareFunction::kL2));
  EXPECT_NEAR(std::get<MetricResult>(l2.functions[0].data).value, 1.7320508e30, 1e23);
}

struct MetricCase {
  const char* name;
  CompareFunction function;
  std::vector<float> a, b;
  double value;
  Verdict verdict;
};

class MetricSpecials : public testing::TestWithParam<MetricCase> {};

TEST_P(MetricSpecials, ArePolygraphy) {
  const MetricCase& c = GetParam();
  const auto result =
      CompareOutputs({"y", Floats(c.a)}, {"y", Floats(c.b)}, With(c.function)).functions[0];
  const double value = std::get<MetricResult>(result.data).value;
  if (c.value != c.value) {
    EXPECT_NE(value, value);
  } else {
    EXPECT_DOUBLE_EQ(value, c.value);
  }
  EXPECT_EQ(result.verdict, c.verdict);
}

using enum CompareFunction;

INSTANTIATE_TEST_SUITE_P(
    Metrics, MetricSpecials,
    testing::Values(
        MetricCase{"BothZeroAreParallel", kCosineSimilarity, {0, 0}, {0, 0}, 1, Verdict::kVacuous},
        MetricCase{
            "OneZeroIsOrthogonal", kCosineSimilarity, {0, 0}, {1, 0}, 0, Verdict::kMismatched},
        MetricCase{"EqualHasInfinitePsnr", kPsnr, {1, 2}, {1, 2}, kInfinity, Verdict::kMatched},
        MetricCase{"NegativePeakCountsAsOne",
                   kPsnr,
                   {-1, -2},
                   {-1, -1},
                   10 * std::log10(2.0),
                   Verdict::kMismatched},
        MetricCase{"NoSignal", kSnr, {0, 0}, {1, 0}, -kInfinity, Verdict::kMismatched},
        MetricCase{"NanFails", kL2, {kNan}, {kNan}, kNan, Verdict::kMismatched},
        MetricCase{"EmptyPsnr", kPsnr, {}, {}, kNan, Verdict::kMismatched},
        MetricCase{"EmptyL2", kL2, {}, {}, 0, Verdict::kVacuous}),
    [](const auto& info) { return info.param.name; });

struct IndicesCase {
  const char* name;
  Dims dims;
  std::vector<int64_t> a, b;
  int64_t tolerance;
  bool passes;
};

class IndicesRule : public testing::TestWithParam<IndicesCase> {};

TEST_P(IndicesRule, Holds) {
  const IndicesCase& c = GetParam();
  CompareOptions options = With(CompareFunction::kIndices);
  options.index_tolerance.fallback = c.tolerance;
  const OutputComparison result =
      CompareOutputs({"y", Ints(c.dims, c.a)}, {"y", Ints(c.dims, c.b)}, options);
  EXPECT_EQ(result.passed(), c.passes);
}

INSTANTIATE_TEST_SUITE_P(
    Indices, IndicesRule,
    testing::Values(
        IndicesCase{"Identical", {3}, {0, 1, 2}, {0, 1, 2}, 0, true},
        IndicesCase{"Swapped", {4}, {1, 0, 2, 3}, {0, 1, 2, 3}, 0, false},
        IndicesCase{"SwappedWithinTolerance", {4}, {1, 0, 2, 3}, {0, 1, 2, 3}, 1, true},
        IndicesCase{"LastNeedNotBeFound", {4}, {1, 0, 2, 7}, {0, 1, 2, 3}, 1, true},
        IndicesCase{"NotFound", {4}, {1, 0, 2, 7}, {0, 1, 2, 3}, 0, false},
        IndicesCase{"RowsApart", {2, 3}, {2, 3, 4, 5, 6, 9}, {3, 2, 4, 5, 9, 6}, 1, true},
        IndicesCase{"TwoAway", {7}, {0, 1, 2, 3, 4, 5, 6}, {0, 3, 2, 1, 4, 5, 6}, 2, true},
        IndicesCase{"ToleranceBeyondTheRow", {2}, {8, 9}, {1, 2}, 2, true}),
    [](const auto& info) { return info.param.name; });

TEST(Indices, ScalarsAndOtherShapesCannotBeCompared) {
  const CompareOptions options = With(CompareFunction::kIndices);
  EXPECT_EQ(VerdictOf(Ints({}, {1}), Ints({}, {1}), options), Verdict::kFailed);
  EXPECT_EQ(VerdictOf(Ints({2}, {1, 2}), Ints({1, 2}, {1, 2}), options), Verdict::kMismatched);
}

IterationResult Runner(std::string name, TensorMap outputs) {
  return {std::move(name), std::nullopt, std::move(outputs)};
}

TEST(CompareIteration, FailFastStopsEachFunctionAtItsFirstFailure) {
  CompareOptions options;
  options.functions = {CompareFunction::kSimple, CompareFunction::kCosineSimilarity};
  options.fail_fast = true;
  const auto a = Runner("A", {{"x", Floats({1, 2})}, {"y", Floats({1, 2})}});
  const auto b = Runner("B", {{"x", Floats({2, 4})}, {"y", Floats({1, 2})}});
  const IterationComparison c = CompareIteration(a, b, options, {});
  ASSERT_EQ(c.outputs.size(), 2u);
  EXPECT_EQ(c.outputs[0].functions.size(), 2u);
  EXPECT_EQ(c.outputs[1].functions.size(), 1u);  // only the second function reached it
  EXPECT_FALSE(c.passed());
}

TEST(CompareIteration, NothingInCommonIsNeverAPass) {
  const auto a = Runner("A", {{"x", Floats({1, 2})}, {"y", Floats({1, 2})}});
  const auto b = Runner("B", {{"p", Floats({1, 2})}, {"q", Floats({1, 2})}});
  EXPECT_FALSE(CompareIteration(a, b, {}, {}).passed());
  EXPECT_TRUE(CompareIteration(Runner("A", {}), Runner("B", {}), {}, {}).passed());
}

TEST(CompareIteration, ComputesDetailOnlyWhenAsked) {
  const auto a = Runner("A", {{"x", Floats({1, 2})}});
  const auto b = Runner("B", {{"x", Floats({1, 3})}});
  const auto detail_of = [&](DetailLevel level, const IterationResult& other) {
    ComparisonDetail detail;
    detail.values = level;
    detail.output_statistics = true;
    detail.differences = StatisticsLevel::kRanks;
    return CompareIteration(a, other, {}, detail);
  };
  const auto has_detail = [](const IterationComparison& c) {
    return std::get<SimpleResult>(c.outputs[0].functions[0].data).detail.has_value();
  };
  EXPECT_FALSE(has_detail(detail_of(DetailLevel::kNever, b)));
  EXPECT_FALSE(has_detail(detail_of(DetailLevel::kOnMismatch, a)));
  EXPECT_TRUE(has_detail(detail_of(DetailLevel::kOnMismatch, b)));
  EXPECT_TRUE(has_detail(detail_of(DetailLevel::kAlways, a)));
  EXPECT_TRUE(detail_of(DetailLevel::kOnMismatch, b).statistics[0].a.histogram.has_value());
}

}  // namespace
}  // namespace vernier
