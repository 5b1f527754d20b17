// The fewest nodes of a model that still fail a check.
#include "cli/commands/bind_inference.h"
#include "cli/commands/interruption.h"
#include "cli/commands/model_tool.h"
#include "cli/table/commands.h"
#include "debug/reducing.h"
#include "inference/model_shapes.h"
#include "options/bind/bind_debug.h"
#include "options/bind/bind_onnx_save.h"
#include "options/bind/file_conflicts.h"
#include "options/table/option_sets.h"
#include "surgeon/constant_folding.h"
#include "surgeon/input_shapes.h"

namespace vernier {
namespace {

Status PrepareModel(const ParsedArgs& args, const Invocation& invocation,
                    const ReduceDebugPlan& plan, const ShapeInference& shapes, EditableModel& model,
                    Logger& log) {
  if (!plan.inputs.empty()) {
    VERNIER_ASSIGN_OR_RETURN(OnnxModel shaped, WithInputShapes(model.now(), plan.inputs));
    model.Become(std::move(shaped));
  }
  // Constants belong to whoever reads them: they are no nodes to be cut off.
  VERNIER_ASSIGN_OR_RETURN(OnnxModel lowered, ConstantsAsInitializers(model.now()));
  model.Become(std::move(lowered));
  if (shapes.forced) {
    VERNIER_TRY(ForceShapes(model, BindFeedSource(args, invocation, log), WatchSignals(), log));
  } else if (shapes.wanted) {
    // Where rules know all sizes no worker has to be started.
    VERNIER_ASSIGN_OR_RETURN(const bool known, TakeShapesThatFollow(model));
    if (!known) VERNIER_TRY(InferShapesAsAsked(args, model, log));
  }
  bool open = false;
  for (const TensorInfo& input : model.now().RequiredInputs()) {
    if (!input.shape) open = true;
    for (const Dim& dim : input.shape.value_or(std::vector<Dim>())) open = open || dim.dynamic();
  }
  if (open) {
    log.Warning(
        "This model uses dynamic input shapes.\nYou may want to provide input shapes to `debug "
        "reduce` using the `--model-input-shapes` option to prevent unexpected behavior.\n");
  }
  return {};
}

Result<ReduceDebugPlan> BindReduce(const ParsedArgs& args, bool as_polygraphy, Logger& log) {
  ReduceDebugPlan plan;
  VERNIER_TRY(BindOptions(args, {.lenient = as_polygraphy, .log = &log}, {plan}));
  if (plan.output.empty() && plan.min_good.empty()) {
    return InvalidArgument(
        "--output (where to write the reduced model) and/or --min-good (where to write a reduced "
        "model that passes) must be provided!");
  }
  plan.keep_good = as_polygraphy;
  VERNIER_ASSIGN_OR_RETURN(plan.save, BindOnnxSave(args, log));
  return plan;
}

int DebugReduceCommand(std::span<const std::string> words, const Invocation& invocation) {
  std::vector<std::string> own(words.begin(), words.end());
  CheckWords check = TakeCheckWords(own);
  const auto work = [&](const ParsedArgs& args, ConsoleLog& log) -> Status {
    VERNIER_ASSIGN_OR_RETURN(const ReduceDebugPlan plan,
                             BindReduce(args, invocation.as_polygraphy, log));
    ShapeInference shapes;
    VERNIER_TRY(BindOptions(args, {}, {shapes}));
    // Polygraphy replaces the model by its reduced one.
    if (!invocation.as_polygraphy) VERNIER_TRY(CheckFileConflicts(args, "output"));
    const DebugTool tool{"reduce", "polygraphy_debug.onnx"};
    VERNIER_ASSIGN_OR_RETURN(DebugSessionPlan session_plan,
                             BindDebugSession(args, std::move(check), tool));
    VERNIER_ASSIGN_OR_RETURN(DebugSession session,
                             DebugSession::Open(std::move(session_plan), WatchSignals(), log));
    session.check().HoldOnToFault();
    VERNIER_ASSIGN_OR_RETURN(ToolModel opened,
                             ToolModel::Open(args, invocation.as_polygraphy, log));
    if (!shapes.forced) WarnOfUnusedFeed(FeedFlags(args), log);
    VERNIER_TRY(PrepareModel(args, invocation, plan, shapes, opened.model(), log));
    return DebugReduce(plan, opened.model(), session, log).status();
  };
  return RunModelTool(kDebugReduceCommand, work, true, own, invocation);
}

}  // namespace

constexpr CommandSpec kDebugReduceCommand = {
    .name = "debug reduce",
    .section = CommandSection::kCause,
    .operands = "model_file -o FILE [options ...] --check COMMAND ... | -- RUN OPTIONS",
    .summary = "reduce an ONNX model to the fewest nodes that still fail a check",
    .about =
        "Write ever smaller parts of a failing model and check each, until removing any further"
        " node makes the check pass. The command reads polygraphy_debug.onnx, for example --check"
        " ./builds.sh polygraphy_debug.onnx. With RUN OPTIONS, such as -- --onnxrt --openvino, the"
        " check is vernier run. --load-debug-replay resumes an interrupted session.",
    .options =
        [] {
          return OptionTable({GeneralGroup(), LoggingGroup(), ModelFileOptions(),
                              DebugReduceGroup(), DebugJobGroup(), DebugCheckGroup(),
                              DebugArtifactGroup(), DefaultShapeInferenceGroup(),
                              Only(OnnxShapeInferenceGroup(), {"allow_onnxruntime"}),
                              DrawnOrReadInputOptions(), StrictlyLoadedModelOptions(),
                              SavedModelOptions(), AnyWorkerOptions()});
        },
    .run = DebugReduceCommand,
};

}  // namespace vernier
