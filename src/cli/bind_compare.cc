#include "cli/bind_compare.h"

#include <algorithm>

#include "compare/metric_table.h"
#include "run/comparison/token_sources.h"
#include "util/number_text.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

// --noise-floor, --tolerance auto, --atol and --rtol against each other.
Status BindToleranceRules(bool noise_floor, CompareOptions& options) {
  PerOutput<ToleranceRule>& out = options.tolerance;
  if (noise_floor && !out.fallback) out.fallback = ToleranceRule::kAuto;
  const bool measured = out.fallback == ToleranceRule::kAuto ||
                        std::ranges::any_of(out.entries, [](const auto& entry) {
                          return entry.second == ToleranceRule::kAuto;
                        });
  if (noise_floor && !measured) {
    return InvalidArgument(
        "--noise-floor measures error bounds for --tolerance auto, and --tolerance fixed has none: "
        "give one of the two");
  }
  if (out.fallback != ToleranceRule::kAuto) return {};
  for (const auto& [flag, table] :
       {std::pair("--atol", &options.atol), {"--rtol", &options.rtol}}) {
    if (!table->fallback) continue;
    return InvalidArgument(std::string(flag) +
                           ": a tolerance for all outputs leaves nothing to --tolerance auto; give "
                           "one of the two, or " +
                           flag + " OUTPUT:X for single outputs");
  }
  return {};
}

std::string NameOf(const ParsedArgs& args, std::string_view dest) {
  const auto given = std::find_if(args.given().begin(), args.given().end(),
                                  [&](const GivenOption& g) { return g.row->dest == dest; });
  return given == args.given().end() ? std::string(dest) : given->row->NameInErrors();
}

struct FunctionFlags {
  CompareFunction function;
  std::vector<std::string> names;  // choices of --compare, any of which uses the flags
  std::vector<std::string_view> dests;
};

std::vector<FunctionFlags> FlagsOfFunctions() {
  std::vector<FunctionFlags> all = {
      {CompareFunction::kSimple,
       {"simple"},
       {"check_error_stat", "tolerance", "noise_floor", "rtol", "atol", "error_quantile",
        "infinities_compare_equal", "max_mismatch_share", "max_mismatch_excess"}},
      {CompareFunction::kIndices, {"indices"}, {"index_tolerance"}},
      {CompareFunction::kLogits,
       {"logits"},
       {"logits_kl_threshold", "logits_top1_threshold", "logits_top_k", "logits_tokens",
        "logits_mask"}}};
  for (const MetricRow* metric : MetricsByOrigin()) {
    FunctionFlags& row = all.emplace_back(
        FunctionFlags{metric->function, {std::string(metric->name)}, {metric->threshold}});
    if (!metric->group.empty()) row.names.emplace_back(metric->group);
  }
  return all;
}

bool IsOwnOption(const ParsedArgs& args, std::string_view dest) {
  return std::ranges::any_of(args.given(), [&](const GivenOption& given) {
    return given.row->dest == dest && given.row->origin != Origin::kPeer;
  });
}

// A threshold of a function that does not run would be ignored in silence: a warning of an option
// that Polygraphy has, kInvalidArgument of another.
Status CheckUnusedThresholds(const ParsedArgs& args, const CompareOptions& options,
                             Logger& logger) {
  const std::span<const std::string> given = args.List("compare");
  const std::vector<std::string> selected =
      given.empty() ? std::vector<std::string>{"simple"}
                    : std::vector<std::string>(given.begin(), given.end());
  for (const FunctionFlags& row : FlagsOfFunctions()) {
    const auto& functions = options.functions;
    const bool runs =
        std::find(functions.begin(), functions.end(), row.function) != functions.end();
    if (runs) continue;
    for (const std::string_view dest : row.dests) {
      const bool feeds =
          dest == "logits_tokens" && args.Has("decode") && GivesTokens(options.tokens);
      if (!args.Has(dest) || feeds) continue;
      if (!options.lenient && IsOwnOption(args, dest)) {
        const std::string flag = NameOf(args, dest);
        return InvalidArgument(flag + " has no effect without --compare " + row.names.front() +
                               ": add that, or leave " + flag + " out");
      }
      logger.Warning("Option: " + NameOf(args, dest) +
                     " is only valid for comparison function(s): " + FormatPythonList(row.names) +
                     ". The selected comparison functions are: " + FormatPythonList(selected) +
                     ", so this option will be ignored.");
    }
  }
  return {};
}

// JudgeOf has the rule, and cannot see that a function was typed that is the default.
void BindJudge(const ParsedArgs& args, DecisionOptions& decisions) {
  const bool open = decisions.judge == JudgeRule::kUnsaid && decisions.has_gates();
  if (open && args.Has("compare")) decisions.judge = JudgeRule::kBoth;
}

}  // namespace

Status CheckAverageFlags(const CompareOptions& options) {
  if (!options.check_average) return {};
  if (options.fail_fast) {
    return InvalidArgument("--check-average cannot be combined with --fail-fast.");
  }
  const std::vector<CompareFunction>& functions = options.functions;
  if (!functions.empty() && functions.front() == CompareFunction::kScript) {
    return InvalidArgument(
        "The provided compare_func does not support average comparison. Use a compare_func that "
        "produces averageable metrics (--compare) with check_average=True.");
  }
  if (ChecksElements(options) &&
      std::find(functions.begin(), functions.end(), CompareFunction::kSimple) != functions.end()) {
    return InvalidArgument(
        "--check-average is not supported with check_error_stat='elemwise' (the default). Specify "
        "--check-error-stat max, mean, median, or quantile.");
  }
  return CheckAverageOptions(options);
}

Status BindCompare(const ParsedArgs& args, RunPlan& plan, Logger& logger) {
  plan.compare->lenient = plan.lenient;
  VERNIER_TRY(BindToleranceRules(plan.noise_floor, *plan.compare));
  BindJudge(args, plan.decisions);
  // Beside a script that judges no function runs, and that is reported once
  // (OptionRow::idle_beside).
  const bool judged_by_script = !plan.lenient && args.Has("compare_func_script");
  return judged_by_script ? Status() : CheckUnusedThresholds(args, plan.compare, logger);
}

}  // namespace vernier
