#include "blame/graph/tensor_sizes.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "model/shapes/onnx_infer.h"

namespace vernier {
namespace {

constexpr uint64_t kUnknownBytes = uint64_t{1} << 20;

}  // namespace

TensorSizes::TensorSizes(const BlameGraph& graph, std::span<const InputDims> feed)
    : shapes_(graph.model(), feed) {
  std::vector<std::string_view> names;
  for (const uint32_t node : graph.order()) {
    shapes_.Visit(graph.graph(), graph.graph().nodes[node]);
    for (const std::string_view name : graph.graph().Outputs(graph.graph().nodes[node])) {
      if (!name.empty()) names.push_back(name);
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
    largest_ = std::max(largest_, *bytes);
  }
}

uint64_t TensorSizes::Of(std::string_view name) const {
  const auto found = known_.find(name);
  if (found != known_.end()) return found->second;
  return largest_ > 0 ? largest_ : kUnknownBytes;
}

}  // namespace vernier
