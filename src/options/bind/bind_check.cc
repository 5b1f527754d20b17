#include "options/bind/bind_check.h"

#include "inputs/shape_grid.h"
#include "options/bind/bind_model.h"
#include "options/bind/file_conflicts.h"
#include "util/list_has.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

constexpr std::string_view kShapeSweep = "shape-sweep";

// Every property but one uses the first shape of each input.
bool SweepsShapes(const ConsistencyOptions& options) {
  return (options.only.empty() || ListHas(options.only, kShapeSweep)) &&
         !ListHas(options.skip, kShapeSweep);
}

Result<ConsistencyOptions> BindOptions(const ParsedArgs& args) {
  ConsistencyOptions options;
  VERNIER_ASSIGN_OR_RETURN(const std::optional<int64_t> repeats, args.Int("repeats"));
  VERNIER_ASSIGN_OR_RETURN(const std::optional<int64_t> rows, args.Int("rows"));
  options.repeats = repeats.value_or(options.repeats);
  options.rows = rows.value_or(options.rows);
  for (const auto& [flag, value] :
       {std::pair("--repeats", options.repeats), std::pair("--rows", options.rows)}) {
    if (value >= 2) continue;
    return InvalidArgument(std::string(flag) + ": expected a number >= 2, got '" +
                           std::to_string(value) + "'");
  }
  const auto only = args.List("only");
  const auto skip = args.List("skip");
  options.only.assign(only.begin(), only.end());
  options.skip.assign(skip.begin(), skip.end());
  VERNIER_TRY(CheckPropertyNames(options));
  return options;
}

// A run of one runner at least.
Result<RunPlan> BindPlan(const ParsedArgs& args, const Invocation& invocation, Logger& log) {
  VERNIER_ASSIGN_OR_RETURN(RunPlan plan, BindRun(args, invocation, log));
  if (plan.runners.empty()) {
    return InvalidArgument("no runner is named: add --onnxrt, --openvino, --trt or another");
  }
  VERNIER_TRY(CheckRun(plan));
  return plan;
}

}  // namespace

Result<ConsistencyPlan> BindConsistency(const ParsedArgs& args, const Invocation& invocation,
                                        Logger& log) {
  ConsistencyPlan plan;
  VERNIER_ASSIGN_OR_RETURN(plan.options, BindOptions(args));
  VERNIER_ASSIGN_OR_RETURN(plan.run, BindPlan(args, invocation, log));
  if (!args.Has("rtol") && !args.Has("atol") && !args.Has("tolerance")) {
    plan.run.compare->tolerance.fallback = ToleranceRule::kAuto;
  }
  if (!SweepsShapes(plan.options) && !plan.run.lenient) {
    VERNIER_TRY(RefuseSeveralShapes("--input-shapes", plan.run.inputs.shape_words,
                                    "check consistency without shape-sweep"));
  }
  return plan;
}

Result<ExtremesPlan> BindExtremes(const ParsedArgs& args, const Invocation& invocation,
                                  Logger& log) {
  VERNIER_ASSIGN_OR_RETURN(RunPlan plan, BindPlan(args, invocation, log));
  if (!plan.lenient) {
    VERNIER_TRY(RefuseSeveralShapes("--input-shapes", plan.inputs.shape_words, "check extremes"));
  }
  VERNIER_ASSIGN_OR_RETURN(std::vector<ExtremeSetRow> sets, ChooseExtremeSets(args.List("sets")));
  return ExtremesPlan{std::move(plan), std::move(sets), !args.List("sets").empty(),
                      args.Has("strict")};
}

Result<LintPlan> BindLint(const ParsedArgs& args, const Invocation& invocation, Logger& log) {
  VERNIER_TRY(CheckFileConflicts(args, "output"));
  LintPlan plan;
  VERNIER_ASSIGN_OR_RETURN(plan.options.model, BindModel(args));
  plan.options.skip = ListOf(args, "skip");
  plan.options.strict = args.Has("strict");
  VERNIER_TRY(CheckLintOptions(plan.options));
  VERNIER_ASSIGN_OR_RETURN(plan.run, BindRun(args, invocation, log));
  plan.run.save.record = TextOf(args, "output");
  if (args.Has("iterations")) log.Warning("--iterations has no effect: the model runs on one feed");
  return plan;
}

}  // namespace vernier
