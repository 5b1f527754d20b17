#include "vernier/compare_options.h"

#include <algorithm>
#include <array>

#include "compare/functions/metric_table.h"
#include "util/values/indirect-inl.h"
#include "vernier/part_names.h"

namespace vernier {
namespace {

constexpr std::array<std::string_view, 5> kStatNames = {"elemwise", "max", "mean", "median",
                                                        "quantile"};

// The functions that are no metrics.
struct OtherFunction {
  CompareFunction function;
  std::string_view name;
};
constexpr OtherFunction kOtherFunctions[] = {{CompareFunction::kSimple, "simple"},
                                             {CompareFunction::kIndices, "indices"},
                                             {CompareFunction::kLogits, "logits"},
                                             {CompareFunction::kScript, "script"}};

}  // namespace

template class Indirect<CompareOptions>;

std::string_view ErrorStatName(ErrorStat stat) { return kStatNames[static_cast<size_t>(stat)]; }

std::optional<ErrorStat> ErrorStatFromName(std::string_view name) {
  for (size_t i = 0; i < kStatNames.size(); ++i) {
    if (kStatNames[i] == name) return static_cast<ErrorStat>(i);
  }
  return std::nullopt;
}

std::string_view CompareFunctionName(CompareFunction function) {
  if (const MetricRow* metric = FindMetric(function)) return metric->name;
  for (const OtherFunction& other : kOtherFunctions) {
    if (other.function == function) return other.name;
  }
  return "";
}

std::string_view CompareFunctionLabel(CompareFunction function) {
  const MetricRow* const metric = FindMetric(function);
  return metric != nullptr ? metric->label : CompareFunctionName(function);
}

std::optional<CompareFunction> CompareFunctionFromName(std::string_view name) {
  for (const MetricRow& metric : MetricTable()) {
    if (metric.name == name) return metric.function;
  }
  for (const OtherFunction& other : kOtherFunctions) {
    if (other.name == name) return other.function;
  }
  return std::nullopt;
}

Status CheckAverageOptions(const CompareOptions& options) {
  if (!options.check_average) return {};
  if (options.fail_fast) {
    return InvalidArgument("check_average and fail_fast cannot be used together.");
  }
  const bool shares = options.max_mismatch_share.fallback.value_or(0) > 0 ||
                      std::any_of(options.max_mismatch_share.entries.begin(),
                                  options.max_mismatch_share.entries.end(),
                                  [](const auto& entry) { return entry.second > 0; });
  if (shares) {
    return InvalidArgument(
        "a share of elements (--max-mismatch-share) is judged iteration by iteration and cannot be "
        "combined with check_average (--check-average).");
  }
  for (const CompareFunction function : options.functions) {
    if (function == CompareFunction::kIndices || function == CompareFunction::kLogits) {
      return InvalidArgument(
          "The selected compare_func does not produce averageable metrics and cannot be used with "
          "check_average=True.");
    }
    if (function != CompareFunction::kSimple) continue;
    if (ChecksElements(options)) {
      return InvalidArgument(
          "check_average is not supported with check_error_stat='elemwise': it is a per-element "
          "check with no scalar statistic to average. Specify max, mean, median, or quantile.");
    }
  }
  return {};
}

bool ChecksElements(const CompareOptions& options) {
  const auto has_elemwise = [](const std::vector<ErrorStat>& stats) {
    return stats.empty() || std::ranges::find(stats, ErrorStat::kElemwise) != stats.end();
  };
  const PerOutput<std::vector<ErrorStat>>& checked = options.check_error_stat;
  return has_elemwise(checked.Lookup("", {})) ||
         std::ranges::any_of(checked.entries,
                             [&](const auto& entry) { return has_elemwise(entry.second); });
}

bool HasAutoTolerance(const CompareOptions& options, std::string_view name) {
  if (options.tolerance.Lookup(name, ToleranceRule::kFixed) != ToleranceRule::kAuto) return false;
  const auto has = [&](const PerOutput<double>& table) {
    return table.fallback ||
           std::any_of(table.entries.begin(), table.entries.end(),
                       [&](const auto& entry) { return BelongsTo(name, entry.first); });
  };
  return !has(options.atol) && !has(options.rtol);
}

}  // namespace vernier
