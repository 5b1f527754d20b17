// The part of ComparisonReporter that reports what the comparison function `simple` found.
#include <algorithm>
#include <cmath>

#include "compare/functions/measurement.h"
#include "core/coordinates.h"
#include "report/run/comparison_text.h"
#include "report/text/array_text.h"
#include "report/text/numpy_text.h"
#include "report/text/verdict_lines.h"
#include "util/text/number_text.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

// A tolerance as Python shows the number that was typed: 1, 0.5, 1e-05.
std::string Tolerance(double value) {
  const bool whole = std::fabs(value) < 1e15 && value == std::floor(value);
  return whole ? std::to_string(static_cast<int64_t>(value)) : FormatFloatRepr(value);
}

// "elemwise", or "max, mean" when several statistics are checked.
std::string JoinStats(const std::vector<ErrorStat>& stats) {
  if (stats.empty()) return std::string(ErrorStatName(ErrorStat::kElemwise));
  std::string text;
  for (const ErrorStat stat : stats) {
    if (!text.empty()) text += ", ";
    text += ErrorStatName(stat);
  }
  return text;
}

// The mismatching places as NumPy's argwhere: one row of indices each.
Result<Tensor> PlacesTensor(const std::vector<int64_t>& places, const Dims& dims) {
  const auto count = static_cast<int64_t>(places.size());
  VERNIER_ASSIGN_OR_RETURN(
      TensorBuffer buffer,
      TensorBuffer::Allocate(DType::kInt64, {count, static_cast<int64_t>(dims.size())}));
  const auto rows = buffer.As<int64_t>();
  for (size_t i = 0; i < places.size(); ++i) {
    std::ranges::copy(CoordinatesOf(places[i], dims), rows.subspan(i * dims.size()).begin());
  }
  return std::move(buffer).Freeze();
}

void LogValues(Logger& logger, const std::string& runner, const NamedTensor& output,
               const Dims& dims) {
  if (!logger.Enabled(Severity::kSuperVerbose)) return;
  logger.Log(Severity::kSuperVerbose, PadRunner(runner) + " | Output: " + output.name + " (dtype=" +
                                          std::string(DTypeName(output.tensor.dtype())) +
                                          ", shape=" + FormatDims(dims) + "):\n" +
                                          IndentBlock(FormatNumpyArray(output.tensor)));
}

void LogVerdict(Logger& logger, const std::string& output, bool passed, const Tolerances& allowed) {
  const std::string tolerances = " tolerance (rel=" + Tolerance(allowed.relative) +
                                 ", abs=" + Tolerance(allowed.absolute) + ")";
  const std::string subject = " | Output: '" + output + "' | Difference ";
  if (passed) {
    logger.Finish("PASSED" + subject + "is within" + tolerances);
  } else {
    logger.Error("FAILED" + subject + "exceeds" + tolerances);
  }
}

}  // namespace

void ComparisonReporter::Simple(const OutputComparison& output, const FunctionResult& result,
                                const IterationComparison& iteration) {
  const auto* simple = std::get_if<SimpleResult>(&result.data);
  const std::string_view name = output.a_name;
  const bool has_bound = simple != nullptr && simple->bound;
  const Tolerances allowed =
      has_bound ? Tolerances{simple->atol, simple->rtol} : TolerancesFor(name, options_);
  const std::vector<ErrorStat> stats = options_.check_error_stat.Lookup(name, {});
  logger_.Info("Tolerance: [abs=" + FormatG(allowed.absolute, 5) + ", rel=" +
               FormatG(allowed.relative, 5) + "] | Checking " + JoinStats(stats) + " error");
  logger_.Log(Severity::kExtraVerbose,
              "Note: Comparing " + iteration.a_runner + " vs. " + iteration.b_runner);
  ShapeSteps(output, result);
  if (simple == nullptr) return;
  LogValues(logger_, iteration.a_runner, {output.a_name, output.a}, output.a_dims);
  LogValues(logger_, iteration.b_runner, {output.b_name, output.aligned_b}, output.a_dims);
  if (simple->difference.zeros_in_b > 0) {
    logger_.Once(Severity::kWarning,
                 PadRunner(iteration.b_runner) + " | Output: " + output.b_name +
                     ": Some values are 0. Will add a small epsilon quantity to these when "
                     "computing relative difference. Note that this may cause some relative "
                     "differences to be extremely high. ");
  }
  MismatchedValues(output, *simple, iteration);
  if (pictures_ != nullptr) pictures_->Start(iteration, output, *simple);
  ErrorMetrics(output, *simple, result.passed());
  logger_.Log(Severity::kExtraVerbose,
              "Finished comparing: " + Described(output.a_name, output.a_dtype, output.a_dims) +
                  " [" + iteration.a_runner + "] and " +
                  Described(output.b_name, output.b_dtype, output.a_dims) + " [" +
                  iteration.b_runner + "]");
  LogVerdict(logger_, output.a_name, result.passed(), allowed);
  if (has_bound) {
    logger_.Log(VerdictSeverity(result.passed()), FormatBoundLine(output.a_name, *simple->bound));
  }
}

void ComparisonReporter::MismatchedValues(const OutputComparison& output,
                                          const SimpleResult& simple,
                                          const IterationComparison& iteration) {
  const bool elemwise =
      std::any_of(simple.required.begin(), simple.required.end(),
                  [](const RequiredTolerance& r) { return r.stat == ErrorStat::kElemwise; });
  if (!elemwise || !logger_.Enabled(Severity::kExtraVerbose)) return;
  LogIndent indent(logger_);
  const std::vector<int64_t>& places = simple.mismatch_places;
  if (logger_.Enabled(Severity::kSuperVerbose)) {
    const Result<Tensor> rows = PlacesTensor(places, output.a_dims);
    if (rows.ok()) {
      logger_.Log(Severity::kSuperVerbose, "Mismatched indices:\n" + FormatNumpyArray(*rows));
    }
  }
  const auto log = [&](const std::string& runner, const Tensor& tensor) {
    logger_.Log(Severity::kExtraVerbose, PadRunner(runner) + " | Mismatched values:\n" +
                                             FormatNumpySelection(tensor, places));
  };
  log(iteration.a_runner, output.a);
  log(iteration.b_runner, output.aligned_b);
}

void ComparisonReporter::ErrorMetrics(const OutputComparison& output, const SimpleResult& simple,
                                      bool passed) {
  logger_.Info("Error Metrics: " + output.a_name);
  LogIndent indent(logger_);
  const DifferenceSummary& difference = simple.difference;
  for (const RequiredTolerance& required : simple.required) {
    // Means are float32 in Polygraphy whatever the array's type.
    const bool mean = required.stat == ErrorStat::kMean;
    const bool absolute_single = mean || difference.absolute_dtype == DType::kFloat32;
    const bool relative_single = mean || difference.relative_dtype == DType::kFloat32;
    std::string line = "Minimum Required Tolerance: " + std::string(ErrorStatName(required.stat)) +
                       " error | [abs=" + FormatStatistic(required.absolute, absolute_single) +
                       "] OR [rel=" + FormatStatistic(required.relative, relative_single) + "]";
    if (required.stat == ErrorStat::kElemwise) {
      line += " (requirements may be lower if both abs/rel tolerances are set)";
    } else if (required.stat == ErrorStat::kQuantile) {
      line += " (quantile=" + FormatG(simple.quantile, 4) + ")";
    }
    logger_.Info(line);
  }
  if (pictures_ != nullptr) pictures_->DrawErrorPlot();
  const DifferenceDetail* detail = simple.detail ? &*simple.detail : nullptr;
  const DifferenceArrays* values = detail != nullptr && detail->values ? &*detail->values : nullptr;
  LogArray(logger_,
           {"Absolute Difference | Stats: ", difference.absolute, difference.absolute_dtype,
            output.a_dims, values != nullptr ? &values->absolute : nullptr,
            detail != nullptr ? &detail->histograms.absolute : nullptr},
           DetailSeverity(!passed));
  if (pictures_ != nullptr) pictures_->DrawHeatmaps(ErrorKind::kAbsolute);
  LogArray(logger_,
           {"Relative Difference | Stats: ", difference.relative, difference.relative_dtype,
            output.a_dims, values != nullptr ? &values->relative : nullptr,
            detail != nullptr ? &detail->histograms.relative : nullptr},
           DetailSeverity(!passed));
  if (pictures_ != nullptr) pictures_->DrawHeatmaps(ErrorKind::kRelative);
}

}  // namespace vernier
