#include "run/runner/nudged_weights.h"

#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/edit/onnx_save.h"
#include "model/onnx/mapped_weight.h"
#include "model/onnx/model_type.h"
#include "model/onnx/onnx_attributes.h"
#include "model/onnx/replaced_values.h"
#include "model/rounding/unit_roundoff.h"
#include "run/runner/nudged_floats.h"

namespace vernier {
namespace {

// Of the moved weights, which lie in memory beside the model.
constexpr uint64_t kMostMovedBytes = uint64_t{256} << 20;

bool IsMovable(const OnnxTensor& tensor, bool is_scale) {
  const bool is_weight = tensor.dims.size() >= 2 || is_scale;
  return is_weight && CanNudge(tensor.dtype) && !tensor.external && !tensor.split;
}

// A quantiser's scale goes with them: moved, it takes values that lie on ties to either step, as
// another runtime's rounding does.
std::set<std::string_view> ScalesOf(const OnnxGraph& graph) {
  std::set<std::string_view> scales;
  for (const OnnxNode& node : graph.nodes) {
    if (node.op_type == "Mul" || node.op_type == "Add") {
      for (const std::string_view input : graph.Inputs(node)) scales.insert(input);
    }
    if (node.op_type == "QuantizeLinear" && graph.Inputs(node).size() > 1)
      scales.insert(graph.Inputs(node)[1]);
  }
  return scales;
}

// The weights of a graph, and those that some exporters keep in `Constant` nodes.
void AddWeights(const OnnxModel& model, const OnnxGraph& graph, MovedWeights which,
                std::vector<OnnxTensor>& weights) {
  const std::set<std::string_view> scales =
      which == MovedWeights::kMatricesAndScales ? ScalesOf(graph) : std::set<std::string_view>();
  for (const OnnxTensor& tensor : graph.initializers) {
    if (IsMovable(tensor, scales.contains(tensor.name))) weights.push_back(tensor);
  }
  for (const OnnxNode& node : graph.nodes) {
    if (node.op_type != "Constant") continue;
    NodeAttributes attributes(model, node);
    const OnnxAttribute* value = attributes.Find("value");
    const auto outputs = graph.Outputs(node);
    const bool is_scale = !outputs.empty() && scales.contains(outputs[0]);
    if (value != nullptr && value->tensor && IsMovable(*value->tensor, is_scale)) {
      weights.push_back(*value->tensor);
    }
  }
}

std::vector<OnnxTensor> WeightsOf(const OnnxModel& model, MovedWeights which) {
  std::vector<OnnxTensor> weights;
  AddWeights(model, model.graph(), which, weights);
  for (const OnnxGraph& body : model.contents().subgraphs) AddWeights(model, body, which, weights);
  return weights;
}

// `moved` keeps the values that the patches view.
Status MoveWeight(const OnnxModel& model, const OnnxTensor& tensor, Nudge nudge,
                  std::vector<Tensor>& moved, std::vector<WirePatch>& patches) {
  VERNIER_ASSIGN_OR_RETURN(const MappedWeight weight, MapWeight(model, tensor, {}));
  VERNIER_ASSIGN_OR_RETURN(Tensor nudged, NudgeFloats(weight.values, nudge));
  const std::span<const std::byte> bytes = nudged.bytes();
  ReplacedValues values{tensor, {}};
  values.values.AddView({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  moved.push_back(std::move(nudged));
  return PatchValues(values, patches);
}

}  // namespace

Result<NudgedWeights> NudgedWeights::Of(const ModelPlan& plan, MovedWeights which) {
  const bool changed = plan.edited() || plan.fp_to_fp16 || plan.shape_inference;
  if (plan.type != ModelTypeName(ModelType::kOnnx) || changed) {
    return Unimplemented("weights are moved in ONNX models alone, as the file has them");
  }
  VERNIER_ASSIGN_OR_RETURN(OnnxModel model, OnnxModel::Open(plan.path));
  NudgedWeights weights(plan, which, std::move(model));
  for (const OnnxTensor& tensor : WeightsOf(weights.model_, which)) {
    weights.roundoff_ = std::max(weights.roundoff_, UnitRoundoff(tensor.dtype));
  }
  if (weights.roundoff_ == 0) return Unimplemented("the model has no weights that can be moved");
  return weights;
}

Result<std::shared_ptr<const ModelSource>> NudgedWeights::Move(std::optional<Nudge> nudge) const {
  std::vector<Tensor> moved;
  std::vector<WirePatch> patches;
  uint64_t bytes = 0;
  for (const OnnxTensor& tensor : WeightsOf(model_, which_)) {
    if (!nudge || bytes >= kMostMovedBytes) continue;
    VERNIER_TRY(MoveWeight(model_, tensor, *nudge, moved, patches));
    bytes += moved.back().bytes().size();
  }
  VERNIER_ASSIGN_OR_RETURN(const BytePieces pieces,
                           ApplyPatches(model_.bytes(), std::move(patches)));
  if (pieces.size() >= kLargestOnnxFile) {
    return Unimplemented("the model is too large to be handed over with other weights");
  }
  VERNIER_TRY(model_.CheckIntact());
  std::vector<std::string> outputs;
  for (const TensorInfo& output : model_.Outputs()) outputs.push_back(output.name);
  return ModelSource::Assemble(plan_, pieces, model_.RequiredInputs(), std::move(outputs));
}

}  // namespace vernier
