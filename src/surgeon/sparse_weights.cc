#include "surgeon/sparse_weights.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <unordered_map>

#include "model/onnx/onnx_attributes.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

constexpr int64_t kGroup = 4;

// Behind these a weight keeps its axes.
constexpr std::string_view kSeenThrough[] = {"QuantizeLinear", "DequantizeLinear",
                                             "TRT_FP8QuantizeLinear", "TRT_FP8DequantizeLinear",
                                             "Cast"};
// Nothing behind these is a weight, and nothing is reported.
constexpr std::string_view kStops[] = {"LayerNormalization", "Reshape", "Concat", "Slice", "Shape",
                                       "Unsqueeze",          "Gather",  "Mul",    "Add"};

bool IsAmong(std::span<const std::string_view> list, std::string_view op) {
  return std::find(list.begin(), list.end(), op) != list.end();
}

class Finder {
 public:
  Finder(const OnnxModel& model, Logger& logger)
      : model_(model), graph_(model.graph()), logger_(logger) {
    for (const OnnxTensor& tensor : graph_.initializers) weights_[tensor.name] = &tensor;
    for (const OnnxNode& node : graph_.nodes) {
      for (const std::string_view name : graph_.Outputs(node)) producers_[name] = &node;
    }
  }

  std::vector<PrunableWeight> Find() {
    for (const OnnxNode& node : graph_.nodes) {
      const auto inputs = graph_.Inputs(node);
      if (inputs.size() < 2) continue;
      if (node.op_type == "Conv") Track(inputs[1], 1);
      if (node.op_type == "MatMul") {
        Track(inputs[0], 1);
        Track(inputs[1], 0);
      }
      if (node.op_type == "Gemm") {
        NodeAttributes attributes(model_, node);
        Track(inputs[0], attributes.Int("transA", 0) == 1 ? 0 : 1);
        Track(inputs[1], attributes.Int("transB", 0) == 1 ? 1 : 0);
      }
    }
    return std::move(found_);
  }

 private:
  // Each step goes to another producer: as many as there are nodes end a cycle.
  void Track(std::string_view name, size_t axis) {
    for (size_t step = 0; step <= graph_.nodes.size(); ++step) {
      if (const auto weight = weights_.find(name); weight != weights_.end()) {
        return Add(*weight->second, axis);
      }
      const auto producer = producers_.find(name);
      if (producer == producers_.end()) return;
      const OnnxNode& node = *producer->second;
      const auto inputs = graph_.Inputs(node);
      if (inputs.empty() || IsAmong(kStops, node.op_type)) return;
      if (node.op_type == "Transpose") {
        const std::vector<int64_t> order = NodeAttributes(model_, node).Ints("perm");
        if (order.empty()) {
          return logger_.Warning("Transpose doesn't have <perm> attribute!");
        }
        if (axis >= order.size() || order[axis] < 0) return;
        // Polygraphy looks for the axis in the order, which is the same for those that swap two.
        axis = static_cast<size_t>(order[axis]);
      } else if (!IsAmong(kSeenThrough, node.op_type)) {
        return logger_.Warning("(" + std::string(name) + ") produced by " + std::string(node.name) +
                               " type: " + std::string(node.op_type) + " is unsupported!");
      }
      name = inputs[0];
    }
  }

  void Add(const OnnxTensor& tensor, size_t axis) {
    for (PrunableWeight& known : found_) {
      if (known.tensor == &tensor) {
        known.axis = axis;
        return;
      }
    }
    found_.push_back({&tensor, axis});
  }

  const OnnxModel& model_;
  const OnnxGraph& graph_;
  Logger& logger_;
  std::unordered_map<std::string_view, const OnnxTensor*> weights_;
  std::unordered_map<std::string_view, const OnnxNode*> producers_;
  std::vector<PrunableWeight> found_;
};

bool IsEligible(const PrunableWeight& weight, const std::unordered_set<std::string_view>& skip,
                Logger& logger) {
  const OnnxTensor& tensor = *weight.tensor;
  const std::string name(tensor.name);
  if (skip.contains(tensor.name)) {
    logger.Warning("Skipping tensor: " + name + " since it was marked to skip pruning");
    return false;
  }
  if (tensor.dtype != DType::kFloat32 && tensor.dtype != DType::kFloat16 &&
      tensor.dtype != DType::kBFloat16) {
    logger.Warning("Skipping tensor: " + name +
                   " due to unsupported type: " + std::string(DTypeName(tensor.dtype)));
    return false;
  }
  const bool fits = weight.axis < tensor.dims.size();
  const int64_t size = fits ? tensor.dims[weight.axis] : 0;
  if (fits && size > 0 && size % kGroup == 0) return true;
  logger.Verbose("Skipping " + name + " since the length of axis " + std::to_string(weight.axis) +
                 " (" + std::to_string(size) + " in " + FormatDims(tensor.dims) +
                 ") is not a multiple of 4. ");
  return false;
}

// The magnitude of a float as an integer of the same order; NaN above all.
template <typename Bits>
Bits Magnitude(const std::byte* at) {
  Bits bits;
  std::memcpy(&bits, at, sizeof(bits));
  return static_cast<Bits>(bits & static_cast<Bits>(~(Bits{1} << (sizeof(Bits) * 8 - 1))));
}

// Calls `visit` with the positions of the two smallest of each group, and whether both are zero.
// Ends when it says so.
template <typename Bits, typename Visit>
void ForEachGroup(const Tensor& values, size_t axis, const Visit& visit) {
  const Dims& dims = values.dims();
  int64_t outer = 1, stride = 1;
  for (size_t i = 0; i < axis; ++i) outer *= dims[i];
  for (size_t i = axis + 1; i < dims.size(); ++i) stride *= dims[i];
  const std::byte* const base = values.bytes().data();
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t group = 0; group < dims[axis]; group += kGroup) {
      for (int64_t i = 0; i < stride; ++i) {
        const int64_t first = (o * dims[axis] + group) * stride + i;
        size_t least = 0, second = 1;
        std::array<Bits, kGroup> sizes;
        for (size_t k = 0; k < sizes.size(); ++k) {
          sizes[k] = Magnitude<Bits>(
              base + static_cast<size_t>(first + static_cast<int64_t>(k) * stride) * sizeof(Bits));
        }
        if (sizes[1] < sizes[0]) std::swap(least, second);
        for (size_t k = 2; k < sizes.size(); ++k) {
          if (sizes[k] < sizes[least]) {
            second = std::exchange(least, k);
          } else if (sizes[k] < sizes[second]) {
            second = k;
          }
        }
        const bool zero = sizes[least] == 0 && sizes[second] == 0;
        if (!visit(first + static_cast<int64_t>(least) * stride,
                   first + static_cast<int64_t>(second) * stride, zero)) {
          return;
        }
      }
    }
  }
}

template <typename Bits>
bool IsSparseAs(const Tensor& values, size_t axis) {
  bool sparse = true;
  ForEachGroup<Bits>(values, axis, [&](int64_t, int64_t, bool zero) { return sparse = zero; });
  return sparse;
}

template <typename Bits>
void PruneAs(const Tensor& values, size_t axis, std::span<std::byte> out) {
  ForEachGroup<Bits>(values, axis, [&](int64_t a, int64_t b, bool) {
    for (const int64_t at : {a, b}) {
      std::memset(out.data() + static_cast<size_t>(at) * sizeof(Bits), 0, sizeof(Bits));
    }
    return true;
  });
}

}  // namespace

std::vector<PrunableWeight> FindPrunableWeights(const OnnxModel& model,
                                                const std::unordered_set<std::string_view>& skip,
                                                Logger& logger) {
  std::vector<PrunableWeight> found = Finder(model, logger).Find();
  std::erase_if(found, [&](const auto& weight) { return !IsEligible(weight, skip, logger); });
  logger.Info("Found: " + std::to_string(found.size()) + " weight tensor(s) eligible for pruning.");
  return found;
}

bool IsSparse(const Tensor& values, size_t axis) {
  if (values.dtype() == DType::kFloat32) return IsSparseAs<uint32_t>(values, axis);
  return IsSparseAs<uint16_t>(values, axis);
}

Result<Tensor> Pruned(const Tensor& values, size_t axis) {
  VERNIER_ASSIGN_OR_RETURN(TensorBuffer buffer,
                           TensorBuffer::Allocate(values.dtype(), values.dims()));
  std::copy(values.bytes().begin(), values.bytes().end(), buffer.bytes().begin());
  if (values.dtype() == DType::kFloat32) {
    PruneAs<uint32_t>(values, axis, buffer.bytes());
  } else {
    PruneAs<uint16_t>(values, axis, buffer.bytes());
  }
  return std::move(buffer).Freeze();
}

}  // namespace vernier
