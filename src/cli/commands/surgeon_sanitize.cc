// A model cleaned up: outputs chosen, shapes set, constants folded, what is unused removed.
#include <algorithm>

#include "cli/commands/bind_inference.h"
#include "cli/commands/interruption.h"
#include "cli/commands/model_tool.h"
#include "cli/table/commands.h"
#include "inference/sanitizing.h"
#include "options/bind/bind_model.h"
#include "options/table/option_sets.h"

namespace vernier {
namespace {

void WarnOfIdleOptions(const ParsedArgs& args, const SanitizePlan& plan, Logger& log) {
  for (const OptionRow& row : ConstantFoldingGroup().rows) {
    if (plan.fold || !args.Has(row.dest)) continue;
    std::string name(row.dest);
    std::replace(name.begin(), name.end(), '_', '-');
    log.Warning("Argument: '--" + name +
                "' will be ignored since constant folding is not enabled.\nThis argument is only "
                "valid when the `--fold-constants` option is provided.");
  }
  if (!plan.fold && !plan.shapes.forced && !plan.feeds.library.empty()) {
    log.Warning(
        "--onnxrt-lib has no effect without --fold-constants or --force-fallback-shape-inference");
  }
  if (!plan.shapes.forced) WarnOfUnusedFeed(FeedFlags(args), log);
}

Result<SanitizePlan> BindSanitize(const ParsedArgs& args, const Invocation& invocation,
                                  Logger& log) {
  SanitizePlan plan;
  VERNIER_TRY(BindOptions(args, {.lenient = invocation.as_polygraphy, .log = &log},
                          {plan, plan.folding, plan.shapes}));
  plan.feeds = BindFeedSource(args, invocation, log);
  WarnOfIdleOptions(args, plan, log);
  VERNIER_TRY(BindWorkers(args, plan.execution));
  VERNIER_ASSIGN_OR_RETURN(plan.model, BindModel(args));
  plan.model.skips_unknown_types = invocation.as_polygraphy;
  return plan;
}

Status SanitizeAsAsked(const ParsedArgs& args, const Invocation& invocation, ConsoleLog& log) {
  VERNIER_ASSIGN_OR_RETURN(const SanitizePlan plan, BindSanitize(args, invocation, log));
  VERNIER_ASSIGN_OR_RETURN(ToolModel opened, ToolModel::Open(args, invocation.as_polygraphy, log));
  VERNIER_TRY(Sanitize(plan, opened.model(), WatchSignals(), log));
  return opened.Save(log);
}

int SurgeonSanitizeCommand(std::span<const std::string> words, const Invocation& invocation) {
  const auto sanitize = [&](const ParsedArgs& args, ConsoleLog& log) {
    return SanitizeAsAsked(args, invocation, log);
  };
  return RunModelTool(kSurgeonSanitizeCommand, sanitize, true, words, invocation);
}

}  // namespace

constexpr CommandSpec kSurgeonSanitizeCommand = {
    .name = "surgeon sanitize",
    .section = CommandSection::kModels,
    .operands = "model_file -o FILE [options ...]",
    .summary = "clean up an ONNX model: outputs, shapes, constants, node order, unused parts",
    .about =
        "Write the model with other outputs or input shapes, sorted nodes, constants folded and"
        " unused parts removed. Weights are not loaded; ONNX"
        " Runtime computes constants in a process of its own. Shapes are inferred by the onnx"
        " package of --python, or else by built-in rules for fixed sizes.",
    .options =
        [] {
          return OptionTable({SurgeonOptions(SanitizeGroup()), ConstantFoldingGroup(),
                              DefaultShapeInferenceGroup(),
                              Only(OnnxShapeInferenceGroup(), {"allow_onnxruntime"}),
                              DrawnOrReadInputOptions(), Only(OnnxRuntimeGroup(), {"onnxrt_lib"}),
                              AnyWorkerOptions()});
        },
    .run = SurgeonSanitizeCommand,
};

}  // namespace vernier
