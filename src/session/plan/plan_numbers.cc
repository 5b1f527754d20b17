#include "session/plan/plan_numbers.h"

#include <string>

#include "compare/functions/metric_table.h"
#include "core/number_rule.h"
#include "util/text/number_text.h"
#include "vernier/compare_options.h"

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

// A decision is reported and saved by its text, so that has to say what is done.
Status CheckDecision(const DecisionPlan& decision, size_t place) {
  const std::string setting = "decisions.decisions[" + std::to_string(place) + "]";
  Result<DecisionPlan> parsed = ParseDecision(decision.text);
  if (!parsed.ok()) return InvalidArgument(setting + ": " + parsed.status().message());
  if (parsed->output.empty()) parsed->output = decision.output;
  if (*parsed == decision) return {};
  return InvalidArgument(setting + ": its members do not say what its text '" + decision.text +
                         "' says: make it with ParseDecision");
}

Status CheckDecisionNumbers(const DecisionOptions& options) {
  for (size_t i = 0; i < options.decisions.size(); ++i) {
    VERNIER_TRY(CheckDecision(options.decisions[i], i));
  }
  VERNIER_TRY(CheckPlanNumbersOf("decisions.max_flip_rate", options.max_flip_rate, kShare));
  VERNIER_TRY(CheckPlanNumbersOf("decisions.max_drop", options.max_drop, kShare));
  VERNIER_TRY(CheckPlanNumber("decisions.max_clear_flips",
                              static_cast<double>(options.max_clear_flips.value_or(0)),
                              kPositions));
  VERNIER_TRY(CheckPlanNumber("decisions.near_tie", options.near_tie.value_or(0), kAtLeast0));
  return CheckPlanNumber("decisions.worst_flips", static_cast<double>(options.worst_flips),
                         kFlipsKept);
}

}  // namespace

Status CheckPlanNumbers(const RunPlan& plan) {
  const CompareOptions& compare = plan.compare;
  VERNIER_TRY(CheckPlanNumber("steps.min_token_agreement",
                              plan.steps.min_token_agreement.value_or(0), kShare));
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
  VERNIER_TRY(CheckDecisionNumbers(plan.decisions));
  VERNIER_TRY(CheckPlanNumber("inputs.max_image_pixels",
                              static_cast<double>(plan.inputs.max_image_pixels), kAtLeast1));
  if (plan.lenient) return {};
  VERNIER_TRY(
      CheckPlanNumber("execution.warm_up", static_cast<double>(plan.execution.warm_up), kCount));
  return CheckPlanNumber("inputs.iterations",
                         static_cast<double>(plan.inputs.iterations.value_or(0)), kCount);
}

}  // namespace vernier
