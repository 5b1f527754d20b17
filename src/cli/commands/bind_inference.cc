#include "cli/commands/bind_inference.h"

#include <string>
#include <utility>
#include <vector>

#include "cli/commands/interruption.h"
#include "cli/commands/model_tool.h"
#include "inference/extract_shapes.h"
#include "inference/model_shapes.h"
#include "inputs/shape_grid.h"
#include "options/bind/bind_model.h"
#include "options/table/given_field.h"
#include "run/runner/changed_model.h"
#include "util/log/no_log.h"

namespace vernier {
namespace {

constexpr std::string_view kOneFeed = "--iterations has no effect: the model runs on one feed";

// One inference of ONNX Runtime with the model and the inputs of the command line. `shapes` are
// more words of --input-shapes.
Result<RunPlan> BindInference(const ParsedArgs& args, std::span<const std::string> shapes,
                              const Invocation& invocation, Logger& log) {
  VERNIER_ASSIGN_OR_RETURN(RunPlan plan, BindRun(args, invocation, log));
  plan.inputs.shape_words.insert(plan.inputs.shape_words.end(), shapes.begin(), shapes.end());
  if (!plan.lenient) {
    VERNIER_TRY(
        RefuseSeveralShapes("--model-input-shapes", plan.inputs.shape_words, "one inference"));
  }
  RunnerPlan runner;
  runner.name = "onnxrt";
  runner.backend = "onnxruntime";
  VERNIER_ASSIGN_OR_RETURN(runner.model, BindModel(args));
  runner.model.type = "onnx";
  runner.model.save_path.clear();
  plan.runners = {std::move(runner)};
  VERNIER_TRY(CheckRun(plan));
  return plan;
}

// Where --onnxrt-lib says that it is; empty: wherever it is found.
std::string OnnxRuntimeLibrary(const ParsedArgs& args) {
  RunnerPlan runner;
  runner.backend = "onnxruntime";
  (void)BindOptions(args, {}, {runner});  // refused where a runner is bound
  for (const auto& [key, value] : runner.backend_options) {
    if (key == "lib") return value;
  }
  return "";
}

}  // namespace

Result<OnnxModel> LoadAsAsked(const ParsedArgs& args, WorkerPool& pool, Logger& log) {
  VERNIER_ASSIGN_OR_RETURN(ModelPlan plan, BindModel(args));
  return LoadChanged(std::move(plan), pool, log);
}

Status InferShapesAsAsked(const ParsedArgs& args, EditableModel& model, Logger& log) {
  ExecutionPlan execution;
  VERNIER_TRY(BindWorkers(args, execution));
  VERNIER_ASSIGN_OR_RETURN(const ModelPlan plan, BindModel(args));
  return InferShapes(model, execution, ToolOf(plan), WatchSignals(), log);
}

FeedSource BindFeedSource(const ParsedArgs& args, const Invocation& invocation, Logger& log) {
  FeedSource source;
  source.given = IsGiven<&InputPlan::load_paths>(args) || IsGiven<&InputPlan::script>(args);
  source.library = OnnxRuntimeLibrary(args);
  source.flags = FeedFlags(args);
  source.inference = [&]() -> Result<RunPlan> {
    if (IsGiven<&InputPlan::iterations>(args)) log.Warning(kOneFeed);
    return BindInference(args, {}, invocation, log);
  };
  return source;
}

Status CompleteExtractAsAsked(const ParsedArgs& args, const Invocation& invocation,
                              const PartRequest& part, const OnnxModel& model, ExtractPlan& plan,
                              Logger& log) {
  ExtractCompletion completion{WatchSignals(), part};
  VERNIER_ASSIGN_OR_RETURN(completion.model, BindModel(args));
  VERNIER_TRY(BindWorkers(args, completion.execution));
  bool fed = false;
  completion.inference = [&] {
    fed = true;
    return BindInference(args, part.shape_words, invocation, log);
  };
  if (IsGiven<&InputPlan::iterations>(args)) log.Warning(kOneFeed);
  NoLog unheard;
  InputPlan inputs;
  const Status read = BindOptions(args, {.log = &unheard}, {inputs});
  if (!invocation.as_polygraphy && !inputs.range_words.empty()) {
    VERNIER_TRY(read);
    VERNIER_TRY(BindInference(args, part.shape_words, invocation, unheard).status());
  }
  VERNIER_TRY(CompleteExtract(completion, model, plan, log));
  std::vector<std::string> flags = FeedFlags(args);
  std::erase(flags, FlagOf<&InputPlan::iterations>(args));
  if (!invocation.as_polygraphy && !fed) WarnOfUnusedFeed(flags, log);
  return {};
}

}  // namespace vernier
