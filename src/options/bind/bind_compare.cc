#include "options/bind/bind_compare.h"

#include <algorithm>

#include "compare/functions/metric_table.h"
#include "options/table/given_field.h"
#include "options/table/groups.h"
#include "run/feeds/token_sources.h"
#include "util/text/number_text.h"
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

struct FunctionFlags {
  CompareFunction function;
  std::vector<std::string> names;  // choices of --compare, any of which uses the flags
  std::vector<const OptionRow*> rows;
};

// The rows that judge: a script that judges by itself puts them out of force.
std::vector<const OptionRow*> RowsThatJudge(const std::vector<OptionGroup>& groups) {
  std::vector<const OptionRow*> judging;
  for (const OptionGroup& group : groups) {
    for (const OptionRow& row : group.rows) {
      // Every function but `indices` leaves out what a mask excludes.
      const bool for_all = SetsField<&CompareOptions::mask>(row);
      if (row.idle_beside == kOwnJudge && !for_all) judging.push_back(&row);
    }
  }
  return judging;
}

std::vector<FunctionFlags> FlagsOfFunctions() {
  std::vector<FunctionFlags> all = {
      {CompareFunction::kSimple, {"simple"}, RowsThatJudge({CompareSimpleGroup()})},
      {CompareFunction::kIndices, {"indices"}, RowsThatJudge({CompareIndicesGroup()})},
      {CompareFunction::kLogits,
       {"logits"},
       RowsThatJudge({CompareLogitsGroup(), CompareTokensGroup()})}};
  const std::span<const OptionRow> thresholds = CompareMetricsGroup().rows;
  for (const MetricRow* metric : MetricsByOrigin()) {
    FunctionFlags& flags =
        all.emplace_back(FunctionFlags{metric->function, {std::string(metric->name)}, {}});
    if (!metric->group.empty()) flags.names.emplace_back(metric->group);
    for (const OptionRow& row : thresholds) {
      if (row.dest == metric->threshold) flags.rows.push_back(&row);
    }
  }
  return all;
}

// A threshold of a function that does not run would be ignored in silence: a warning of an option
// that Polygraphy has, kInvalidArgument of another.
Status CheckUnusedThresholds(const ParsedArgs& args, const CompareOptions& options,
                             Logger& logger) {
  const std::span<const std::string> given = args.List("compare");
  const std::vector<std::string> selected =
      given.empty() ? std::vector<std::string>{"simple"}
                    : std::vector<std::string>(given.begin(), given.end());
  const bool decodes = IsGiven<&StepPlan::decode>(args);
  for (const FunctionFlags& flags : FlagsOfFunctions()) {
    if (std::ranges::find(options.functions, flags.function) != options.functions.end()) continue;
    for (const OptionRow* row : flags.rows) {
      const bool feeds =
          SetsField<&CompareOptions::tokens>(*row) && decodes && GivesTokens(options.tokens);
      if (!args.Has(row->dest) || feeds) continue;
      if (SetsField<&CompareOptions::tokens>(*row) && decodes) {
        return InvalidArgument("--tokens: with --decode, expected FILE.npy or SCRIPT.py, got '" +
                               options.tokens + "'");
      }
      const std::string flag = row->NameInErrors();
      if (!options.lenient && row->origin != Origin::kPolygraphy) {
        return InvalidArgument(flag + " has no effect without --compare " + flags.names.front() +
                               ": add that, or leave " + flag + " out");
      }
      logger.Warning("Option: " + flag +
                     " is only valid for comparison function(s): " + FormatPythonList(flags.names) +
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
  const bool judged_by_script = !plan.lenient && IsGiven<&RunPlan::compare_script>(args);
  return judged_by_script ? Status() : CheckUnusedThresholds(args, plan.compare, logger);
}

}  // namespace vernier
