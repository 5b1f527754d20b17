// Gates of our own, and what is measured for whom.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "compare/functions/comparator.h"
#include "compare/functions/tally.h"
#include "compare/outputs/tensor_for_test.h"
#include "core/test_values.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

CompareOptions WithFunction(CompareFunction function) {
  CompareOptions options;
  options.functions = {function};
  return options;
}

FunctionResult Judge(const Tensor& a, const Tensor& b, const CompareOptions& options,
                     const ComparisonDetail& detail = {}) {
  return CompareOutputs({"y", a}, {"y", b}, options, detail).functions.front();
}

double ValueOf(const FunctionResult& result) { return std::get<MetricResult>(result.data).value; }

TEST(Rmse, IsTheRootOfTheMeanSquare) {
  CompareOptions options = WithFunction(CompareFunction::kRmse);
  options.thresholds[CompareFunction::kRmse].fallback = 2.5;
  const FunctionResult result = Judge(Floats({0, 1, 2, 3}), Floats({5, 1, 2, 3}), options);
  EXPECT_DOUBLE_EQ(ValueOf(result), 2.5);
  EXPECT_EQ(result.verdict, Verdict::kMatched);  // equal to the threshold
  options.thresholds[CompareFunction::kRmse].entries = {{"y", 2.4}};
  EXPECT_EQ(Judge(Floats({0, 1, 2, 3}), Floats({5, 1, 2, 3}), options).verdict,
            Verdict::kMismatched);
}

TEST(RelativeL2, DividesByTheNormOfTheLaterSide) {
  const CompareOptions options = WithFunction(CompareFunction::kRelativeL2);
  EXPECT_DOUBLE_EQ(ValueOf(Judge(Floats({3, 4}), Floats({3, 0}), options)), 4.0 / 3);
  EXPECT_DOUBLE_EQ(ValueOf(Judge(Floats({3, 0}), Floats({3, 4}), options)), 0.8);
  EXPECT_EQ(Judge(Floats({1000, 0}), Floats({1001, 0}), options).verdict, Verdict::kMatched);
  EXPECT_EQ(Judge(Floats({1, 0}), Floats({1.01f, 0}), options).verdict, Verdict::kMismatched);
}

// Not even where squares are too large or too small for float64.
TEST(RelativeL2, HoldsAtEveryScale) {
  const CompareOptions options = WithFunction(CompareFunction::kRelativeL2);
  for (const double scale : {1e-200, 1.0, 1e200}) {
    const auto doubles = [&](double x, double y) {
      return TensorForTest<double>(DType::kFloat64, {2}, {x * scale, y * scale});
    };
    EXPECT_NEAR(ValueOf(Judge(doubles(3, 4), doubles(3, 0), options)), 4.0 / 3, 1e-12) << scale;
  }
}

TEST(RelativeL2, OfZeros) {
  const CompareOptions options = WithFunction(CompareFunction::kRelativeL2);
  EXPECT_EQ(ValueOf(Judge(Floats({0, 0}), Floats({0, -0.f}), options)), 0);
  const FunctionResult against_zeros = Judge(Floats({0, 1}), Floats({0, 0}), options);
  EXPECT_EQ(ValueOf(against_zeros), kInfinity);
  EXPECT_EQ(against_zeros.verdict, Verdict::kMismatched);
  EXPECT_TRUE(std::isnan(ValueOf(Judge(Floats({kNan, 1}), Floats({kNan, 1}), options))));
}

TEST(Ulp, CountsRepresentableNumbers) {
  const CompareOptions options = WithFunction(CompareFunction::kUlp);
  const float next = std::nextafter(1.f, 2.f);
  EXPECT_EQ(ValueOf(Judge(Floats({1, 2}), Floats({next, 2}), options)), 1);
  EXPECT_EQ(ValueOf(Judge(Floats({0.f, 2}), Floats({-0.f, 2}), options)), 0);
  EXPECT_EQ(ValueOf(Judge(Ints({2}, {7, 2}), Ints({2}, {12, 2}), options)), 5);
}

TEST(Ulp, NeverPassesANan) {
  const FunctionResult result =
      Judge(Floats({kNan, 1}), Floats({kNan, 1}), WithFunction(CompareFunction::kUlp));
  EXPECT_TRUE(std::isnan(ValueOf(result)));
  EXPECT_EQ(result.verdict, Verdict::kMismatched);
}

TEST(Ulp, OfDifferentTypesIsNotVerified) {
  const FunctionResult result =
      Judge(Floats({1, 2}), Ints({2}, {1, 2}), WithFunction(CompareFunction::kUlp));
  EXPECT_EQ(result.verdict, Verdict::kNotVerified);
  EXPECT_FALSE(result.passed());
  EXPECT_NE(result.why.find("float32 and int64"), std::string::npos) << result.why;
}

TEST(Ulp, OfBoolIsNotVerified) {
  const auto flags = [](std::vector<uint8_t> values) {
    return TensorForTest<uint8_t>(DType::kBool, {2}, values);
  };
  EXPECT_EQ(Judge(flags({0, 1}), flags({1, 1}), WithFunction(CompareFunction::kUlp)).verdict,
            Verdict::kNotVerified);
}

TEST(KlDivergence, ComparesDistributions) {
  // Not normalised: 1:1 against 1:3.
  const FunctionResult result =
      Judge(Floats({2, 2}), Floats({1, 3}), WithFunction(CompareFunction::kKlDivergence));
  EXPECT_NEAR(ValueOf(result), 0.5 * std::log(2.0) + 0.5 * std::log(0.5 / 0.75), 1e-15);
  EXPECT_EQ(result.verdict, Verdict::kMismatched);
}

TEST(KlDivergence, DoesNotApplyToWhatIsNoDistribution) {
  const CompareOptions options = WithFunction(CompareFunction::kKlDivergence);
  for (const auto& b : {std::vector<float>{1, -1}, {0, 0}, {1, kNan}, {1, kInfinity}}) {
    EXPECT_EQ(Judge(Floats({1, 2}), Floats(b), options).verdict, Verdict::kNotVerified);
  }
}

class FixedDistance final : public PerceptualMeasure {
 public:
  explicit FixedDistance(Result<double> distance) : distance_(std::move(distance)) {}
  Result<double> Measure(const Tensor&, const Tensor&) override { return distance_; }

 private:
  Result<double> distance_;
};

TEST(Perceptual, IsNeverAPassWithoutADistance) {
  const CompareOptions options = WithFunction(CompareFunction::kPerceptual);
  const FunctionResult none = Judge(Floats({1, 2}), Floats({1, 3}), options);
  EXPECT_EQ(none.verdict, Verdict::kNotVerified);
  EXPECT_NE(none.why.find("pip install torch lpips"), std::string::npos);
  FixedDistance near(0.05), far(0.2), no_image(InvalidArgument("no image"));
  const auto judge = [&](PerceptualMeasure& measure) {
    ComparisonDetail detail;
    detail.perceptual = &measure;
    return Judge(Floats({1, 2}), Floats({1, 3}), options, detail).verdict;
  };
  EXPECT_EQ(judge(near), Verdict::kMatched);
  EXPECT_EQ(judge(far), Verdict::kMismatched);
  EXPECT_EQ(judge(no_image), Verdict::kNotVerified);
}

TEST(Strings, HaveNoDistances) {
  const FunctionResult result =
      Judge(Strings({"a", "b"}), Strings({"a", "b"}), WithFunction(CompareFunction::kL2));
  EXPECT_EQ(result.verdict, Verdict::kNotVerified);
  EXPECT_NE(result.why.find("--compare simple"), std::string::npos) << result.why;
}

// Ten elements, one of them 3 times out of a tolerance of 1.
Verdict UnderShare(double share, double excess, float off = 3) {
  std::vector<float> values(10, 0.f);
  values[1] = 1;
  const Tensor a = Floats(values);
  values[4] = off;
  CompareOptions options;
  options.atol.fallback = 1;
  options.rtol.fallback = 0;
  options.max_mismatch_share.fallback = share;
  options.max_mismatch_excess.fallback = excess;
  return Judge(a, Floats(values), options).verdict;
}

TEST(MismatchShare, AllowsAFewElements) {
  EXPECT_EQ(UnderShare(0.1, 10), Verdict::kMatched);
  EXPECT_EQ(UnderShare(0.09, 10), Verdict::kMismatched);
  EXPECT_EQ(UnderShare(0, 10), Verdict::kMismatched);
}

TEST(MismatchShare, HasACeiling) {
  EXPECT_EQ(UnderShare(0.1, 3), Verdict::kMatched);
  EXPECT_EQ(UnderShare(0.1, 2.9), Verdict::kMismatched);
  EXPECT_EQ(UnderShare(1, kInfinity, 1e30f), Verdict::kMatched);
  EXPECT_EQ(UnderShare(1, kInfinity, kInfinity), Verdict::kMismatched);
  EXPECT_EQ(UnderShare(1, kInfinity, kNan), Verdict::kMismatched);
}

TEST(MismatchShare, HoldsBesideAnotherStatistic) {
  CompareOptions options;
  options.atol.fallback = 1;
  options.rtol.fallback = 0;
  options.max_mismatch_share.fallback = 0.25;
  options.check_error_stat.fallback = std::vector<ErrorStat>{ErrorStat::kMean};
  const Tensor a = Floats({0, 1, 2, 3});
  EXPECT_EQ(Judge(a, Floats({2, 1, 2, 3}), options).verdict, Verdict::kMatched);
  EXPECT_EQ(Judge(a, Floats({2, 3, 2, 3}), options).verdict, Verdict::kMismatched);  // the share
  EXPECT_EQ(Judge(a, Floats({9, 1, 2, 3}), options).verdict, Verdict::kMismatched);  // the mean
}

// What is measured

TEST(Measurement, IsNoMoreThanAsked) {
  const OutputComparison quiet =
      CompareOutputs({"y", Floats({1, 2})}, {"y", Floats({1, 2})}, CompareOptions());
  EXPECT_TRUE(quiet.passed());
  EXPECT_EQ(quiet.measured.differences, StatisticsLevel::kNone);
  EXPECT_EQ(quiet.measured.sides, StatisticsLevel::kNone);
  EXPECT_FALSE(quiet.measured.products);
  EXPECT_FALSE(quiet.measured.ulp);

  CompareOptions options;
  options.functions = {CompareFunction::kSimple, CompareFunction::kL2};
  options.check_error_stat.fallback = std::vector<ErrorStat>{ErrorStat::kMedian};
  const OutputComparison asked =
      CompareOutputs({"y", Floats({1, 2})}, {"y", Floats({1, 2})}, options);
  EXPECT_EQ(asked.measured.differences, StatisticsLevel::kRanks);
  EXPECT_TRUE(asked.measured.products);
}

TEST(Measurement, TellsAllOfAMismatch) {
  CompareOptions options;
  options.worst_elements = 1;
  const OutputComparison output =
      CompareOutputs({"y", Floats({1, 2, 3})}, {"y", Floats({1, 4, 4})}, options);
  ASSERT_TRUE(output.measures);
  ASSERT_EQ(output.measures->worst.size(), 1u);
  EXPECT_EQ(output.measures->worst[0].place, 1);
  EXPECT_EQ(output.measures->worst[0].a, 2);
  EXPECT_EQ(output.measures->worst[0].b, 4);
  EXPECT_DOUBLE_EQ(MakePairMetrics(output.measures->products, 3).l2, std::sqrt(5.0));
  EXPECT_GT(output.measures->ulp.max, 0u);
  const auto& simple = std::get<SimpleResult>(output.functions[0].data);
  EXPECT_EQ(simple.difference.absolute.max, 2);
  EXPECT_EQ(simple.required[0].absolute, 2);
}

// One memory, other order: the statistics of the second side are its own.
TEST(Measurement, DescribesATransposedSideAsItWas) {
  CompareOptions options;
  options.no_shape_check = true;
  ComparisonDetail detail;
  detail.output_statistics = true;
  const IterationResult a{"A", std::nullopt, {{"y", Floats({3, 2}, {1, 4, 2, 5, 3, 6})}}};
  const IterationResult b{"B", std::nullopt, {{"y", Floats({2, 3}, {1, 2, 3, 4, 5, 6})}}};
  const IterationComparison c = CompareIteration(a, b, options, detail);
  EXPECT_TRUE(c.passed());
  EXPECT_EQ(c.statistics.at(0).b.statistics.argmax, 5);
}

// Vacuous agreement

TEST(Vacuous, NamesItsReason) {
  const auto why = [](const Tensor& a, const Tensor& b) {
    return CompareOutputs({"y", a}, {"y", b}, CompareOptions()).vacuous;
  };
  const Tensor some = Floats({1, 2});
  EXPECT_EQ(why(some, Floats({1, 2})), "");
  EXPECT_EQ(why(some, some), "both sides are the same memory");
  EXPECT_EQ(why(Floats({0, 0}), Floats({0, 0})), "all elements are zero");
  EXPECT_EQ(why(Floats({0, -0.0f}), Floats({0, 0})), "all elements are zero");
  EXPECT_EQ(why(Floats({-0.0f, 0, 1}), Floats({0, 0, 1})), "");
  const auto halves = [](std::vector<uint16_t> bits) {
    return TensorForTest<uint16_t>(DType::kFloat16, {2}, bits);
  };
  EXPECT_EQ(why(halves({0x8000, 0}), halves({0, 0x8000})), "all elements are zero");
  EXPECT_EQ(why(Floats({7, 7}), Floats({7, 7})), "all elements are the same");
  EXPECT_EQ(why(Floats({0, 3}, {}), Floats({0, 3}, {})), "no elements");
  EXPECT_EQ(why(Floats({kNan, -kNan}), Floats({kNan, kNan})), "all elements are NaN");
  EXPECT_EQ(why(Strings({"x", "x"}), Strings({"x", "x"})), "all elements are the same");
  const auto nibbles = [](std::vector<uint8_t> bytes) {
    return TensorForTest<uint8_t>(DType::kUint4, {3}, bytes);
  };
  EXPECT_EQ(why(nibbles({0x33, 0x03}), nibbles({0x33, 0x03})), "all elements are the same");
  EXPECT_EQ(why(nibbles({0x33, 0x04}), nibbles({0x33, 0x04})), "");
}

TEST(ComparisonTally, TellsNotVerifiedFromMismatched) {
  const auto iteration = [](const Tensor& b) {
    const IterationResult first{"A", std::nullopt, {{"y", Floats({1, 2})}}};
    const IterationResult second{"B", std::nullopt, {{"y", b}}};
    CompareOptions options;
    options.functions = {CompareFunction::kSimple, CompareFunction::kPerceptual};
    return CompareIteration(first, second, options, {});
  };
  ComparisonTally tally;
  tally.Add(iteration(Floats({1, 2})));
  EXPECT_EQ(tally.outputs()[0].passed, 0);
  EXPECT_EQ(tally.outputs()[0].not_verified, 1);
  tally.Add(iteration(Floats({1, 3})));  // `simple` fails, too
  EXPECT_EQ(tally.outputs()[0].not_verified, 1);
  EXPECT_EQ(tally.outputs()[0].iterations, 2);
}

}  // namespace
}  // namespace vernier
