#include "model/ranges/input_steps.h"

#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "model/onnx/flat_graph.h"
#include "model/onnx/onnx_attributes.h"
#include "model/onnx/operator_list.h"

namespace vernier {
namespace {

// What they make is integers or truths, or piecewise constant.
constexpr std::string_view kStepping =
    "ArgMax ArgMin Ceil Equal Floor Greater GreaterOrEqual IsInf IsNaN Less LessOrEqual NonZero "
    "OneHot Round Sign";
constexpr std::string_view kLearnedSteps =
    "Binarizer LabelEncoder TreeEnsemble TreeEnsembleClassifier TreeEnsembleRegressor";

// Those that put a step into arithmetic of their own.
constexpr std::string_view kBroken = "Mod NonMaxSuppression TopK Unique";

// Their outputs have values of their first input, or of any input, to the bit but for the sign.
constexpr std::string_view kKeepsFirst =
    "Abs CastLike Clip Compress DepthToSpace Dropout Expand Flatten Gather GatherElements GatherND "
    "GlobalMaxPool Identity MaxPool Neg Pad ReduceMax ReduceMin Relu Reshape ReverseSequence Slice "
    "SpaceToDepth Split Squeeze Tile TopK Transpose Trilu Unsqueeze";
constexpr std::string_view kKeepsAny = "Concat Max Min Where";

// They read no values, or values go on in their bodies.
constexpr std::string_view kReadsNothing = "If Loop Scan Shape Size";

DType CastTo(const OnnxModel& model, const OnnxNode& node) {
  const int64_t to = NodeAttributes(model, node).Int("to", 0);
  return DTypeFromOnnx(static_cast<int32_t>(to)).value_or(DType::kUndefined);
}

bool RoundsToShort(const OnnxModel& model, const OnnxNode& node) {
  if (node.op_type != "Cast") return false;
  const DType type = CastTo(model, node);
  return type != DType::kFloat32 && type != DType::kFloat64;
}

bool KeepsValues(const OnnxNode& node, size_t input) {
  if (IsForeign(node)) return false;
  if (node.op_type == "Cast") return true;
  return (input == 0 && IsInOperators(kKeepsFirst, node.op_type)) ||
         IsInOperators(kKeepsAny, node.op_type);
}

struct Reading {
  bool step = false, arithmetic = false;
};

class ReadingSearch {
 public:
  explicit ReadingSearch(const OnnxModel& model) : model_(model), flat_(model) {
    const OnnxGraph& graph = flat_.graph();
    for (const OnnxNode& node : graph.nodes) {
      const auto inputs = graph.Inputs(node);
      for (size_t i = 0; i < inputs.size(); ++i) readers_[inputs[i]].emplace_back(&node, i);
    }
    for (const OnnxValue& output : model.graph().outputs) outputs_.insert(output.name);
  }

  Reading Of(std::string_view input) const {
    Reading reading;
    std::unordered_set<std::string_view> seen;
    std::vector<std::string_view> open{input};
    while (!open.empty()) {
      const std::string_view name = open.back();
      open.pop_back();
      if (name.empty() || !seen.insert(name).second) continue;
      // What is handed out moves with the input.
      reading.arithmetic |= outputs_.contains(name);
      for (const std::string_view next : flat_.Continuing(name)) open.push_back(next);
      const auto found = readers_.find(name);
      if (found == readers_.end()) continue;
      for (const auto& [node, place] : found->second) Read(*node, place, reading, open);
    }
    return reading;
  }

 private:
  void Read(const OnnxNode& node, size_t input, Reading& reading,
            std::vector<std::string_view>& open) const {
    if (IsInOperators(kReadsNothing, node.op_type)) return;
    const bool broken = !IsForeign(node) && IsInOperators(kBroken, node.op_type);
    if (broken || IsStep(model_, node, input)) {
      reading.step = true;
      if (!broken) return;
    }
    const bool keeps = KeepsValues(node, input);
    reading.arithmetic |= !keeps || RoundsToShort(model_, node);
    if (!keeps) return;
    for (const std::string_view output : flat_.graph().Outputs(node)) open.push_back(output);
  }

  const OnnxModel& model_;
  const FlatGraph flat_;
  std::unordered_map<std::string_view, std::vector<std::pair<const OnnxNode*, size_t>>> readers_;
  std::unordered_set<std::string_view> outputs_;
};

}  // namespace

bool IsStep(const OnnxModel& model, const OnnxNode& node, size_t input) {
  if (node.domain == "ai.onnx.ml") return input == 0 && IsInOperators(kLearnedSteps, node.op_type);
  if (IsForeign(node)) return false;
  if (node.op_type == "Cast") return Kind(CastTo(model, node)) != DTypeKind::kFloat;
  // The values of a OneHot are its third input, and go on.
  if (node.op_type == "OneHot") return input < 2;
  return IsInOperators(kStepping, node.op_type);
}

SteppedInputs FindSteppedInputs(const OnnxModel& model) {
  SteppedInputs inputs;
  const ReadingSearch search(model);
  for (const OnnxValue& input : model.graph().inputs) {
    const Reading reading = search.Of(input.name);
    if (!reading.arithmetic) {
      inputs.emplace(input.name, InputSteps::kAlone);
    } else if (reading.step) {
      inputs.emplace(input.name, InputSteps::kSome);
    }
  }
  return inputs;
}

}  // namespace vernier
