#include "compare/functions/tally.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compare/functions/accuracy_results.h"
#include "compare/functions/metric_table.h"
#include "compare/functions/simple.h"
#include "compare/functions/vacuous.h"

namespace vernier {
namespace {

FunctionTally& FindFunction(OutputTally& output, CompareFunction function) {
  for (FunctionTally& tally : output.functions) {
    if (tally.function == function) return tally;
  }
  output.functions.push_back({});
  output.functions.back().function = function;
  return output.functions.back();
}

void AddSimple(FunctionTally& tally, const SimpleResult& simple) {
  const ValueStatistics& absolute = simple.difference.absolute;
  const ValueStatistics& relative = simple.difference.relative;
  const auto add = [&tally](ErrorStat stat, double absolute_value, double relative_value) {
    tally.sums[static_cast<size_t>(stat)][0].Add(absolute_value);
    tally.sums[static_cast<size_t>(stat)][1].Add(relative_value);
  };
  add(ErrorStat::kMax, absolute.max, relative.max);
  add(ErrorStat::kMean, absolute.mean, relative.mean);
  add(ErrorStat::kMedian, absolute.median, relative.median);
  const auto last = [](const std::vector<double>& quantiles) {
    return quantiles.empty() ? std::numeric_limits<double>::quiet_NaN() : quantiles.back();
  };
  add(ErrorStat::kQuantile, last(absolute.quantiles), last(relative.quantiles));
  if (tally.stats.empty()) {
    tally.atol = simple.atol;
    tally.rtol = simple.rtol;
    for (const RequiredTolerance& required : simple.required) tally.stats.push_back(required.stat);
  }
}

void AddFunction(OutputTally& output, const FunctionResult& result) {
  FunctionTally& tally = FindFunction(output, result.function);
  const bool could_not =
      result.verdict == Verdict::kFailed || result.verdict == Verdict::kNotVerified;
  if (could_not && output.failed_why.empty()) output.failed_why = result.why;
  if (const auto* simple = std::get_if<SimpleResult>(&result.data)) {
    AddSimple(tally, *simple);
  } else if (const auto* metric = std::get_if<MetricResult>(&result.data)) {
    tally.sums[0][0].Add(metric->value);
    tally.threshold = metric->threshold;
  } else {
    ++tally.without_metrics;
    tally.not_verified += result.verdict == Verdict::kNotVerified ? 1 : 0;
  }
}

AverageResult AverageOf(const FunctionTally& tally) {
  AverageResult average;
  average.function = tally.function;
  average.not_verified = tally.not_verified > 0;
  if (average.not_verified) return average;
  average.passed = true;
  if (tally.function != CompareFunction::kSimple) {
    average.value = tally.sums[0][0].mean();
    average.threshold = tally.threshold;
    average.passed = FindMetric(tally.function)->Passes(average.value, average.threshold);
    return average;
  }
  for (const ErrorStat stat : tally.stats) {
    const auto& sums = tally.sums[static_cast<size_t>(stat)];
    average.passed &= WithinTolerance(sums[0].mean(), sums[1].mean(), tally.atol, tally.rtol);
  }
  return average;
}

}  // namespace

double MetricSum::mean() const {
  return count == 0 ? std::numeric_limits<double>::quiet_NaN() : sum / static_cast<double>(count);
}

bool OutputAverage::passed() const {
  return std::all_of(functions.begin(), functions.end(),
                     [](const AverageResult& average) { return average.passed; });
}

bool OutputAverage::differs() const {
  return std::any_of(functions.begin(), functions.end(), [](const AverageResult& average) {
    return !average.passed && !average.not_verified;
  });
}

bool OutputTally::any_not_verified() const {
  return std::any_of(functions.begin(), functions.end(),
                     [](const FunctionTally& tally) { return tally.not_verified > 0; });
}

OutputTally& ComparisonTally::Find(const std::string& name) {
  for (OutputTally& output : outputs_) {
    if (output.name == name) return output;
  }
  outputs_.push_back({});
  outputs_.back().name = name;
  return outputs_.back();
}

void ComparisonTally::Add(const IterationComparison& iteration) {
  ++iterations_;
  passed_ += iteration.passed() && !iteration.empty() ? 1 : 0;
  for (const OutputComparison& output : iteration.outputs) {
    OutputTally& tally = Find(output.a_name);
    if (tally.iterations == 0) {
      tally.how = output.how;
      tally.partner = output.b_name;
    }
    ++tally.iterations;
    tally.passed += output.passed() ? 1 : 0;
    if (output.passed() && !output.vacuous.empty()) ++tally.vacuous;
    if (!output.vacuous.empty()) {
      tally.vacuous_why = tally.vacuous_why.empty()
                              ? output.vacuous
                              : VacuousInBoth(tally.vacuous_why, output.vacuous);
    }
    if (output.only_not_verified()) ++tally.not_verified;
    for (const FunctionResult& result : output.functions) AddFunction(tally, result);
  }
}

Result<std::vector<OutputAverage>> ComparisonTally::Averages() const {
  std::vector<OutputAverage> averages;
  for (const OutputTally& output : outputs_) {
    OutputAverage average;
    average.name = output.name;
    for (const FunctionTally& tally : output.functions) {
      if (tally.without_metrics > tally.not_verified) return CannotAverage(output.name);
      average.functions.push_back(AverageOf(tally));
    }
    averages.push_back(std::move(average));
  }
  return averages;
}

}  // namespace vernier
