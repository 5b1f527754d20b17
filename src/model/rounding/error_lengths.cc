#include "model/rounding/error_lengths.h"

#include <algorithm>

#include "model/onnx/onnx_attributes.h"

namespace vernier {

int64_t SumLengths::MatrixLength(const Place& step) const {
  const auto inputs = step.graph.Inputs(step.node);
  const Dims* a = inputs.empty() ? nullptr : shapes_.Find(inputs[0]);
  const Dims* b = inputs.size() < 2 ? nullptr : shapes_.Find(inputs[1]);
  const std::string_view op = step.node.op_type;
  if (op.find("Conv") != std::string_view::npos) {
    if (b == nullptr || b->empty()) return kUnknownLength;
    const int64_t shared = op == "ConvTranspose" && b->size() > 1 ? (*b)[1] : b->front();
    return ElementCount(*b).value_or(kUnknownLength) / std::max<int64_t>(shared, 1);
  }
  if (op == "MatMulNBits") return NodeAttributes(model_, step.node).Int("K", kUnknownLength);
  if (op == "Gemm" || op == "FusedGemm") return GemmLength(step, a, b);
  if (op == "Einsum") return kUnknownLength;
  if (b != nullptr && !b->empty()) return b->size() > 1 ? (*b)[b->size() - 2] : b->front();
  return a != nullptr && !a->empty() ? a->back() : kUnknownLength;
}

int64_t SumLengths::GemmLength(const Place& step, const Dims* a, const Dims* b) const {
  const auto flipped = [&](std::string_view name) {
    return NodeAttributes(model_, step.node).Int(name, 0) != 0;
  };
  if (b != nullptr && b->size() == 2) return (*b)[flipped("transB") ? 1 : 0];
  return a != nullptr && a->size() == 2 ? (*a)[flipped("transA") ? 0 : 1] : kUnknownLength;
}

int64_t SumLengths::ReducedLength(const Place& step) const {
  const auto inputs = step.graph.Inputs(step.node);
  const auto outputs = step.graph.Outputs(step.node);
  const Dims* before = inputs.empty() ? nullptr : shapes_.Find(inputs[0]);
  const Dims* after = outputs.empty() ? nullptr : shapes_.Find(outputs[0]);
  if (before == nullptr) return kUnknownLength;
  if (step.node.op_type == "CumSum" || step.node.op_type == "CumProd") {
    return before->empty() ? 1 : *std::max_element(before->begin(), before->end());
  }
  const int64_t all = ElementCount(*before).value_or(kUnknownLength);
  if (after == nullptr) return all;
  return all / std::max<int64_t>(ElementCount(*after).value_or(1), 1);
}

int64_t SumLengths::NormLength(const Place& step) const {
  const auto inputs = step.graph.Inputs(step.node);
  const Dims* x = inputs.empty() ? nullptr : shapes_.Find(inputs[0]);
  const std::string_view op = step.node.op_type;
  if (op == "BatchNormalization") return 1;
  const auto behind = [&](int64_t axis) -> int64_t {
    if (axis < 0) axis += static_cast<int64_t>(x->size());
    if (axis < 0 || axis > static_cast<int64_t>(x->size())) return kUnknownLength;
    const auto rest = std::span(*x).subspan(static_cast<size_t>(axis));
    return ElementCount(rest).value_or(kUnknownLength);
  };
  if (x == nullptr || x->empty()) {
    const Dims* scale = inputs.size() < 2 ? nullptr : shapes_.Find(inputs[1]);
    return scale != nullptr ? ElementCount(*scale).value_or(kUnknownLength) : kUnknownLength;
  }
  NodeAttributes attributes(model_, step.node);
  if (op == "LayerNormalization" || op == "RMSNormalization") {
    return behind(attributes.Int("axis", -1));
  }
  if (op == "InstanceNormalization" || op == "GroupNormalization") {
    return behind(std::min<int64_t>(2, static_cast<int64_t>(x->size())));
  }
  return x->back();
}

int64_t SumLengths::PoolLength(const Place& step) const {
  NodeAttributes attributes(model_, step.node);
  const std::vector<int64_t> kernel = attributes.Ints("kernel_shape");
  if (!kernel.empty()) return ElementCount(kernel).value_or(kUnknownLength);
  if (step.node.op_type.substr(0, 6) == "Global") return ReducedLength(step);
  // Interpolation between neighbours, 2 or 4 along each of two axes. Cubic weights are sums of 4.
  const bool cubic = attributes.Text("mode").find("cubic") != std::string_view::npos;
  return cubic ? 64 : 4;
}

// Of a Fourier transform: the window's, or that of the transformed axis.
int64_t SumLengths::FrameLength(const Place& step) const {
  constexpr int64_t kUnknownFrame = 1000;
  const auto inputs = step.graph.Inputs(step.node);
  if (step.node.op_type == "STFT") {
    const Dims* window = inputs.size() > 2 ? shapes_.Find(inputs[2]) : nullptr;
    if (window != nullptr && window->size() == 1) return window->front();
    const auto length = inputs.size() > 3 ? shapes_.Ints(inputs[3]) : std::nullopt;
    return length && length->size() == 1 ? length->front() : kUnknownFrame;
  }
  // What is fed may be cut or padded to another length.
  const auto length = inputs.size() > 1 ? shapes_.Ints(inputs[1]) : std::nullopt;
  if (length && length->size() == 1 && length->front() > 0) return length->front();
  const Dims* x = inputs.empty() ? nullptr : shapes_.Find(inputs[0]);
  if (x == nullptr || x->size() < 2) return kUnknownFrame;
  // From opset 20 on the axis is an input; the last one has real and imaginary parts.
  int64_t axis = NodeAttributes(model_, step.node).Int("axis", inputs.size() > 2 ? -2 : 1);
  const auto given = inputs.size() > 2 ? shapes_.Ints(inputs[2]) : std::nullopt;
  if (given && given->size() == 1) axis = given->front();
  if (axis < 0) axis += static_cast<int64_t>(x->size());
  const bool valid = axis >= 0 && axis < static_cast<int64_t>(x->size());
  return valid ? (*x)[static_cast<size_t>(axis)] : kUnknownFrame;
}

int64_t SumLengths::Of(const OnnxGraph& graph, const OnnxNode& node, ErrorKind kind) const {
  // An attribute from a damaged file may be anything.
  return std::max<int64_t>(LengthOf({graph, node}, kind), 1);
}

int64_t SumLengths::LengthOf(const Place& step, ErrorKind kind) const {
  switch (kind) {
    case ErrorKind::kMatrix:
      return MatrixLength(step);
    case ErrorKind::kReduce:
      return ReducedLength(step);
    case ErrorKind::kNorm:
      return NormLength(step);
    case ErrorKind::kPool:
      return PoolLength(step);
    case ErrorKind::kFourier:
      return FrameLength(step);
    case ErrorKind::kRecurrent:
      return kUnknownLength;
    default:
      return 1;
  }
}

}  // namespace vernier
