// The nodes that have to stay float32 in a float16 model.
#include <algorithm>
#include <optional>
#include <utility>

#include "cli/commands/bind_inference.h"
#include "cli/commands/build_command.h"
#include "cli/commands/interruption.h"
#include "cli/commands/model_tool.h"
#include "cli/table/commands.h"
#include "debug/engine_precisions.h"
#include "debug/precision_debugging.h"
#include "options/bind/bind_debug.h"
#include "options/bind/bind_debug_gate.h"
#include "options/bind/bind_model.h"
#include "options/bind/bind_onnx_save.h"
#include "options/bind/bind_run.h"
#include "options/bind/bind_tensorrt.h"
#include "options/bind/file_conflicts.h"
#include "options/table/option_sets.h"
#include "surgeon/constant_folding.h"
#include "util/log/no_log.h"

namespace vernier {
namespace {

// A check that reads the engine of Polygraphy's tool gets one.
std::string DefaultArtifact(const CheckWords& check) {
  constexpr std::string_view kEngine = "polygraphy_debug.engine";
  const bool reads =
      std::any_of(check.command.begin(), check.command.end(),
                  [&](const std::string& word) { return word.find(kEngine) != std::string::npos; });
  return reads ? std::string(kEngine) : "polygraphy_debug.onnx";
}

bool IsEngineFile(std::string_view path) {
  return path.ends_with(".engine") || path.ends_with(".plan");
}

// What the command line says to TensorRT. `artifact` is the file of an iteration.
Result<EngineSettings> BindEngine(const ParsedArgs& args, const std::string& artifact,
                                  Logger& log) {
  EngineSettings engine;
  engine.runner.backend = "tensorrt";
  NoLog silence;  // whether any of this has an effect is not known yet
  engine.fault = BindTensorRt(args, engine.runner, silence);
  for (const GivenOption& given : args.given()) {
    const std::string_view dest = given.row->dest;
    if (!IsForTensorRt(*given.row)) continue;
    const bool half = dest == "fp16";
    engine.fp16 = engine.fp16 || half;
    if (half) continue;
    (IsLowerPrecision(dest) ? engine.lower : engine.flags).emplace_back(given.flag);
  }
  engine.build_command = BuildCommand;
  if (!IsEngineFile(artifact)) return engine;
  VERNIER_ASSIGN_OR_RETURN(ModelPlan model, BindModel(args));
  model.type = "onnx";
  VERNIER_ASSIGN_OR_RETURN(engine.build, BindEngineBuild(args, model, artifact, log));
  return engine;
}

// One inference of ONNX Runtime.
Result<std::optional<RunPlan>> BindEvidence(const ParsedArgs& args, const Invocation& invocation,
                                            Logger& log) {
  VERNIER_ASSIGN_OR_RETURN(RunPlan plan, BindRun(args, invocation, log));
  RunnerPlan runner;
  runner.name = "onnxrt";
  runner.backend = "onnxruntime";
  VERNIER_ASSIGN_OR_RETURN(runner.model, BindModel(args));
  VERNIER_TRY(BindOptions(args, {.log = &log}, {runner}));
  runner.model.type = "onnx";
  runner.model.save_path.clear();
  plan.runners = {std::move(runner)};
  return std::optional(std::move(plan));
}

int DebugPrecisionCommand(std::span<const std::string> words, const Invocation& invocation) {
  std::vector<std::string> own(words.begin(), words.end());
  CheckWords check = TakeCheckWords(own);
  const auto work = [&](const ParsedArgs& args, ConsoleLog& log) -> Status {
    PrecisionDebugPlan plan;
    VERNIER_TRY(BindOptions(args, {.log = &log}, {plan}));
    if (!invocation.as_polygraphy) VERNIER_TRY(CheckFileConflicts(args, "output"));
    VERNIER_TRY(AddDecisionGate(args, log, check));
    const std::atomic<int>& interrupted = WatchSignals();
    VERNIER_ASSIGN_OR_RETURN(ToolModel opened,
                             ToolModel::Open(args, invocation.as_polygraphy, log));
    if (opened.plan().shape_inference) VERNIER_TRY(InferShapesAsAsked(args, opened.model(), log));
    plan.model = opened.plan().path;
    // Constants are weights: those of a node that stays float32 do so too.
    VERNIER_ASSIGN_OR_RETURN(OnnxModel lowered, ConstantsAsInitializers(opened.model().now()));
    opened.model().Become(std::move(lowered));
    const std::string artifact = DefaultArtifact(check);
    VERNIER_ASSIGN_OR_RETURN(DebugSessionPlan session_plan,
                             BindDebugSession(args, std::move(check), {"precision", artifact}));
    VERNIER_ASSIGN_OR_RETURN(DebugSession session,
                             DebugSession::Open(std::move(session_plan), interrupted, log));
    VERNIER_ASSIGN_OR_RETURN(plan.save, BindOnnxSave(args, log));
    VERNIER_ASSIGN_OR_RETURN(plan.engine, BindEngine(args, session.artifact(), log));
    plan.inference = [&] { return BindEvidence(args, invocation, log); };
    return DebugPrecision(plan, opened.model(), session, log).status();
  };
  return RunModelTool(kDebugPrecisionCommand, work, true, own, invocation);
}

}  // namespace

constexpr CommandSpec kDebugPrecisionCommand = {
    .name = "debug precision",
    .section = CommandSection::kCause,
    .operands =
        "model_file [-o FILE] [options ...] --check COMMAND ... | -- RUN OPTIONS |"
        " --decision KIND GATE",
    .summary = "find the nodes of an ONNX model that must stay float32 in a float16 model",
    .about =
        "Write the model in float16 with casts around some nodes and check it, until none of the"
        " nodes left in float32 can be lowered. The types are stored in the model itself, so the"
        " result applies to every framework and every TensorRT version. With RUN OPTIONS the check"
        " is vernier run, and the reference is what the unchanged model computes with them. With"
        " --decision and a gate, the command finds the nodes that must stay float32 for the"
        " decisions (or, with --labels and --max-drop, the accuracy) to pass the gate.",
    .options =
        [] {
          return OptionTable(
              {GeneralGroup(), LoggingGroup(), ModelAndShapeOptions(), DebugPrecisionGroup(),
               Only(DecisionGroup(), {"decisions", "max_flip_rate", "max_clear_flips", "near_tie",
                                      "labels", "max_drop", "drop_type"}),
               DebugJobGroup(), DebugCheckGroup(), DebugArtifactGroup(), OneRunInputOptions(),
               Only(OnnxRuntimeGroup(), {"onnxrt_lib"}), OnnxShapeInferenceGroup(),
               StrictlyLoadedModelOptions(), SavedModelOptions(), EngineOptions()});
        },
    .run = DebugPrecisionCommand,
};

}  // namespace vernier
