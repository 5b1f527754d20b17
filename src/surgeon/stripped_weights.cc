#include "surgeon/stripped_weights.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <span>
#include <unordered_map>

#include "inputs/cast_tensor.h"
#include "lint/operator_table.h"
#include "model/onnx/wire_fields.h"
#include "surgeon/graph_parts.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

// An operator whose inputs may be weights. The numbers are Polygraphy's.
struct Weighted {
  std::string_view op;
  size_t min_inputs, max_inputs;
  int64_t fewest;       // elements; smaller constants stay
  size_t seen_through;  // so many inputs, behind which weights may be quantised or transposed
  bool first_only = false;
};

constexpr Weighted kWeighted[] = {{"Conv", 2, 3, 1, 1},      {"ConvTranspose", 2, 3, 1, 1},
                                  {"Gemm", 2, 3, 1, 3},      {"MatMul", 2, 2, 0, 2},
                                  {"Gather", 2, 2, 1024, 0}, {"Slice", 3, 5, 1024, 0, true}};

constexpr int64_t kFewestOfPlugins = 1024;
constexpr std::string_view kPluginThresholdOp = "Plugin";

class Stripper {
 public:
  Stripper(const OnnxModel& model, std::set<std::string>& exclude)
      : graph_(model.graph()), exclude_(exclude) {
    for (const OnnxTensor& tensor : graph_.initializers) constants_[tensor.name] = &tensor;
    for (const OnnxNode& node : graph_.nodes) {
      for (const std::string_view name : graph_.Outputs(node)) producers_[name] = &node;
      for (const std::string_view name : graph_.Inputs(node)) ++readers_[name];
    }
    for (const OnnxValue& output : graph_.outputs) ++readers_[output.name];
  }

  std::unordered_set<std::string_view> Find() {
    const OperatorTable operators;
    for (const OnnxNode& node : graph_.nodes) {
      const auto inputs = graph_.Inputs(node);
      if (!operators.Knows("", node.op_type)) {
        for (const std::string_view name : inputs) {
          Take(name, node.op_type == kPluginThresholdOp ? kFewestOfPlugins : 0);
        }
      }
      for (const Weighted& rule : kWeighted) {
        const bool fits = inputs.size() >= rule.min_inputs && inputs.size() <= rule.max_inputs;
        if (rule.op == node.op_type && fits) Apply(rule, inputs);
      }
    }
    return std::move(found_);
  }

 private:
  void Apply(const Weighted& rule, std::span<const std::string_view> inputs) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (i == 0 || !rule.first_only) Take(inputs[i], rule.fewest);
    }
    for (const std::string_view name : inputs.first(std::min(rule.seen_through, inputs.size()))) {
      TakeBehind(name);
    }
  }

  // The constant before a Transpose, or before QuantizeLinear and DequantizeLinear, which no
  // other node reads.
  void TakeBehind(std::string_view name) {
    const OnnxNode* node = OnlyProducer(name);
    if (node == nullptr) return;
    if (node->op_type == "DequantizeLinear" && !graph_.Inputs(*node).empty()) {
      node = OnlyProducer(graph_.Inputs(*node)[0]);
      if (node == nullptr || node->op_type != "QuantizeLinear") return;
    } else if (node->op_type != "Transpose") {
      return;
    }
    if (!graph_.Inputs(*node).empty()) Take(graph_.Inputs(*node)[0], 0);
  }

  const OnnxNode* OnlyProducer(std::string_view name) const {
    const auto producer = producers_.find(name);
    const auto readers = readers_.find(name);
    const bool shared = readers != readers_.end() && readers->second > 1;
    return producer == producers_.end() || shared ? nullptr : producer->second;
  }

  void Take(std::string_view name, int64_t fewest) {
    const auto constant = constants_.find(name);
    if (constant == constants_.end() || constant->second->dtype == DType::kUint8) return;
    if (exclude_.erase(std::string(name)) > 0) spared_.insert(name);
    if (spared_.contains(name)) return;
    if (ElementCount(constant->second->dims).value_or(0) >= fewest) found_.insert(name);
  }

  const OnnxGraph& graph_;
  std::set<std::string>& exclude_;
  std::unordered_map<std::string_view, const OnnxTensor*> constants_;
  std::unordered_map<std::string_view, const OnnxNode*> producers_;
  std::unordered_map<std::string_view, size_t> readers_;
  std::unordered_set<std::string_view> found_, spared_;
};

// Fields of TensorProto that hold values, or say where they are, and its doc_string.
constexpr uint32_t kValueFields[] = {4, 5, 6, 7, 9, 10, 11, 13, 14};
constexpr uint32_t kTensorDoc = 12, kTensorRaw = 9, kModelDoc = 6;

std::string Emptied(std::string_view tensor, bool sparse) {
  std::string out;
  for (const WireField& field : FieldsOf(tensor, OnnxMessage::kTensor)) {
    const bool value = std::find(std::begin(kValueFields), std::end(kValueFields), field.number) !=
                       std::end(kValueFields);
    if (!value && field.number != kTensorDoc) out.append(field.field);
  }
  AppendBytesField(out, kTensorRaw, "");
  AppendBytesField(out, kTensorDoc,
                   std::string(kWeightlessMark) + "/" + (sparse ? std::string(kSparseMark) : ""));
  return out;
}

Result<OnnxModel> Marked(const OnnxModel& model) {
  const std::string_view before = model.contents().doc_string;
  if (before.ends_with(kWeightlessMark)) return model;
  std::string bytes;
  for (const WireField& field : FieldsOf(model.bytes(), OnnxMessage::kModel)) {
    if (field.number != kModelDoc) bytes.append(field.field);
  }
  AppendBytesField(
      bytes, kModelDoc,
      (before.empty() ? "" : std::string(before) + "-") + std::string(kWeightlessMark));
  return OwnModel(std::move(bytes), model.path());
}

}  // namespace

std::unordered_set<std::string_view> FindStrippable(const OnnxModel& model,
                                                    std::set<std::string>& exclude) {
  return Stripper(model, exclude).Find();
}

Result<OnnxModel> WithoutValues(const OnnxModel& model,
                                const std::unordered_set<std::string_view>& weights,
                                const std::unordered_set<std::string_view>& sparse) {
  VERNIER_ASSIGN_OR_RETURN(
      OnnxModel stripped, RewriteGraphs(model, [&](GraphInModel& here) -> Status {
        if (!here.main) return {};
        for (size_t i = 0; i < here.graph.initializers.size(); ++i) {
          const OnnxTensor& tensor = here.graph.initializers[i];
          if (!weights.contains(tensor.name)) continue;
          here.parts.initializers[i] =
              here.store.Keep(Emptied(tensor.bytes, sparse.contains(tensor.name)));
        }
        return {};
      }));
  if (weights.empty()) return stripped;
  return Marked(stripped);
}

std::vector<StrippedWeight> FindStripped(const OnnxModel& model) {
  std::vector<StrippedWeight> found;
  for (const OnnxTensor& tensor : model.graph().initializers) {
    for (const WireField& field : FieldsOf(tensor.bytes, OnnxMessage::kTensor)) {
      if (field.number != kTensorDoc || !field.content.starts_with(kWeightlessMark)) continue;
      found.push_back({&tensor, field.content.ends_with(kSparseMark)});
    }
  }
  return found;
}

Result<Tensor> StandIn(const OnnxTensor& tensor) {
  Result<TensorBuffer> buffer = TensorBuffer::Allocate(DType::kFloat32, tensor.dims);
  if (!buffer.ok()) {
    return Malformed("initializer " + QuotePython(tensor.name) +
                     " has no possible shape: " + buffer.status().message());
  }
  uint64_t seed = 0xcbf29ce484222325;
  for (const char c : tensor.name) seed = (seed ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  std::mt19937_64 words(seed);
  const auto unit = [&] { return static_cast<double>((words() >> 11) + 1) * 0x1p-53; };
  const std::span<float> values = buffer->As<float>();
  for (size_t i = 0; i < values.size(); i += 2) {
    const double radius = std::sqrt(-2 * std::log(unit()));
    const double angle = 2 * std::numbers::pi * unit();
    values[i] = static_cast<float>(radius * std::cos(angle));
    if (i + 1 < values.size()) values[i + 1] = static_cast<float>(radius * std::sin(angle));
  }
  const Tensor made = std::move(*buffer).Freeze();
  return tensor.dtype == DType::kFloat32 ? Result<Tensor>(made) : CastTensor(made, tensor.dtype);
}

}  // namespace vernier
