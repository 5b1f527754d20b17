#include "options/bind/bind_check.h"

#include "inputs/shape_grid.h"
#include "options/bind/bind_model.h"
#include "options/bind/file_conflicts.h"
#include "options/table/given_field.h"
#include "util/values/list_has.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

constexpr std::string_view kShapeSweep = "shape-sweep";

// Every property but one uses the first shape of each input.
bool SweepsShapes(const ConsistencyOptions& options) {
  return (options.only.empty() || ListHas(options.only, kShapeSweep)) &&
         !ListHas(options.skip, kShapeSweep);
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
  VERNIER_TRY(BindOptions(args, {.log = &log}, {plan.options}));
  VERNIER_TRY(CheckPropertyNames(plan.options));
  VERNIER_ASSIGN_OR_RETURN(plan.run, BindPlan(args, invocation, log));
  if (!IsGiven<&CompareOptions::rtol>(args) && !IsGiven<&CompareOptions::atol>(args) &&
      !IsGiven<&CompareOptions::tolerance>(args)) {
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
  VERNIER_ASSIGN_OR_RETURN(RunPlan run, BindPlan(args, invocation, log));
  if (!run.lenient) {
    VERNIER_TRY(RefuseSeveralShapes("--input-shapes", run.inputs.shape_words, "check extremes"));
  }
  ExtremesPlan plan{std::move(run), {}};
  VERNIER_ASSIGN_OR_RETURN(plan.sets, ChooseExtremeSets({}));
  VERNIER_TRY(BindOptions(args, {.log = &log}, {plan}));
  return plan;
}

Result<LintPlan> BindLint(const ParsedArgs& args, const Invocation& invocation, Logger& log) {
  VERNIER_TRY(CheckFileConflicts(args, "output"));
  LintPlan plan;
  VERNIER_ASSIGN_OR_RETURN(plan.options.model, BindModel(args));
  VERNIER_TRY(BindOptions(args, {.log = &log}, {plan.options}));
  VERNIER_TRY(CheckLintOptions(plan.options));
  Invocation own = invocation;
  own.reads_model = true;
  VERNIER_ASSIGN_OR_RETURN(plan.run, BindRun(args, own, log));
  if (plan.run.inputs.iterations) {
    log.Warning("--iterations has no effect: the model runs on one feed");
  }
  return plan;
}

}  // namespace vernier
