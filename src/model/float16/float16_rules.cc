#include "model/float16/float16_rules.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "model/onnx/operator_list.h"

namespace vernier {
namespace {

constexpr int64_t kFloatType = 1;

struct BlockedOperator {
  std::string_view name;
  int64_t until_opset;  // the first in which it takes float16 everywhere; 0: none does
};

// Those that onnxconverter-common blocks for good, whose results Polygraphy's users know; and those
// that ONNX's definitions do not allow float16 for, up to opset 28.
constexpr BlockedOperator kBlocked[] = {
    {"CumSum", 0},
    {"Max", 0},
    {"Min", 0},
    {"NonMaxSuppression", 0},
    {"RandomUniformLike", 0},
    {"Range", 0},
    {"Resize", 0},
    {"RoiAlign", 0},
    {"TopK", 0},
    {"Upsample", 0},
    {"Celu", 28},
    {"DequantizeLinear", 19},
    {"DynamicQuantizeLinear", 0},
    {"IsInf", 20},
    {"QLinearConv", 0},
    {"QLinearMatMul", 21},
    {"QuantizeLinear", 19},
    {"TfIdfVectorizer", 0},
    // Their type is an attribute, and runtimes have kernels for float32 only.
    {"BlackmanWindow", 0},
    {"HammingWindow", 0},
    {"HannWindow", 0},
    {"MelWeightMatrix", 0},
    {"RandomNormal", 0},
    {"RandomUniform", 0},
};

// Operators of com.microsoft whose definitions want float32 somewhere, as scales of quantised
// values are; beside those whose names begin with one of kQuantised.
constexpr std::string_view kQuantised[] = {"DynamicQuantize", "QLinear", "QOrdered"};
constexpr std::string_view kFloat32Only =
    "AttnLSTM CDist DequantizeWithOrder DynamicTimeWarping GemmFloat8 GreedySearch MatMulFpQ4 "
    "MaxpoolWithMask MurmurHash3 NGramRepeatBlock QEmbedLayerNormalization QGemm QMoE "
    "QuantizeWithOrder Range Sampling Snpe SparseToDenseMatMul WhisperBeamSearch WordConvEmbedding";

bool IsStandard(std::string_view domain) { return domain.empty() || domain == "ai.onnx"; }

// Nodes whose result is float32 because an attribute says so.
bool AttributeSaysFloat32(const OnnxModel& model, const OnnxGraph& graph, const OnnxNode& node,
                          const ValueTypes& types) {
  const bool cast = node.op_type == "Cast";
  const bool typed = node.op_type == "EyeLike" || node.op_type == "Bernoulli" ||
                     node.op_type == "RandomNormalLike";
  if (!cast && !typed && node.op_type != "Constant") return false;
  for (const OnnxAttribute& attribute : model.Attributes(node)) {
    if (attribute.name == "value_float" || attribute.name == "value_floats") return true;
    if (typed && attribute.name == "dtype" && attribute.i == kFloatType) return true;
    if (!cast || attribute.name != "to" || attribute.i != kFloatType || node.input_count == 0)
      continue;
    // From integers: those that float16 does not have are to reach nodes that stay in float32.
    const auto type = types.find(graph.Inputs(node)[0]);
    return type == types.end() || type->second != kFloatType;
  }
  return false;
}

}  // namespace

bool IsFloat32Only(const OnnxNode& node) {
  if (node.domain != "com.microsoft") return false;
  const auto begins = [&](std::string_view start) { return node.op_type.starts_with(start); };
  return std::any_of(std::begin(kQuantised), std::end(kQuantised), begins) ||
         IsInOperators(kFloat32Only, node.op_type);
}

bool StaysFloat32(const OnnxModel& model, const Float16Functions& functions, const OnnxGraph& graph,
                  const OnnxNode& node, const ValueTypes& types) {
  if (functions.IsCall(node)) return !functions.IsConvertedCall(node);
  if (node.domain == "ai.onnx.ml" || IsFloat32Only(node)) return true;
  if (!IsStandard(node.domain)) return false;
  const auto* blocked =
      std::find_if(std::begin(kBlocked), std::end(kBlocked),
                   [&](const BlockedOperator& op) { return op.name == node.op_type; });
  if (blocked != std::end(kBlocked)) {
    return blocked->until_opset == 0 || model.opset() < blocked->until_opset;
  }
  return AttributeSaysFloat32(model, graph, node, types);
}

bool OutputStaysFloat32(const OnnxNode& node, size_t output) {
  // Mean and deviation have the type of the attribute stash_type.
  return node.op_type == "LayerNormalization" && output > 0;
}

}  // namespace vernier
