#include "report/run/comparison_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compare/functions/comparator.h"
#include "report/text/validation_text.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

using testing::HasSubstr;

/// Keeps what is logged, with two spaces for each level of indentation.
class IndentedLog final : public Logger {
 public:
  bool Enabled(Severity severity) const override { return severity >= Severity::kInfo; }
  void Write(Severity severity, std::string_view text, LogColor, bool) override {
    const char letter = severity == Severity::kError      ? 'E'
                        : severity == Severity::kCritical ? '!'
                        : severity == Severity::kWarning  ? 'W'
                                                          : 'I';
    log +=
        letter + std::string(static_cast<size_t>(2 * indent_) + 1, ' ') + std::string(text) + "\n";
  }
  void Indent(int levels) override { indent_ += levels; }

  std::string log;

 private:
  int indent_ = 0;
};

Tensor Floats(const std::vector<float>& values) {
  return *Tensor::Copy(DType::kFloat32, {static_cast<int64_t>(values.size())},
                       std::as_bytes(std::span(values)));
}

std::string LogOf(const IterationResult& a, const IterationResult& b,
                  const CompareOptions& options) {
  IndentedLog logger;
  ComparisonReporter reporter(logger, options);
  ComparisonTally tally;
  const PairingRule rule = options.lenient ? PairingRule::kLenient : PairingRule::kOneToOne;
  const IterationComparison comparison = CompareIteration(a, b, options, reporter.Detail(), rule);
  reporter.Iteration(comparison);
  tally.Add(comparison);
  reporter.Summary(a.runner_name, b.runner_name, tally);
  reporter.Vacuous(a.runner_name, b.runner_name, tally);
  return logger.log;
}

// Whole logs of random outputs are compared with Polygraphy's in tests/compare_oracle.

TEST(ComparisonReporter, WritesPolygraphyLines) {
  EXPECT_EQ(
      LogOf({"A", std::nullopt, {{"y", Floats({1, 2})}}},
            {"B", std::nullopt, {{"y", Floats({1, 2})}}}, {}),
      "I   simple | Comparing Output: 'y' (dtype=float32, shape=(2,)) with 'y' (dtype=float32, "
      "shape=(2,))\n"
      "I     Tolerance: [abs=1e-05, rel=1e-05] | Checking elemwise error\n"
      "I     Error Metrics: y\n"
      "I       Minimum Required Tolerance: elemwise error | [abs=0] OR [rel=0] (requirements may "
      "be lower if both abs/rel tolerances are set)\n"
      "I       Absolute Difference | Stats: mean=0, std-dev=0, var=0, median=0, min=0 at (0,), "
      "max=0 at (0,), avg-magnitude=0, p90=0, p95=0, p99=0\n"
      "I       Relative Difference | Stats: mean=0, std-dev=0, var=0, median=0, min=0 at (0,), "
      "max=0 at (0,), avg-magnitude=0, p90=0, p95=0, p99=0\n"
      "I     PASSED | Output: 'y' | Difference is within tolerance (rel=1e-05, abs=1e-05)\n"
      "I   PASSED | simple | All outputs matched | Outputs: ['y']\n"
      "I   A: y | Stats: mean=1.5, std-dev=0.5, var=0.25, median=1.5, min=1 at (0,), max=2 at "
      "(1,), avg-magnitude=1.5, p90=1.9, p95=1.95, p99=1.99\n"
      "I   B: y | Stats: mean=1.5, std-dev=0.5, var=0.25, median=1.5, min=1 at (0,), max=2 at "
      "(1,), avg-magnitude=1.5, p90=1.9, p95=1.95, p99=1.99\n"
      "I Accuracy Summary | A vs. B | Passed: 1/1 iterations | Pass Rate: 100.00%\n");
}

TEST(ComparisonReporter, NamesEveryStatisticThatIsChecked) {
  CompareOptions options;
  options.check_error_stat.fallback =
      std::vector<ErrorStat>{ErrorStat::kMean, ErrorStat::kQuantile};
  const std::string log = LogOf({"A", std::nullopt, {{"y", Floats({1, 2})}}},
                                {"B", std::nullopt, {{"y", Floats({1, 3})}}}, options);
  EXPECT_NE(log.find("| Checking mean, quantile error"), std::string::npos);
  EXPECT_NE(log.find("Required Tolerance: mean error | [abs=0.5] OR [rel=0.16667]\n"),
            std::string::npos);
  EXPECT_NE(log.find("quantile error | [abs=0.99] OR [rel=0.33] (quantile=0.99)\n"),
            std::string::npos);
}

TEST(ComparisonReporter, SaysThatNothingWasCompared) {
  const std::string log = LogOf(
      {"A", std::nullopt, {{"p", Floats({1, 2})}, {"q", Floats({1})}}},
      {"B", std::nullopt, {{"r", Floats({1})}, {"s", Floats({1, 2, 3})}, {"t", Floats({1})}}}, {});
  EXPECT_NE(log.find("!   All outputs were skipped, no common outputs found! Note:"),
            std::string::npos)
      << log;
}

TEST(ComparisonReporter, WarnsOfMatchesThatShowNothing) {
  const std::string log = LogOf({"A", std::nullopt, {{"y", Floats({0, 0})}}},
                                {"B", std::nullopt, {{"y", Floats({0, 0})}}}, {});
  EXPECT_NE(log.find("W Output 'y' of A and B matched in 1 of 1 iteration without showing "
                     "anything: all elements are zero\n"),
            std::string::npos);
}

TEST(FormatMetricLine, AddsDigitsUntilTheNumbersDiffer) {
  EXPECT_EQ(FormatMetricLine(CompareFunction::kL2, 1.00000001e-5, 1e-5),
            "L2 Norm: 1.00000001e-05 (tolerance: 1e-05) | FAILED");
  EXPECT_EQ(FormatMetricLine(CompareFunction::kPsnr, 30, 30),
            "PSNR: 30 dB (min required: 30 dB) | PASSED");
}

TEST(ReportValidation, ReportsNanTwice) {
  IndentedLog logger;
  ValidatedOutput output;
  output.runner = "r";
  output.iteration = 2;
  const Tensor tensor = Floats({1, std::numeric_limits<float>::quiet_NaN()});
  output.output = DescribeOutput("y", tensor, false);
  output.validation = ValidateTensor(tensor);
  ReportValidation(logger, output);
  EXPECT_NE(logger.log.find("r                                   | Iteration 2 | Validating "
                            "output: y (check_inf=True, check_nan=True)\n"),
            std::string::npos);
  EXPECT_NE(logger.log.find("E   NaN Detected | "), std::string::npos);
  EXPECT_NE(logger.log.find("E   Inf Detected | "), std::string::npos);
  EXPECT_NE(logger.log.find("E   FAILED | Errors detected in output: y\n"), std::string::npos);
}

TEST(BoundLineTest, TheShareOfElementsBeyondRoundingIsToldWhereItIsJudged) {
  BoundVerdict verdict;
  verdict.bound = 0.003;
  verdict.scale = 1.5;
  verdict.rms = 0.001;
  verdict.passed = true;
  verdict.why = "float32, 3 layers";
  EXPECT_EQ(FormatBoundLine("y", verdict),
            "Tolerance auto | Output: 'y' | error bound 0.003 of the output's scale 1.5: float32, "
            "3 layers "
            "| error 0.001, gain 0 | PASSED");
  verdict.bound = 28;
  EXPECT_THAT(FormatBoundLine("y", verdict),
              HasSubstr("| PASSED, shows nothing: the error bound is wider than the output"));
  verdict.bound = 0.003;
  verdict.clean_bound = 1e-6;
  verdict.beyond = 0.47;
  verdict.allowed = 0.028;
  verdict.times_over = 16.8;
  verdict.passed = false;
  EXPECT_EQ(FormatBoundLine("y", verdict),
            "Tolerance auto | Output: 'y' | error bound 0.003 of the output's scale 1.5: float32, "
            "3 layers "
            "| error 0.001, gain 0, beyond rounding 47 % of the elements (2.8 % may be) | FAILED, "
            "16.8 times the error bound by the error, 0.001 against 0.003");
  verdict.worst = BoundMeasure::kGain;
  verdict.gain = -2.13e-5;
  verdict.gain_bound = 1.17e-5;
  EXPECT_THAT(FormatBoundLine("y", verdict), HasSubstr("by the gain, 2.1e-05 against 1.2e-05"));
  verdict.worst = BoundMeasure::kBeyond;
  EXPECT_THAT(FormatBoundLine("y", verdict), HasSubstr("by the share of elements beyond rounding"));
  verdict.worst = BoundMeasure::kElement;
  verdict.atol = 0.036;
  verdict.rtol = 0.024;
  EXPECT_THAT(FormatBoundLine("y", verdict),
              HasSubstr("by a single element, which may differ by 0.036 or 0.024 of itself"));
}

TEST(BoundLineTest, TheErrorBesideChoicesIsNamed) {
  BoundVerdict verdict;
  verdict.worst = BoundMeasure::kWithin;
  verdict.within = 4e-6;
  verdict.within_bound = 2e-6;
  EXPECT_THAT(FormatBoundLine("y", verdict),
              HasSubstr("by the error of the other elements, 4e-06 against 2e-06"));
}

}  // namespace
}  // namespace vernier
