#include "session/plan_numbers.h"

#include <string>

#include "compare/metric_table.h"
#include "core/number_rule.h"
#include "util/number_text.h"

namespace vernier {
namespace {

Status CheckPlanNumber(const std::string& setting, double value, const NumberRule& rule) {
  if (rule.Accepts(value)) return {};
  return InvalidArgument(setting + ": expected " + std::string(rule.expected) + ", got " +
                         FormatFloatRepr(value));
}

template <typename T>
Status CheckPlanNumbersOf(const std::string& setting, const PerOutput<T>& values,
                          const NumberRule& rule) {
  if (values.fallback) {
    VERNIER_TRY(CheckPlanNumber(setting, static_cast<double>(*values.fallback), rule));
  }
  for (const auto& [output, value] : values.entries) {
    VERNIER_TRY(
        CheckPlanNumber(setting + " of '" + output + "'", static_cast<double>(value), rule));
  }
  return {};
}

}  // namespace

Status CheckPlanNumbers(const RunPlan& plan) {
  const CompareOptions& compare = plan.compare;
  VERNIER_TRY(CheckPlanNumbersOf("compare.rtol", compare.rtol, kAtLeast0));
  VERNIER_TRY(CheckPlanNumbersOf("compare.atol", compare.atol, kAtLeast0));
  VERNIER_TRY(CheckPlanNumbersOf("compare.error_quantile", compare.error_quantile, kShare));
  VERNIER_TRY(CheckPlanNumbersOf("compare.max_mismatch_share", compare.max_mismatch_share, kShare));
  VERNIER_TRY(
      CheckPlanNumbersOf("compare.max_mismatch_excess", compare.max_mismatch_excess, kAtLeast1));
  VERNIER_TRY(CheckPlanNumbersOf("compare.index_tolerance", compare.index_tolerance, kPositions));
  VERNIER_TRY(
      CheckPlanNumbersOf("compare.logits_kl_threshold", compare.logits_kl_threshold, kAtLeast0));
  VERNIER_TRY(
      CheckPlanNumbersOf("compare.logits_top1_threshold", compare.logits_top1_threshold, kShare));
  VERNIER_TRY(
      CheckPlanNumber("compare.logits_top_k", static_cast<double>(compare.logits_top_k), kClasses));
  for (const MetricRow& metric : MetricTable()) {
    if (metric.higher_is_better) continue;
    VERNIER_TRY(CheckPlanNumbersOf("compare." + std::string(metric.threshold),
                                   compare.thresholds[metric.function], kAtLeast0));
  }
  VERNIER_TRY(CheckPlanNumber("compare.worst_elements", static_cast<double>(compare.worst_elements),
                              kElementsShown));
  if (plan.lenient) return {};
  VERNIER_TRY(
      CheckPlanNumber("execution.warm_up", static_cast<double>(plan.execution.warm_up), kCount));
  return CheckPlanNumber("inputs.iterations",
                         static_cast<double>(plan.inputs.iterations.value_or(0)), kCount);
}

}  // namespace vernier
