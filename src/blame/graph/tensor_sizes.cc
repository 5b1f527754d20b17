#include "blame/graph/tensor_sizes.h"

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/shapes/onnx_infer.h"

namespace vernier {
namespace {

constexpr uint64_t kUnknownBytes = uint64_t{1} << 20;

// What the names that the graph's inputs give to their dimensions stand for in this feed.
using NamedSizes = std::unordered_map<std::string, int64_t>;

NamedSizes SizesOfNames(const OnnxGraph& graph, std::span<const InputDims> feed) {
  NamedSizes sizes;
  for (const OnnxValue& input : graph.inputs) {
    const auto fed = std::find_if(feed.begin(), feed.end(),
                                  [&](const InputDims& dims) { return dims.name == input.name; });
    const TensorInfo declared = ToTensorInfo(input);
    if (fed == feed.end() || !declared.shape) continue;
    for (size_t i = 0; i < std::min(declared.shape->size(), fed->dims.size()); ++i) {
      const Dim& dim = (*declared.shape)[i];
      if (!dim.symbol.empty()) sizes.emplace(dim.symbol, fed->dims[i]);
    }
  }
  return sizes;
}

// nullopt where a dimension has a name that no input has.
std::optional<Dims> DeclaredDims(const OnnxValue& value, const NamedSizes& sizes) {
  const TensorInfo declared = ToTensorInfo(value);
  if (!declared.shape) return std::nullopt;
  Dims dims;
  for (const Dim& dim : *declared.shape) {
    const auto named = sizes.find(dim.symbol);
    if (dim.dynamic() && named == sizes.end()) return std::nullopt;
    dims.push_back(dim.dynamic() ? named->second : dim.value);
  }
  return dims;
}

}  // namespace

TensorSizes::TensorSizes(const BlameGraph& graph, std::span<const InputDims> feed)
    : shapes_(graph.model(), feed) {
  const NamedSizes sizes = SizesOfNames(graph.graph(), feed);
  std::unordered_map<std::string_view, const OnnxValue*> declared;
  for (const auto* values : {&graph.graph().value_info, &graph.graph().outputs}) {
    for (const OnnxValue& value : *values) declared[value.name] = &value;
  }
  std::vector<std::string_view> names;
  for (const uint32_t node : graph.order()) {
    shapes_.Visit(graph.graph(), graph.graph().nodes[node]);
    for (const std::string_view name : graph.graph().Outputs(graph.graph().nodes[node])) {
      if (name.empty()) continue;
      names.push_back(name);
      const auto found = declared.find(name);
      if (found != declared.end()) shapes_.Assume(name, DeclaredDims(*found->second, sizes));
    }
  }
  const std::vector<InferredType> types = InferTypes(graph.model(), names);
  for (size_t i = 0; i < names.size(); ++i) {
    const auto dtype = DTypeFromOnnx(types[i].onnx_type).value_or(DType::kFloat32);
    const Dims* dims = shapes_.Find(names[i]);
    if (dims == nullptr) continue;
    const std::optional<int64_t> count = ElementCount(*dims);
    const auto bytes = count ? ByteSize(dtype, static_cast<uint64_t>(*count)) : std::nullopt;
    if (!bytes) continue;
    known_[names[i]] = *bytes;
    // Weights have the sizes of tables and matrices, which no tensor between nodes needs to have.
    if (!graph.IsConstant(names[i])) largest_ = std::max(largest_, *bytes);
  }
}

uint64_t TensorSizes::Of(std::string_view name) const {
  const auto found = known_.find(name);
  if (found != known_.end()) return found->second;
  return largest_ > 0 ? largest_ : kUnknownBytes;
}

}  // namespace vernier
