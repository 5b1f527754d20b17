#include "blame/judge/differing_weights.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <string_view>
#include <vector>

#include "inputs/cast_tensor.h"
#include "model/onnx/mapped_weight.h"
#include "model/rounding/unit_roundoff.h"

namespace vernier {
namespace {

// Of the largest value: what a tool may have rounded that computed the weight anew.
constexpr double kRoundings = 8;

struct WeightFile {
  const OnnxModel& model;
  const ModelPlan& plan;
};

// As BlameGraph::NodeName names nodes.
const OnnxNode* FindNode(const OnnxGraph& graph, std::string_view name) {
  const auto found = std::ranges::find_if(graph.nodes, [&](const OnnxNode& node) {
    if (!node.name.empty()) return node.name == name;
    const auto outputs = graph.Outputs(node);
    return !outputs.empty() && outputs[0] == name;
  });
  return found == graph.nodes.end() ? nullptr : &*found;
}

// Null where a feed may replace it as well.
const OnnxTensor* FindWeight(const OnnxGraph& graph, std::string_view name) {
  if (std::ranges::find(graph.inputs, name, &OnnxValue::name) != graph.inputs.end()) return nullptr;
  const auto found = std::ranges::find(graph.initializers, name, &OnnxTensor::name);
  return found == graph.initializers.end() ? nullptr : &*found;
}

// In float64; empty: it cannot be read.
std::vector<double> ValuesOf(const WeightFile& file, const OnnxTensor& tensor) {
  const Result<MappedWeight> weight =
      MapWeight(file.model, tensor, {.directory = file.plan.external_data_dir});
  if (!weight.ok()) return {};
  const Result<Tensor> wide = CastTensor(weight->values, DType::kFloat64);
  if (!wide.ok() || !weight->CheckIntact().ok()) return {};
  std::vector<double> values(static_cast<size_t>(wide->element_count()));
  if (!values.empty()) std::memcpy(values.data(), wide->bytes().data(), wide->bytes().size());
  return values;
}

bool Differ(const WeightFile& a_file, const OnnxTensor& a, const WeightFile& b_file,
            const OnnxTensor& b) {
  const double roundoff = UnitRoundoff(a.dtype);
  if (roundoff == 0 || a.dtype != b.dtype || a.dims != b.dims) return false;
  const std::vector<double> first = ValuesOf(a_file, a), second = ValuesOf(b_file, b);
  if (first.empty() || first.size() != second.size()) return false;
  double scale = 0, most = 0;
  for (size_t i = 0; i < first.size(); ++i) {
    scale = std::max({scale, std::fabs(first[i]), std::fabs(second[i])});
    most = std::max(most, std::fabs(first[i] - second[i]));
  }
  return most > kRoundings * roundoff * scale;
}

// The first of the node's weights that differs; empty: none is known to.
std::string WeightOf(const std::string& name, const WeightFile& candidate,
                     const WeightFile& reference) {
  const OnnxGraph &ours = candidate.model.graph(), &theirs = reference.model.graph();
  const OnnxNode* const node = FindNode(ours, name);
  const OnnxNode* const partner = FindNode(theirs, name);
  if (node == nullptr || partner == nullptr || node->op_type != partner->op_type) return "";
  const auto inputs = ours.Inputs(*node), others = theirs.Inputs(*partner);
  for (size_t i = 0; i < std::min(inputs.size(), others.size()); ++i) {
    const OnnxTensor* const weight = FindWeight(ours, inputs[i]);
    const OnnxTensor* const other = FindWeight(theirs, others[i]);
    if (weight == nullptr || other == nullptr) continue;
    if (Differ(candidate, *weight, reference, *other)) return std::string(inputs[i]);
  }
  return "";
}

// Those over their bounds, and a few of the others that come near: files may be large.
std::vector<const BlameLayerRecord*> LookedAt(const BlameRecord& record) {
  constexpr size_t kLeast = 4;
  const auto own = [](const BlameLayerRecord* layer) { return layer->own_error.value_or(0); };
  std::vector<const BlameLayerRecord*> layers;
  for (const BlameLayerRecord& layer : record.layers) {
    if (own(&layer) > 0) layers.push_back(&layer);
  }
  std::ranges::stable_sort(layers, std::ranges::greater(), own);
  const auto over =
      std::ranges::count_if(layers, [&](const auto* layer) { return own(layer) > 1; });
  layers.resize(std::min(layers.size(), std::max(kLeast, static_cast<size_t>(over))));
  return layers;
}

}  // namespace

std::map<std::string, std::string> FindDifferingWeights(const SearchSides& sides,
                                                        const SearchModels& models,
                                                        const BlameRecord& record) {
  std::map<std::string, std::string> found;
  if (!models.AreTwo() || !sides.reference) return found;
  const WeightFile candidate{models.candidate.model(), sides.candidate.plan().model};
  const WeightFile reference{*models.reference, sides.reference->plan().model};
  for (const BlameLayerRecord* layer : LookedAt(record)) {
    std::vector<std::string> nodes = layer->group;
    if (nodes.empty()) nodes.push_back(layer->node);
    for (const std::string& node : nodes) {
      const std::string weight = WeightOf(node, candidate, reference);
      if (weight.empty()) continue;
      found[layer->node] = "its weight '" + weight + "' is not that of the reference";
      break;
    }
  }
  return found;
}

}  // namespace vernier
