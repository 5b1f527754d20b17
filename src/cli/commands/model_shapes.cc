#include "cli/commands/model_shapes.h"

#include <algorithm>
#include <string>
#include <vector>

#include "cli/bind_model.h"
#include "cli/commands/constant_worker.h"
#include "cli/commands/surgery.h"
#include "inputs/shape_grid.h"
#include "surgeon/input_shapes.h"
#include "util/number_text.h"

namespace vernier {
namespace {

// What the peer assumes of a size that nothing fixes.
constexpr int64_t kOpenSize = 1;

bool GivesFeeds(const ParsedArgs& args) {
  return args.Has("load_inputs_paths") || args.Has("data_loader_script");
}

std::vector<TensorInfo> InfosOf(const TensorMap& tensors) {
  std::vector<TensorInfo> infos;
  for (const NamedTensor& tensor : tensors) {
    TensorInfo& info = infos.emplace_back(TensorInfo{tensor.name, tensor.tensor.dtype(), {}});
    info.shape.emplace();
    for (const int64_t size : tensor.tensor.dims()) info.shape->push_back({size, {}});
  }
  return infos;
}

void TellInputs(const OnnxModel& model, std::span<const TensorInfo> found, Logger& log) {
  std::string text;
  for (const TensorInfo& input : model.RequiredInputs()) {
    const auto fed = std::find_if(found.begin(), found.end(),
                                  [&](const TensorInfo& info) { return info.name == input.name; });
    if (fed == found.end()) continue;
    text += (text.empty() ? "" : ",\n ") + fed->name +
            " [dtype=" + std::string(DTypeName(fed->dtype)) + ", shape=" + FormatShape(fed->shape) +
            "]";
  }
  log.Info("Running fallback shape inference using input metadata:\n{" + text + "}");
}

void TellMissing(std::span<const std::string> wanted, const TensorMap& values, Logger& log) {
  std::string text;
  for (const std::string& name : wanted) {
    if (Find(values, name) == nullptr) text += (text.empty() ? "" : ", ") + QuotePython(name);
  }
  if (text.empty()) return;
  log.Warning(
      "The shapes of these stay as they are, since they are no tensors that ONNX Runtime "
      "shows: " +
      text);
}

}  // namespace

Result<RunPlan> BindInference(const ParsedArgs& args, const Invocation& invocation, Logger& log) {
  VERNIER_ASSIGN_OR_RETURN(RunPlan plan, BindRun(args, invocation, log));
  const std::span<const std::string> shapes = args.List("model_input_shapes");
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

Status InferShapes(const ParsedArgs& args, EditableModel& model, Logger& log) {
  ExecutionPlan execution;
  VERNIER_TRY(BindWorkers(args, execution));
  ConstantWorker worker(model, execution, "", log);
  const ShapeTool tool = args.Has("allow_onnxruntime") ? ShapeTool::kOnnx : ShapeTool::kSymbolic;
  VERNIER_ASSIGN_OR_RETURN(OnnxModel inferred, worker.InferShapesOf(model.now(), tool));
  model.Become(std::move(inferred));
  return {};
}

Status ForceShapes(const ParsedArgs& args, const Invocation& invocation, EditableModel& model,
                   Logger& log) {
  const bool given = GivesFeeds(args);
  if (!given) {
    VERNIER_ASSIGN_OR_RETURN(OnnxModel followed, WithShapesThatFollow(model.now(), kOpenSize));
    model.Become(std::move(followed));
  }
  const std::vector<std::string> wanted = TensorsOfNodes(model.now(), given);
  if (wanted.empty()) {
    TellUnusedInputs(args, log);
    return {};
  }
  if (args.Has("iterations")) log.Warning("--iterations has no effect: the model runs on one feed");
  VERNIER_ASSIGN_OR_RETURN(const RunPlan feeds, BindInference(args, invocation, log));
  ConstantWorker worker(model, feeds.execution, std::string(args.Value("onnxrt_lib").value_or("")),
                        log);
  VERNIER_ASSIGN_OR_RETURN(
      const TensorMap values,
      worker.Measure(model.now(), wanted, feeds).Annotate("--force-fallback-shape-inference"));
  const std::vector<TensorInfo> found = InfosOf(values);
  TellInputs(model.now(), found, log);
  TellMissing(wanted, values, log);
  VERNIER_ASSIGN_OR_RETURN(OnnxModel sized, WithTensors(model.now(), found));
  model.Become(std::move(sized));
  return {};
}

}  // namespace vernier
