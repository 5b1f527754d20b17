// Constant nodes and known sizes become initializers.
#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <unordered_set>

#include "io/bytes/byte_sink.h"
#include "io/test_data/tensor_proto.h"
#include "model/onnx/onnx_attributes.h"
#include "model/onnx/onnx_order.h"
#include "model/shapes/onnx_shapes.h"
#include "surgeon/constant_folding.h"
#include "surgeon/graph_parts.h"

namespace vernier {
namespace {

bool IsStandard(const OnnxNode& node) { return node.domain.empty() || node.domain == "ai.onnx"; }

bool IsOutput(const OnnxGraph& graph, std::string_view name) {
  return std::any_of(graph.outputs.begin(), graph.outputs.end(),
                     [&](const OnnxValue& output) { return output.name == name; });
}

// A body hands out what its nodes make: runtimes differ on initializers there.
bool MayBeInitializer(const GraphInModel& here, std::string_view name) {
  return !name.empty() && (here.main || !IsOutput(here.graph, name));
}

template <typename T>
Result<std::string> FromNumbers(std::string_view name, DType dtype, Dims dims,
                                std::span<const T> numbers) {
  VERNIER_ASSIGN_OR_RETURN(const Tensor tensor,
                           Tensor::Copy(dtype, std::move(dims), std::as_bytes(numbers)));
  return MakeInitializer(name, tensor);
}

// nullopt for values that initializers do not have.
Result<std::optional<std::string>> InitializerOf(const OnnxAttribute& value,
                                                 std::string_view name) {
  const auto wrap = [](Result<std::string> made) -> Result<std::optional<std::string>> {
    if (!made.ok()) return made.status();
    return std::optional(*std::move(made));
  };
  const auto count = [](size_t size) { return Dims{static_cast<int64_t>(size)}; };
  if (!value.reference.empty()) return std::optional<std::string>();
  if (value.name == "value" && value.tensor) {
    return std::optional(RenamedTensor(value.tensor->bytes, name));
  }
  if (value.name == "value_float") {
    return wrap(FromNumbers<float>(name, DType::kFloat32, {}, std::span(&value.f, 1)));
  }
  if (value.name == "value_int") {
    return wrap(FromNumbers<int64_t>(name, DType::kInt64, {}, std::span(&value.i, 1)));
  }
  if (value.name == "value_floats") {
    return wrap(
        FromNumbers<float>(name, DType::kFloat32, count(value.floats.size()), value.floats));
  }
  if (value.name == "value_ints") {
    return wrap(FromNumbers<int64_t>(name, DType::kInt64, count(value.ints.size()), value.ints));
  }
  return std::optional<std::string>();
}

// New initializers of a graph, in the place of nodes with one output.
class Replacement {
 public:
  explicit Replacement(GraphInModel& here) : here_(here) {}

  void Replace(size_t node, std::string initializer) {
    here_.parts.initializers.push_back(here_.store.Keep(std::move(initializer)));
    gone_.insert(node);
  }

  void Finish() {
    std::vector<std::string_view> kept;
    for (size_t i = 0; i < here_.parts.nodes.size(); ++i) {
      if (!gone_.contains(i)) kept.push_back(here_.parts.nodes[i]);
    }
    here_.parts.nodes = std::move(kept);
  }

 private:
  GraphInModel& here_;
  std::unordered_set<size_t> gone_;
};

// Sizes of tensors as far as they are known; -1 for one that is not.
class KnownSizes {
 public:
  explicit KnownSizes(const OnnxModel& model) : model_(model), tracker_(model, {}) {
    Visit(model.graph());
  }

  const Dims* Of(std::string_view name) const {
    if (const Dims* dims = tracker_.Find(name)) return dims;
    const auto found = declared_.find(name);
    return found == declared_.end() ? nullptr : &found->second;
  }
  std::optional<std::vector<int64_t>> Ints(std::string_view name) const {
    return tracker_.Ints(name);
  }

 private:
  void Visit(const OnnxGraph& graph) {
    for (const auto* values : {&graph.value_info, &graph.inputs, &graph.outputs}) {
      for (const OnnxValue& value : *values) Declare(value);
    }
    const auto order = TopologicalOrder(model_, graph);
    if (!order.ok()) return;
    for (const uint32_t index : *order) {
      const OnnxNode& node = graph.nodes[index];
      tracker_.Visit(graph, node);
      for (const OnnxSubgraph& link : graph.Subgraphs(node)) {
        tracker_.Declare(model_.Subgraph(link));
        Visit(model_.Subgraph(link));
      }
    }
  }

  void Declare(const OnnxValue& value) {
    const TensorInfo info = ToTensorInfo(value);
    if (!info.shape) return;
    Dims& dims = declared_[value.name];
    dims.clear();
    for (const Dim& dim : *info.shape) dims.push_back(dim.dynamic() ? -1 : dim.value);
  }

  const OnnxModel& model_;
  ShapeTracker tracker_;
  std::unordered_map<std::string_view, Dims> declared_;
};

// Clamps an index of Python's kind into [0, size].
int64_t Clamp(int64_t index, int64_t size) {
  return std::clamp<int64_t>(index < 0 ? index + size : index, 0, size);
}

// What Shape, and Gather or Slice behind it, give where that is known.
class SizeReader {
 public:
  SizeReader(const OnnxModel& model, const OnnxGraph& graph, const KnownSizes& sizes)
      : model_(model), graph_(graph), sizes_(sizes) {
    for (const OnnxNode& node : graph.nodes) {
      for (const std::string_view name : graph.Outputs(node)) producers_.emplace(name, &node);
    }
  }

  struct Values {
    std::vector<int64_t> values;
    Dims dims;
  };

  std::optional<Values> Read(const OnnxNode& node) const {
    if (!IsStandard(node)) return std::nullopt;
    std::optional<Values> found;
    if (node.op_type == "Shape") found = Shape(node);
    if (node.op_type == "Gather") found = Gather(node);
    if (node.op_type == "Slice") found = Slice(node);
    const auto unknown = [](int64_t size) { return size < 0; };
    if (!found || std::any_of(found->values.begin(), found->values.end(), unknown)) return {};
    return found;
  }

 private:
  std::optional<Values> Shape(const OnnxNode& node) const {
    const auto inputs = graph_.Inputs(node);
    const Dims* dims = inputs.empty() ? nullptr : sizes_.Of(inputs[0]);
    if (dims == nullptr) return std::nullopt;
    NodeAttributes attributes(model_, node);
    const auto rank = static_cast<int64_t>(dims->size());
    const int64_t begin = Clamp(attributes.Int("start", 0), rank);
    const int64_t end = std::max(begin, Clamp(attributes.Int("end", rank), rank));
    return Values{{dims->begin() + begin, dims->begin() + end}, {end - begin}};
  }

  // The sizes that the first input of a node holds.
  std::optional<Values> ShapeBefore(const OnnxNode& node) const {
    const auto inputs = graph_.Inputs(node);
    const auto found = inputs.empty() ? producers_.end() : producers_.find(inputs[0]);
    if (found == producers_.end() || found->second->op_type != "Shape") return std::nullopt;
    return Shape(*found->second);
  }

  std::optional<Values> Gather(const OnnxNode& node) const {
    const auto inputs = graph_.Inputs(node);
    const auto sizes = ShapeBefore(node);
    if (!sizes || inputs.size() < 2) return std::nullopt;
    const auto indices = sizes_.Ints(inputs[1]);
    const Dims* dims = sizes_.Of(inputs[1]);
    if (!indices || dims == nullptr) return std::nullopt;
    const auto rank = static_cast<int64_t>(sizes->values.size());
    Values gathered{{}, *dims};
    for (const int64_t index : *indices) {
      const int64_t at = index < 0 ? index + rank : index;
      if (at < 0 || at >= rank) return std::nullopt;
      gathered.values.push_back(sizes->values[static_cast<size_t>(at)]);
    }
    return gathered;
  }

  // Of a Slice with one axis: its input, or before opset 10 its attribute.
  std::optional<int64_t> Bound(const OnnxNode& node, size_t input, std::string_view attribute,
                               std::optional<int64_t> fallback) const {
    const auto inputs = graph_.Inputs(node);
    if (inputs.size() > input && !inputs[input].empty()) {
      const auto values = sizes_.Ints(inputs[input]);
      return values && values->size() == 1 ? std::optional((*values)[0]) : std::nullopt;
    }
    const std::vector<int64_t> values = NodeAttributes(model_, node).Ints(attribute);
    if (values.empty()) return fallback;
    return values.size() == 1 ? std::optional(values[0]) : std::nullopt;
  }

  std::optional<Values> Slice(const OnnxNode& node) const {
    const auto sizes = ShapeBefore(node);
    if (!sizes) return std::nullopt;
    const auto begin = Bound(node, 1, "starts", {}), end = Bound(node, 2, "ends", {}),
               axis = Bound(node, 3, "axes", 0), step = Bound(node, 4, "steps", 1);
    if (!begin || !end || axis != 0 || step != 1) return std::nullopt;
    const auto rank = static_cast<int64_t>(sizes->values.size());
    const int64_t first = Clamp(*begin, rank), last = std::max(first, Clamp(*end, rank));
    return Values{{sizes->values.begin() + first, sizes->values.begin() + last}, {last - first}};
  }

  const OnnxModel& model_;
  const OnnxGraph& graph_;
  const KnownSizes& sizes_;
  std::unordered_map<std::string_view, const OnnxNode*> producers_;
};

}  // namespace

Result<std::string> MakeInitializer(std::string_view name, const Tensor& values) {
  StringSink sink;
  VERNIER_TRY(WriteTensorProto({std::string(name), values}, sink));
  return sink.text();
}

Result<OnnxModel> ConstantsAsInitializers(const OnnxModel& model) {
  return RewriteGraphs(model, [&](GraphInModel& here) -> Status {
    Replacement replacement(here);
    for (size_t i = 0; i < here.graph.nodes.size(); ++i) {
      const OnnxNode& node = here.graph.nodes[i];
      const auto outputs = here.graph.Outputs(node);
      if (node.op_type != "Constant" || !IsStandard(node) || outputs.size() != 1) continue;
      const std::vector<OnnxAttribute> attributes = model.Attributes(node);
      if (attributes.size() != 1 || !MayBeInitializer(here, outputs[0])) continue;
      VERNIER_ASSIGN_OR_RETURN(std::optional<std::string> made,
                               InitializerOf(attributes[0], outputs[0]));
      if (made) replacement.Replace(i, *std::move(made));
    }
    replacement.Finish();
    return {};
  });
}

Result<OnnxModel> KnownSizesAsInitializers(const OnnxModel& model) {
  const KnownSizes sizes(model);
  return RewriteGraphs(model, [&](GraphInModel& here) -> Status {
    const SizeReader reader(model, here.graph, sizes);
    Replacement replacement(here);
    for (size_t i = 0; i < here.graph.nodes.size(); ++i) {
      const auto outputs = here.graph.Outputs(here.graph.nodes[i]);
      const auto known = reader.Read(here.graph.nodes[i]);
      if (!known || outputs.size() != 1 || !MayBeInitializer(here, outputs[0])) continue;
      VERNIER_ASSIGN_OR_RETURN(std::string made, FromNumbers<int64_t>(outputs[0], DType::kInt64,
                                                                      known->dims, known->values));
      replacement.Replace(i, std::move(made));
    }
    replacement.Finish();
    return {};
  });
}

}  // namespace vernier
