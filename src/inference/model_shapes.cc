#include "inference/model_shapes.h"

#include <algorithm>
#include <string>
#include <vector>

#include "inference/constant_worker.h"
#include "model/edit/onnx_extract.h"
#include "surgeon/input_shapes.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

// What Polygraphy assumes of a size that nothing fixes.
constexpr int64_t kOpenSize = 1;

std::vector<TensorInfo> InfosOf(const TensorMap& tensors) {
  std::vector<TensorInfo> infos;
  for (const NamedTensor& tensor : tensors) {
    TensorInfo& info = infos.emplace_back(TensorInfo{tensor.name, tensor.tensor.dtype(), {}});
    info.shape.emplace();
    for (const int64_t size : tensor.tensor.dims()) info.shape->push_back({size, {}});
  }
  return infos;
}

void LogInputs(const OnnxModel& model, std::span<const TensorInfo> found, Logger& log) {
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

void LogMissing(std::span<const std::string> wanted, const TensorMap& values, Logger& log) {
  std::string text;
  for (const std::string& name : wanted) {
    if (Find(values, name) == nullptr) text += (text.empty() ? "" : ", ") + QuotePython(name);
  }
  if (text.empty()) return;
  log.Warning(
      "The shapes of these are unchanged, because ONNX Runtime does not expose them as tensors: " +
      text);
}

bool KnowsAllShapes(const OnnxModel& model) {
  std::vector<std::string> names;
  for (const OnnxNode& node : model.graph().nodes) {
    for (const std::string_view name : model.graph().Outputs(node)) {
      if (!name.empty()) names.emplace_back(name);
    }
  }
  const std::vector<TensorInfo> infos = DescribeTensors(model, names);
  return std::all_of(infos.begin(), infos.end(), [](const TensorInfo& info) {
    return info.shape && info.dtype != DType::kUndefined;
  });
}

}  // namespace

Result<bool> TakeShapesThatFollow(EditableModel& model) {
  VERNIER_ASSIGN_OR_RETURN(OnnxModel followed, WithShapesThatFollow(model.now(), -1));
  const bool known = KnowsAllShapes(followed);
  if (known) model.Become(std::move(followed));
  return known;
}

void WarnOfUnusedFeed(std::span<const std::string> flags, Logger& log) {
  for (const std::string& flag : flags) {
    log.Warning(flag +
                " has no effect: shapes follow from those of the inputs, and nothing is fed");
  }
}

Status InferShapes(EditableModel& model, const ExecutionPlan& execution, ShapeTool tool,
                   const std::atomic<int>& interrupted, Logger& log) {
  ConstantWorker worker(model, execution, "", interrupted, log);
  VERNIER_ASSIGN_OR_RETURN(OnnxModel inferred, worker.InferShapesOf(model.now(), tool));
  model.Become(std::move(inferred));
  return {};
}

Status ForceShapes(EditableModel& model, const FeedSource& source,
                   const std::atomic<int>& interrupted, Logger& log) {
  if (!source.given) {
    VERNIER_ASSIGN_OR_RETURN(OnnxModel followed, WithShapesThatFollow(model.now(), kOpenSize));
    model.Become(std::move(followed));
  }
  const std::vector<std::string> wanted = TensorsOfNodes(model.now(), source.given);
  if (wanted.empty()) {
    WarnOfUnusedFeed(source.flags, log);
    return {};
  }
  VERNIER_ASSIGN_OR_RETURN(const RunPlan feeds, source.inference());
  ConstantWorker worker(model, feeds.execution, source.library, interrupted, log);
  VERNIER_ASSIGN_OR_RETURN(
      const TensorMap values,
      worker.Measure(model.now(), wanted, feeds).Annotate("--force-fallback-shape-inference"));
  const std::vector<TensorInfo> found = InfosOf(values);
  LogInputs(model.now(), found, log);
  LogMissing(wanted, values, log);
  VERNIER_ASSIGN_OR_RETURN(OnnxModel sized, WithTensors(model.now(), found));
  model.Become(std::move(sized));
  return {};
}

}  // namespace vernier
