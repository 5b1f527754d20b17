#include "report/run/comparison_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <unordered_set>

#include "compare/functions/metric_table.h"
#include "report/text/array_text.h"
#include "report/text/logits_text.h"
#include "report/text/numpy_text.h"
#include "report/text/verdict_lines.h"
#include "util/text/number_text.h"
#include "util/values/plural_text.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

// The permutation as Python's list of ints.
std::string FormatPermutation(const std::vector<size_t>& permutation) {
  std::string text = "[";
  for (size_t i = 0; i < permutation.size(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(permutation[i]);
  }
  return text + "]";
}

// Each name once, in the order of their first appearance.
class DistinctNames {
 public:
  void Add(const std::string& name) {
    if (seen_.insert(name).second) names_.push_back(name);
  }
  bool Has(const std::string& name) const { return seen_.contains(name); }
  const std::vector<std::string>& in_order() const { return names_; }

 private:
  std::vector<std::string> names_;
  std::unordered_set<std::string> seen_;
};

std::string AsPythonSet(const DistinctNames& names) {
  std::string text = FormatPythonList(names.in_order());
  text.front() = '{';
  text.back() = '}';
  return text;
}

void LogTakenMatches(Logger& logger, const std::string& output, const Pairing& pairing) {
  for (const TakenMatch& match : pairing.taken) {
    if (match.output != output) continue;
    logger.Verbose("Will not compare " + match.taken + " with " + output +
                   ", since the former already has an exact match: " + match.taken);
  }
}

// For those that the names alone do not show; empty for the others.
std::string WhyPaired(PairedBy how) {
  switch (how) {
    case PairedBy::kShape:
      return " (the only ones of their type and shape)";
    case PairedBy::kValue:
      return " (by their values)";
    case PairedBy::kMap:
      return " (--map-outputs)";
    case PairedBy::kStructure:
      return " (by what their nodes compute)";
    default:
      return "";
  }
}

}  // namespace

ComparisonDetail ComparisonReporter::Detail() const {
  ComparisonDetail detail;
  detail.output_statistics = logger_.Enabled(Severity::kInfo);
  detail.mismatch_places = logger_.Enabled(Severity::kExtraVerbose);
  detail.values = logger_.Enabled(Severity::kVerbose) ? DetailLevel::kAlways
                  : detail.output_statistics          ? DetailLevel::kOnMismatch
                                                      : DetailLevel::kNever;
  if (detail.output_statistics) detail.differences = StatisticsLevel::kRanks;
  detail.distances = logger_.Enabled(Severity::kVerbose);
  return detail;
}

void ComparisonReporter::Pair(std::string_view a_runner, std::string_view b_runner) {
  logger_.Start("Accuracy Comparison | " + std::string(a_runner) + " vs. " + std::string(b_runner));
}

void ComparisonReporter::IterationStart(int64_t index) {
  logger_.Info("Iteration: " + std::to_string(index));
}

void ComparisonReporter::Iteration(const IterationComparison& iteration) {
  LogIndent indent(logger_);
  if (iteration.empty()) {
    logger_.Error("NOTHING COMPARED | Neither side has an output to compare");
    return;
  }
  for (const CompareFunction function : options_.functions) {
    Function(function, iteration);
    if (iteration.compared_something() || !iteration.not_logits.empty()) continue;
    logger_.Critical("All outputs were skipped, no common outputs found! Note:\n" +
                     iteration.a_runner + " outputs: " + FormatPythonList(iteration.a_outputs) +
                     "\n" + iteration.b_runner +
                     " outputs: " + FormatPythonList(iteration.b_outputs));
    return;
  }
  for (const OutputStatisticsPair& pair : iteration.statistics) {
    const auto log = [&](const std::string& runner, const OutputStatistics& output) {
      const Tensor& tensor = output.tensor;
      LogArray(logger_,
               {runner + ": " + output.name + " | Stats: ", output.statistics, tensor.dtype(),
                tensor.dims(), &tensor, output.histogram ? &*output.histogram : nullptr},
               DetailSeverity(!pair.passed));
    };
    log(iteration.a_runner, pair.a);
    log(iteration.b_runner, pair.b);
  }
}

// Polygraphy warns about keys of per-output tables that neither side has.
void ComparisonReporter::UnknownNames(CompareFunction function,
                                      const IterationComparison& iteration) {
  std::optional<DistinctNames> known;
  const auto know_all = [&known, &iteration] {
    if (known) return;
    known.emplace();
    for (const auto* names : {&iteration.a_outputs, &iteration.b_outputs}) {
      for (const std::string& name : *names) known->Add(name);
    }
    known->Add("");
  };
  const auto check = [&](const auto& table, std::string_view name) {
    if (table.entries.empty()) return;
    know_all();
    DistinctNames keys, extra;
    if (table.fallback) keys.Add("");
    for (const auto& entry : table.entries) keys.Add(entry.first);
    for (const std::string& key : keys.in_order()) {
      if (!known->Has(key)) extra.Add(key);
    }
    if (extra.in_order().empty()) return;
    logger_.Warning("Extra items in the " + std::string(name) + " dictionary: " +
                    AsPythonSet(extra) + ".\nNote: items requested were: " + AsPythonSet(*known) +
                    ", but all items are: " + AsPythonSet(keys));
  };
  if (const MetricRow* metric = FindMetric(function)) {
    check(options_.thresholds[function], metric->threshold);
  } else if (function == CompareFunction::kSimple) {
    check(options_.rtol, "rtol");
    check(options_.atol, "atol");
    check(options_.check_error_stat, "check_error_stat");
    check(options_.error_quantile, "quantile");
  } else if (function == CompareFunction::kLogits) {
    check(options_.logits_axis, "logits");
    check(options_.logits_kl_threshold, "logits_kl_threshold");
    check(options_.logits_top1_threshold, "logits_top1_threshold");
  }
}

// The script has said itself what it wanted to. Polygraphy adds nothing; we say the verdict.
void ComparisonReporter::Script(const IterationComparison& iteration) {
  if (options_.lenient) return;
  std::vector<std::string> compared;
  std::vector<std::string> mismatched;
  for (const OutputComparison& output : iteration.outputs) {
    compared.push_back(output.a_name);
    if (output.passed()) continue;
    mismatched.push_back(output.a_name);
    const std::string& why = output.functions.front().why;
    if (!why.empty()) logger_.Error("FAILED | Output: '" + output.a_name + "' | " + why);
  }
  if (mismatched.empty()) {
    logger_.Finish("PASSED | script | All outputs matched | Outputs: " +
                   FormatPythonList(compared));
  } else {
    logger_.Error("FAILED | script | Mismatched outputs: " + FormatPythonList(mismatched));
  }
}

void ComparisonReporter::Function(CompareFunction function, const IterationComparison& iteration) {
  if (function == CompareFunction::kScript) return Script(iteration);
  UnknownNames(function, iteration);
  if (options_.no_shape_check && function != CompareFunction::kIndices) {
    logger_.Once(Severity::kInfo,
                 "Strict shape checking disabled. Will attempt to match output shapes before "
                 "comparisons");
  }
  std::vector<std::string> compared, mismatched, not_verified;
  auto output = iteration.outputs.begin();
  for (const std::string& name : iteration.a_outputs) {
    LogTakenMatches(logger_, name, iteration.pairing);
    if (output == iteration.outputs.end() || output->a_name != name) continue;
    const FunctionResult* result = output->Find(function);
    const bool failed = result != nullptr && !Output(*output, *result, iteration);
    if (failed && options_.fail_fast) return;
    if (result != nullptr) compared.push_back(name);
    if (failed && result->verdict == Verdict::kNotVerified) {
      not_verified.push_back(name);
    } else if (failed) {
      mismatched.push_back(name);
    }
    ++output;
  }
  const std::string label(CompareFunctionLabel(function));
  if (function == CompareFunction::kLogits && !iteration.not_logits.empty()) {
    logger_.Info(label + " | Left out: " + FormatNotLogits(iteration.not_logits));
    if (compared.empty()) return;
  }
  if (!not_verified.empty()) {
    logger_.Error("NOT VERIFIED | " + label + " | Outputs: " + FormatPythonList(not_verified));
  }
  if (!mismatched.empty()) {
    logger_.Error("FAILED | " + label + " | Mismatched outputs: " + FormatPythonList(mismatched));
  } else if (not_verified.empty()) {
    logger_.Finish("PASSED | " + label +
                   " | All outputs matched | Outputs: " + FormatPythonList(compared));
  }
}

bool ComparisonReporter::Output(const OutputComparison& output, const FunctionResult& result,
                                const IterationComparison& iteration) {
  if (output.how != PairedBy::kExact) {
    const std::string text = "Output names did not match exactly. Assuming " + iteration.b_runner +
                             " output: " + output.b_name +
                             " corresponds to output: " + output.a_name + WhyPaired(output.how);
    // A user who maps names expects this. That names mislead was logged once.
    if (output.how == PairedBy::kStructure) {
      logger_.Once(Severity::kVerbose, text);
    } else if (output.how == PairedBy::kMap) {
      logger_.Once(Severity::kInfo, text);
    } else {
      logger_.Warning(text);
    }
  }
  logger_.Start(std::string(CompareFunctionLabel(result.function)) +
                " | Comparing Output: " + Described(output.a_name, output.a_dtype, output.a_dims) +
                " with " + Described(output.b_name, output.b_dtype, output.b_dims));
  LogIndent indent(logger_);
  if (result.function == CompareFunction::kSimple) {
    Simple(output, result, iteration);
  } else if (result.function == CompareFunction::kIndices) {
    Indices(result);
  } else if (result.function == CompareFunction::kLogits) {
    Logits(output, result);
  } else {
    logger_.Log(Severity::kExtraVerbose,
                "Note: Comparing " + iteration.a_runner + " vs. " + iteration.b_runner);
    ShapeSteps(output, result);
    if (const auto* metric = std::get_if<MetricResult>(&result.data)) {
      logger_.Log(VerdictSeverity(result.passed()),
                  FormatMetricLine(result.function, metric->value, metric->threshold));
    }
  }
  if (result.verdict == Verdict::kFailed || result.verdict == Verdict::kNotVerified) {
    logger_.Error(std::string(result.verdict == Verdict::kFailed ? "FAILED" : "NOT VERIFIED") +
                  " | Output: '" + output.a_name + "' | " + result.why);
  }
  return result.passed();
}

void ComparisonReporter::ShapeSteps(const OutputComparison& output, const FunctionResult& result) {
  if (result.shapes_differ) {
    logger_.Error("FAILED | Output: `" + output.a_name +
                  "` | Will not compare outputs of different shapes.\nNote: Output shapes are " +
                  FormatDims(output.a_dims) + " and " + FormatDims(output.b_dims) + ".");
    logger_.Once(
        Severity::kError,
        "Note: Use --no-shape-check or set check_shapes=False to attempt to compare values "
        "anyway.");
  }
  for (const ShapeStep& step : result.shape_steps) {
    const std::string from = FormatDims(step.from);
    const std::string to = FormatDims(step.to);
    switch (step.kind) {
      case ShapeStep::Kind::kPermuted:
        logger_.Info("Permuted array of shape: " + from + " to: " + to + " using permutation " +
                     FormatPermutation(step.permutation));
        break;
      case ShapeStep::Kind::kReshaped:
        logger_.Info("Reshaped array from shape: " + from + " to: " + to);
        break;
      case ShapeStep::Kind::kNotPermutable:
        logger_.Log(Severity::kExtraVerbose,
                    "Array of shape: " + from + " cannot be permuted to: " + to);
        break;
      case ShapeStep::Kind::kNotReshapable:
        logger_.Warning("Could not reshape array from shape: " + from + " to " + to +
                        ". Skipping reshape.");
        break;
    }
  }
}

void ComparisonReporter::Indices(const FunctionResult& result) {
  if (result.shapes_differ) logger_.Error("Cannot compare outputs of different shapes.");
  const auto* indices = std::get_if<IndicesResult>(&result.data);
  if (indices == nullptr) return;
  const std::string tolerance = "index tolerance (" + std::to_string(indices->tolerance) + ")";
  for (const IndexMismatch& mismatch : indices->mismatches) {
    logger_.Error(mismatch.found ? "FAILED | Difference exceeds " + tolerance
                                 : "FAILED | Value: " + mismatch.value + " not found in output");
  }
  if (indices->mismatches.empty()) logger_.Finish("PASSED | Difference is within " + tolerance);
}

void ComparisonReporter::Logits(const OutputComparison& output, const FunctionResult& result) {
  ShapeSteps(output, result);
  const auto* logits = std::get_if<LogitsResult>(&result.data);
  if (logits == nullptr || result.verdict == Verdict::kNotVerified) return;
  for (const LogitsLine& line : FormatLogits(*logits)) {
    logger_.Log(line.passed ? VerdictSeverity(*line.passed) : Severity::kInfo, line.text);
  }
}

bool ComparisonReporter::Summary(std::string_view a_runner, std::string_view b_runner,
                                 const ComparisonTally& tally) {
  const std::string prefix =
      "Accuracy Summary | " + std::string(a_runner) + " vs. " + std::string(b_runner) + " | ";
  if (options_.check_average) return AverageSummary(prefix, tally);
  const int64_t passed = tally.passed_iterations();
  const int64_t total = tally.iterations();
  const double rate =
      total == 0 ? 100.0 : static_cast<double>(passed) / static_cast<double>(total) * 100.0;
  char percent[32];
  std::snprintf(percent, sizeof(percent), "%.2f%%", rate);
  logger_.Log(VerdictSeverity(passed == total), prefix + "Passed: " + std::to_string(passed) + "/" +
                                                    std::to_string(total) +
                                                    " iterations | Pass Rate: " + percent);
  return passed == total;
}

bool ComparisonReporter::AverageSummary(const std::string& prefix, const ComparisonTally& tally) {
  Result<std::vector<OutputAverage>> averages = tally.Averages();
  if (!averages.ok()) {
    logger_.Critical(averages.status().message());
    return false;
  }
  const auto passed = static_cast<size_t>(
      std::count_if(averages->begin(), averages->end(),
                    [](const OutputAverage& output) { return output.passed(); }));
  const bool all = passed == averages->size() && !averages->empty();
  logger_.Log(VerdictSeverity(all), prefix + "Passed: " + std::to_string(passed) + "/" +
                                        std::to_string(averages->size()) + " outputs");
  LogIndent indent(logger_);
  for (const OutputAverage& output : *averages) {
    logger_.Log(VerdictSeverity(output.passed()),
                output.name + (output.passed()    ? " | PASSED:"
                               : output.differs() ? " | FAILED:"
                                                  : " | NOT VERIFIED"));
    LogIndent deeper(logger_);
    for (const AverageResult& average : output.functions) {
      if (average.function == CompareFunction::kSimple || average.not_verified) continue;
      logger_.Log(VerdictSeverity(average.passed),
                  FormatMetricLine(average.function, average.value, average.threshold));
    }
  }
  return all;
}

void ComparisonReporter::Vacuous(std::string_view a_runner, std::string_view b_runner,
                                 const ComparisonTally& tally) {
  for (const OutputTally& output : tally.outputs()) {
    if (output.vacuous == 0) continue;
    logger_.Warning("Output '" + output.name + "' of " + std::string(a_runner) + " and " +
                    std::string(b_runner) + " matched in " +
                    CountedOf(output.vacuous, output.iterations, "iteration") +
                    " without showing anything: " + output.vacuous_why);
  }
}

}  // namespace vernier
