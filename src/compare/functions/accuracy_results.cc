#include "compare/functions/accuracy_results.h"

#include <algorithm>

#include "compare/functions/measurement.h"
#include "compare/functions/metric_table.h"
#include "compare/functions/simple.h"
#include "compare/functions/tally.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

constexpr ErrorStat kStatistics[] = {ErrorStat::kMax, ErrorStat::kMean, ErrorStat::kMedian,
                                     ErrorStat::kQuantile};

SavedSimple SaveSimple(const FunctionResult& result, const SimpleResult& simple) {
  SavedSimple saved;
  saved.atol = simple.atol;
  saved.rtol = simple.rtol;
  const auto set = [&](ErrorStat stat, double absolute, double relative) {
    saved.statistics[static_cast<size_t>(stat)] = {absolute, relative};
  };
  const DifferenceSummary& difference = simple.difference;
  set(ErrorStat::kMax, difference.absolute.max, difference.relative.max);
  set(ErrorStat::kMean, difference.absolute.mean, difference.relative.mean);
  set(ErrorStat::kMedian, difference.absolute.median, difference.relative.median);
  bool all = true;
  for (const RequiredTolerance& required : simple.required) {
    saved.checked.push_back(required.stat);
    all &= required.passed;
    if (required.stat == ErrorStat::kElemwise) saved.elemwise_passed = required.passed;
    if (required.stat == ErrorStat::kQuantile) {
      set(ErrorStat::kQuantile, required.absolute, required.relative);
    }
  }
  if (!result.passed() && all) {
    // Failed for a reason that no statistic shows: strings that differ.
    saved.checked = {ErrorStat::kElemwise};
    saved.elemwise_passed = false;
  }
  return saved;
}

SavedResult Save(const FunctionResult& result) {
  const auto* simple = std::get_if<SimpleResult>(&result.data);
  if (simple != nullptr && !simple->required.empty()) return SaveSimple(result, *simple);
  if (const auto* metric = std::get_if<MetricResult>(&result.data)) {
    return SavedMetric{result.function, metric->value, metric->threshold};
  }
  if (const auto* script = std::get_if<ScriptResult>(&result.data)) {
    return SavedScript{result.passed(), script->json};
  }
  return result.passed();
}

std::string PythonList(const std::vector<std::string>& lists) {
  std::string text = "[";
  for (const std::string& list : lists) text += (text.size() > 1 ? ", " : "") + list;
  return text + "]";
}

// The error of a function that has no saved metrics.
Status NoMatch(CompareFunction function, const AccuracyResults& saved) {
  std::vector<std::string> fields;
  for (const SavedFunction& s : saved.functions) fields.push_back(MetricFieldList(s.function()));
  return InvalidArgument(
      "No saved comparison results match the requested threshold (metric fields: " +
      MetricFieldList(function) +
      ").\nNote: the saved results contain these metric fields: " + PythonList(fields) + ".");
}

Status SetThresholds(SavedSimple& simple, std::string_view output, const CompareOptions& options) {
  const Tolerances tolerances = TolerancesFor(output, options);
  simple.atol = tolerances.absolute;
  simple.rtol = tolerances.relative;
  simple.checked = options.check_error_stat.Lookup(output, {});
  simple.elemwise_passed.reset();
  if (simple.checked.empty()) simple.checked.push_back(ErrorStat::kElemwise);
  for (const ErrorStat stat : simple.checked) {
    if (stat == ErrorStat::kElemwise) {
      return InvalidArgument(
          "Cannot re-threshold an 'elemwise' comparison: it is a per-element check with no scalar "
          "statistic to threshold.\nNote: Choose an explicit statistic (--check-error-stat max, "
          "mean, median, or quantile), or re-run the comparison from saved raw outputs (run "
          "--save-outputs / --load-outputs).");
    }
    if (!simple.statistics[static_cast<size_t>(stat)][0]) {
      return InvalidArgument(
          "The saved results do not contain a '" + std::string(ErrorStatName(stat)) +
          "' statistic, so they cannot be checked against it.\nNote: 'quantile' statistics are "
          "only saved when the original comparison used --check-error-stat quantile. Choose max, "
          "mean, or median instead, or re-run the comparison from saved raw outputs.");
    }
  }
  return {};
}

Status SetThresholds(SavedOutput& output, const CompareOptions& options) {
  if (auto* simple = std::get_if<SavedSimple>(&output.result)) {
    return SetThresholds(*simple, output.name, options);
  }
  if (auto* metric = std::get_if<SavedMetric>(&output.result)) {
    metric->threshold = FindMetric(metric->function)->Threshold(output.name, options);
    return {};
  }
  return InvalidArgument("Output: '" + output.name +
                         "' has no re-thresholdable metrics (e.g. it was a shape mismatch or an "
                         "'indices' comparison), so it cannot be re-evaluated against new "
                         "thresholds.\nNote: Re-run the comparison from saved raw outputs (run "
                         "--save-outputs / --load-outputs) for such comparisons.");
}

Status SetThresholds(SavedFunction& function, const CompareOptions& options) {
  function.averaged = options.check_average;
  for (SavedPair& pair : function.pairs) {
    for (SavedIteration& iteration : pair.iterations) {
      for (SavedOutput& output : iteration) VERNIER_TRY(SetThresholds(output, options));
    }
    if (function.averaged) VERNIER_TRY(Averages(pair).status());
  }
  return {};
}

/// The means of one output's measures.
class OutputMean {
 public:
  explicit OutputMean(const SavedOutput& first) : sample_(first) {}

  const std::string& name() const { return sample_.name; }

  Status Add(const SavedResult& result) {
    if (result.index() != sample_.result.index() || result.index() == 0) {
      return CannotAverage(sample_.name);
    }
    if (const auto* metric = std::get_if<SavedMetric>(&result)) {
      if (metric->value) sums_[0][0].Add(*metric->value);
      return {};
    }
    const auto& statistics = std::get<SavedSimple>(result).statistics;
    for (size_t stat = 0; stat < statistics.size(); ++stat) {
      for (size_t side = 0; side < 2; ++side) {
        if (statistics[stat][side]) sums_[stat][side].Add(*statistics[stat][side]);
      }
    }
    return {};
  }

  SavedOutput Finish() const {
    SavedOutput output = sample_;
    const auto mean = [](const MetricSum& sum) {
      return sum.count == 0 ? std::optional<double>() : sum.mean();
    };
    if (auto* metric = std::get_if<SavedMetric>(&output.result)) {
      metric->value = mean(sums_[0][0]);
      return output;
    }
    auto& statistics = std::get<SavedSimple>(output.result).statistics;
    for (size_t stat = 0; stat < statistics.size(); ++stat) {
      for (size_t side = 0; side < 2; ++side) statistics[stat][side] = mean(sums_[stat][side]);
    }
    return output;
  }

 private:
  SavedOutput sample_;
  std::array<std::array<MetricSum, 2>, 5> sums_;
};

}  // namespace

bool SavedSimple::Passes(ErrorStat stat) const {
  if (stat == ErrorStat::kElemwise) return elemwise_passed.value_or(false);
  const auto& [absolute, relative] = statistics[static_cast<size_t>(stat)];
  return absolute && relative && WithinTolerance(*absolute, *relative, atol, rtol);
}

bool Passed(const SavedResult& result) {
  if (const auto* bare = std::get_if<bool>(&result)) return *bare;
  if (const auto* script = std::get_if<SavedScript>(&result)) return script->passed;
  if (const auto* metric = std::get_if<SavedMetric>(&result)) {
    return metric->value && FindMetric(metric->function)->Passes(*metric->value, metric->threshold);
  }
  const auto& simple = std::get<SavedSimple>(result);
  return !simple.checked.empty() &&
         std::all_of(simple.checked.begin(), simple.checked.end(),
                     [&](ErrorStat stat) { return simple.Passes(stat); });
}

std::optional<CompareFunction> SavedFunction::function() const {
  for (const SavedPair& pair : pairs) {
    for (const SavedIteration& iteration : pair.iterations) {
      for (const SavedOutput& output : iteration) {
        if (std::holds_alternative<SavedSimple>(output.result)) return CompareFunction::kSimple;
        const auto* metric = std::get_if<SavedMetric>(&output.result);
        if (metric != nullptr) return metric->function;
      }
    }
  }
  return std::nullopt;
}

bool SavedFunction::passed() const {
  return std::all_of(pairs.begin(), pairs.end(), [this](const SavedPair& pair) {
    if (!averaged) {
      const PassCount count = CountPassed(pair);
      return count.passed == count.total;
    }
    const Result<std::vector<SavedOutput>> averages = Averages(pair);
    return averages.ok() && std::all_of(averages->begin(), averages->end(),
                                        [](const auto& output) { return Passed(output.result); });
  });
}

bool AccuracyResults::checked_something() const {
  for (const SavedFunction& function : functions) {
    for (const SavedPair& pair : function.pairs) {
      for (const SavedIteration& iteration : pair.iterations) {
        if (!iteration.empty()) return true;
      }
    }
  }
  return false;
}

bool AccuracyResults::passed() const {
  return std::all_of(functions.begin(), functions.end(),
                     [](const SavedFunction& function) { return function.passed(); });
}

AccuracyResults StartAccuracyResults(const CompareOptions& options) {
  AccuracyResults results;
  results.functions.resize(options.functions.size());
  for (SavedFunction& function : results.functions) function.averaged = options.check_average;
  return results;
}

void AddPair(AccuracyResults& results, const std::string& first, const std::string& second) {
  for (SavedFunction& function : results.functions) function.pairs.push_back({first, second, {}});
}

void AddComparison(AccuracyResults& results, const IterationComparison& comparison,
                   const CompareOptions& options) {
  for (size_t f = 0; f < results.functions.size(); ++f) {
    std::vector<SavedPair>& pairs = results.functions[f].pairs;
    const auto pair = std::find_if(pairs.begin(), pairs.end(), [&](const SavedPair& p) {
      return p.first == comparison.a_runner && p.second == comparison.b_runner;
    });
    if (pair == pairs.end()) return;
    SavedIteration& iteration = pair->iterations.emplace_back();
    for (const OutputComparison& output : comparison.outputs) {
      const FunctionResult* result = output.Find(options.functions[f]);
      if (result != nullptr) iteration.push_back({output.a_name, Save(*result)});
    }
  }
}

PassCount CountPassed(const SavedPair& pair) {
  PassCount count;
  for (const SavedIteration& iteration : pair.iterations) {
    ++count.total;
    count.passed += std::all_of(iteration.begin(), iteration.end(),
                                [](const SavedOutput& output) { return Passed(output.result); });
  }
  return count;
}

Result<std::vector<SavedOutput>> Averages(const SavedPair& pair) {
  std::vector<OutputMean> means;
  for (const SavedIteration& iteration : pair.iterations) {
    for (const SavedOutput& output : iteration) {
      auto mean = std::find_if(means.begin(), means.end(),
                               [&](const OutputMean& m) { return m.name() == output.name; });
      if (mean == means.end()) mean = means.insert(means.end(), OutputMean(output));
      VERNIER_TRY(mean->Add(output.result));
    }
  }
  std::vector<SavedOutput> averages;
  for (const OutputMean& mean : means) averages.push_back(mean.Finish());
  return averages;
}

Status CannotAverage(std::string_view output) {
  return InvalidArgument(
      "Output: " + std::string(output) +
      " | Cannot compute an averaged comparison because at least one iteration produced no "
      "comparable metrics (e.g. a shape mismatch). Averaging over only the comparable "
      "iterations would be misleading, so the comparison cannot be evaluated with "
      "check_average=True. Re-run without check_average to see the per-iteration results.");
}

Result<AccuracyRecord> Reevaluate(AccuracyResults saved, const CompareOptions& options) {
  AccuracyRecord out;
  std::vector<bool> used(saved.functions.size(), false);
  for (const CompareFunction function : options.functions) {
    if (function == CompareFunction::kIndices || function == CompareFunction::kLogits) {
      out.skipped.push_back(function);
      continue;
    }
    size_t i = 0;
    while (i < used.size() && (used[i] || saved.functions[i].function() != function)) ++i;
    if (i == used.size()) return NoMatch(function, saved);
    used[i] = true;
    SavedFunction judged = saved.functions[i];
    VERNIER_TRY(SetThresholds(judged, options));
    out.results.functions.push_back(std::move(judged));
  }
  for (size_t i = 0; i < used.size(); ++i) {
    if (!used[i]) out.ignored.push_back(MetricFieldList(saved.functions[i].function()));
  }
  return out;
}

std::string MetricFieldList(std::optional<CompareFunction> function) {
  if (!function) return "[]";
  if (const MetricRow* metric = FindMetric(*function)) {
    return "['" + std::string(metric->field) + "']";
  }
  std::string text = "[";
  for (const ErrorStat stat : kStatistics) {
    for (const char* side : {"absdiff", "reldiff"}) {
      text += (text.size() > 1 ? ", '" : "'") + std::string(ErrorStatName(stat)) + "_" + side + "'";
    }
  }
  return text + "]";
}

}  // namespace vernier
