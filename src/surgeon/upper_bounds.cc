#include "surgeon/upper_bounds.h"

#include <algorithm>
#include <functional>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "model/onnx/initializer_names.h"
#include "model/onnx/onnx_order.h"
#include "model/onnx/wire_reader.h"
#include "model/shapes/onnx_infer.h"
#include "surgeon/constant_folding.h"
#include "surgeon/graph_parts.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

struct SizeInput {
  std::string_view op;
  size_t input;  // decides the output's size
};

constexpr SizeInput kSizeInputs[] = {
    {"Range", 1}, {"Pad", 1}, {"Resize", 3}, {"Tile", 1}, {"Expand", 1}};

using Names = std::unordered_set<std::string_view>;
using Producers = std::unordered_map<std::string_view, uint32_t>;

Producers FindProducers(const OnnxGraph& graph) {
  Producers producers;
  for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
    for (const std::string_view name : graph.Outputs(graph.nodes[i])) {
      if (!name.empty()) producers.emplace(name, i);
    }
  }
  return producers;
}

// The sizes of tensors that have names.
class Symbols {
 public:
  explicit Symbols(const OnnxGraph& graph) {
    for (const auto* values : {&graph.value_info, &graph.outputs, &graph.inputs}) {
      for (const OnnxValue& value : *values) shapes_[value.name] = ToTensorInfo(value).shape;
    }
    for (const OnnxValue& input : graph.inputs) (void)IntroducedBy(input.name);
  }

  /// Does the tensor have a size that no tensor before it had, or is its shape not known?
  bool IntroducedBy(std::string_view name) {
    const auto found = shapes_.find(name);
    if (found == shapes_.end() || !found->second) return true;
    bool any = false;
    for (const Dim& dim : *found->second) {
      any = (!dim.symbol.empty() && known_.insert(dim.symbol).second) || any;
    }
    return any;
  }

 private:
  std::unordered_map<std::string_view, std::optional<std::vector<Dim>>> shapes_;
  std::unordered_set<std::string> known_;
};

std::string_view SizeOf(const OnnxGraph& graph, const OnnxNode& node, const Names& constants,
                        const Producers& producers) {
  const auto inputs = graph.Inputs(node);
  for (const SizeInput& rule : kSizeInputs) {
    if (rule.op != node.op_type || rule.input >= inputs.size()) continue;
    const auto producer = producers.find(inputs[rule.input]);
    if (constants.contains(inputs[rule.input]) || producer == producers.end()) continue;
    if (graph.nodes[producer->second].op_type != "Min") return inputs[rule.input];
  }
  return {};
}

Status CheckNames(const OnnxModel& model, std::span<const UpperBound> bounds,
                  const std::vector<std::string_view>& open, Logger& logger) {
  const OnnxGraph& graph = model.graph();
  Names all = InitializerNames(graph);
  for (const OnnxValue& input : graph.inputs) all.insert(input.name);
  all.insert(graph.node_values.begin(), graph.node_values.end());
  const Producers producers = FindProducers(graph);
  for (const UpperBound& bound : bounds) {
    if (bound.tensor.empty()) continue;
    if (!all.contains(bound.tensor)) {
      return NotFound("--set-unbounded-dds-upper-bound: the model has no tensor " +
                      QuotePython(bound.tensor));
    }
    if (!producers.contains(bound.tensor)) {
      return InvalidArgument("--set-unbounded-dds-upper-bound: " + QuotePython(bound.tensor) +
                             " is an input or a constant; expected a tensor that a node makes");
    }
    if (std::find(open.begin(), open.end(), bound.tensor) == open.end()) {
      logger.Warning(
          "The following tensors were found in the upper bounds dictionary but have no "
          "unbounded data-dependent shape: " +
          QuotePython(bound.tensor));
    }
  }
  return {};
}

template <typename T>
Result<std::string> Bounds(const std::string& name, DType dtype, const Dims& dims, size_t count,
                           int64_t bound) {
  const std::vector<T> values(count, static_cast<T>(bound));
  VERNIER_ASSIGN_OR_RETURN(const Tensor tensor,
                           Tensor::Copy(dtype, dims, std::as_bytes(std::span(values))));
  return MakeInitializer(name, tensor);
}

// A vector of sizes gets a vector of bounds, as Polygraphy has them: of as many as it has
// dimensions.
Result<std::string> MakeBound(const OnnxModel& model, const std::string& tensor, int64_t bound) {
  const std::string_view view = tensor;
  const InferredType type = InferTypes(model, std::span(&view, 1))[0];
  const size_t rank = type.rank ? static_cast<size_t>(*type.rank) : 0;
  const Dims dims = rank == 0 ? Dims{} : Dims{static_cast<int64_t>(rank)};
  const size_t count = std::max<size_t>(rank, 1);
  const std::string name = tensor + "_upper_bound";
  if (DTypeFromOnnx(type.onnx_type) == DType::kInt32) {
    return Bounds<int32_t>(name, DType::kInt32, dims, count, bound);
  }
  return Bounds<int64_t>(name, DType::kInt64, dims, count, bound);
}

std::string MinNode(const std::string& tensor) {
  std::string node;
  AppendBytesField(node, 1, tensor + "_copy");
  AppendBytesField(node, 1, tensor + "_upper_bound");
  AppendBytesField(node, 2, tensor);
  AppendBytesField(node, 4, "Min");
  return node;
}

using BoundsByTensor = std::map<std::string, int64_t, std::less<>>;

// The bound without a name is for all that a name is not given for.
BoundsByTensor Choose(std::span<const UpperBound> bounds,
                      const std::vector<std::string_view>& open) {
  BoundsByTensor applied;
  for (const UpperBound& bound : bounds) {
    if (!bound.tensor.empty()) continue;
    for (const std::string_view name : open) applied[std::string(name)] = bound.bound;
  }
  for (const UpperBound& bound : bounds) {
    if (!bound.tensor.empty()) applied[bound.tensor] = bound.bound;
  }
  return applied;
}

// Appends a node of the graph, and Min behind each of its outputs that has a bound.
Status AddBounded(const OnnxModel& model, const BoundsByTensor& applied, size_t index,
                  GraphInModel& here, std::vector<std::string_view>& nodes) {
  std::vector<std::string> bounded;
  for (const std::string_view name : here.graph.Outputs(here.graph.nodes[index])) {
    if (applied.contains(name)) bounded.emplace_back(name);
  }
  if (bounded.empty()) {
    nodes.push_back(here.parts.nodes[index]);
    return {};
  }
  nodes.push_back(here.store.Keep(
      RenameValues(here.parts.nodes[index], [&](std::string_view name, bool output) {
        return std::string(name) + (output && applied.contains(name) ? "_copy" : "");
      })));
  for (const std::string& name : bounded) {
    VERNIER_ASSIGN_OR_RETURN(std::string bound, MakeBound(model, name, applied.at(name)));
    here.parts.initializers.push_back(here.store.Keep(std::move(bound)));
    nodes.push_back(here.store.Keep(MinNode(name)));
  }
  return {};
}

}  // namespace

Result<std::vector<std::string_view>> TensorsWithoutBound(const OnnxModel& model) {
  const OnnxGraph& graph = model.graph();
  const Names constants = InitializerNames(graph);
  const Producers producers = FindProducers(graph);
  VERNIER_ASSIGN_OR_RETURN(const std::vector<uint32_t> order, TopologicalOrder(model));
  Symbols symbols(graph);
  std::vector<std::string_view> found;
  for (const uint32_t index : order) {
    const OnnxNode& node = graph.nodes[index];
    bool introduces = false;
    for (const std::string_view name : graph.Outputs(node)) {
      introduces = symbols.IntroducedBy(name) || introduces;
    }
    if (!introduces) continue;
    const std::string_view size = SizeOf(graph, node, constants, producers);
    const bool known = std::find(found.begin(), found.end(), size) != found.end();
    if (!size.empty() && !known) found.push_back(size);
  }
  return found;
}

Result<OnnxModel> WithUpperBounds(const OnnxModel& model, std::span<const UpperBound> bounds,
                                  Logger& logger) {
  VERNIER_ASSIGN_OR_RETURN(const std::vector<std::string_view> open, TensorsWithoutBound(model));
  VERNIER_TRY(CheckNames(model, bounds, open, logger));
  const BoundsByTensor applied = Choose(bounds, open);
  std::string text;
  for (const auto& [name, bound] : applied) {
    text += (text.empty() ? "" : ", ") + QuotePython(name) + ": " + std::to_string(bound);
  }
  logger.Info("Set tensor upper bounds: {" + text + "}");
  if (applied.empty()) return model;
  return RewriteGraphs(model, [&](GraphInModel& here) -> Status {
    if (!here.main) return {};
    std::vector<std::string_view> nodes;
    for (size_t i = 0; i < here.graph.nodes.size(); ++i) {
      VERNIER_TRY(AddBounded(model, applied, i, here, nodes));
    }
    here.parts.nodes = std::move(nodes);
    return {};
  });
}

}  // namespace vernier
