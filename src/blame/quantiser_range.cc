#include "blame/quantiser_range.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compare/comparison.h"
#include "io/tensor_proto.h"
#include "util/number_text.h"

namespace vernier {
namespace {

// Calibration may leave out some rare values.
constexpr double kManyClipped = 0.001;
// A quantiser of 8 bits has 256 steps.
constexpr double kFewSteps = 32;

// The only element of an initializer.
std::optional<double> ScalarOf(const OnnxGraph& graph, std::string_view name) {
  const auto found = std::find_if(graph.initializers.begin(), graph.initializers.end(),
                                  [&](const OnnxTensor& tensor) { return tensor.name == name; });
  if (found == graph.initializers.end() || found->external || found->split) return {};
  const Result<NamedTensor> read = ParseTensorProto(std::as_bytes(std::span(found->bytes)));
  if (!read.ok() || read->tensor.element_count() != 1) return {};
  double value = 0;
  return *LoadBlock(Elements(read->tensor), 0, 1, &value);
}

std::optional<DType> DTypeOf(const OnnxGraph& graph, std::string_view name) {
  for (const OnnxTensor& tensor : graph.initializers) {
    if (tensor.name == name) return tensor.dtype;
  }
  return {};
}

struct Spread {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  double outside = 0;  // share
};

Spread Measure(const QuantiserRange& range, const Tensor& values) {
  Spread spread;
  double block[kBlockSize];
  const auto count = static_cast<size_t>(values.element_count());
  size_t outside = 0;
  for (size_t start = 0; start < count; start += kBlockSize) {
    const size_t n = std::min(kBlockSize, count - start);
    const double* from = LoadBlock(Elements(values), static_cast<int64_t>(start), n, block);
    for (size_t i = 0; i < n; ++i) {
      if (!std::isfinite(from[i])) continue;
      spread.low = std::min(spread.low, from[i]);
      spread.high = std::max(spread.high, from[i]);
      outside += from[i] < range.low - range.step || from[i] > range.high + range.step ? 1 : 0;
    }
  }
  spread.outside = count == 0 ? 0 : static_cast<double>(outside) / static_cast<double>(count);
  return spread;
}

std::string FromTo(double low, double high) { return FormatG(low, 3) + " to " + FormatG(high, 3); }

// What a quantiser of the island reads in the reference: one of the island's inputs, or what the
// island makes once more from the steps.
const Tensor* BeforeSteps(const OnnxGraph& graph, const Island& island, const OnnxNode& quantiser,
                          const TensorSource& reference) {
  const std::string_view steps = graph.Outputs(quantiser)[0];
  if (const Tensor* read = reference(graph.Inputs(quantiser)[0])) return read;
  for (const uint32_t node : island.nodes) {
    const auto inputs = graph.Inputs(graph.nodes[node]);
    if (graph.nodes[node].op_type != "DequantizeLinear" || inputs.empty()) continue;
    if (inputs[0] == steps) return reference(graph.Outputs(graph.nodes[node])[0]);
  }
  return nullptr;
}

}  // namespace

std::optional<QuantiserRange> RangeOf(const OnnxGraph& graph, const OnnxNode& node) {
  const auto inputs = graph.Inputs(node);
  const bool has_zero = inputs.size() > 2 && !inputs[2].empty();
  if (node.op_type != "QuantizeLinear" || !has_zero) return {};
  const std::optional<double> scale = ScalarOf(graph, inputs[1]);
  const std::optional<double> zero = ScalarOf(graph, inputs[2]);
  const std::optional<DType> type = DTypeOf(graph, inputs[2]);
  if (!scale || !(*scale > 0) || !zero || !type) return {};
  const bool is_signed = Kind(*type) == DTypeKind::kSignedInt;
  if (!is_signed && Kind(*type) != DTypeKind::kUnsignedInt) return {};
  const double codes = std::exp2(BitsOf(*type));
  const double lowest = is_signed ? -codes / 2 : 0;
  return QuantiserRange{(lowest - *zero) * *scale, (lowest + codes - 1 - *zero) * *scale, *scale};
}

std::string DescribeMisfit(const QuantiserRange& range, const Tensor& values) {
  if (Kind(values.dtype()) != DTypeKind::kFloat) return {};
  const Spread spread = Measure(range, values);
  if (!(spread.high >= spread.low)) return {};
  if (spread.outside > kManyClipped) {
    return "clips " + FormatG(100 * spread.outside, 2) + " % of its values: it holds " +
           FromTo(range.low, range.high) + ", they are " + FromTo(spread.low, spread.high);
  }
  const double steps = (spread.high - spread.low) / range.step;
  if (steps >= kFewSteps) return {};
  return "is too coarse: values of " + FromTo(spread.low, spread.high) + " fill " +
         FormatG(std::ceil(steps), 3) + " of its steps of " + FormatG(range.step, 3);
}

std::string DescribeMisfits(const BlameGraph& graph, const Island& island,
                            const TensorSource& reference) {
  std::string text;
  for (const uint32_t index : island.nodes) {
    const OnnxNode& node = graph.graph().nodes[index];
    const std::optional<QuantiserRange> range = RangeOf(graph.graph(), node);
    const Tensor* values = range ? BeforeSteps(graph.graph(), island, node, reference) : nullptr;
    const std::string misfit = values != nullptr ? DescribeMisfit(*range, *values) : "";
    if (!misfit.empty()) text += (text.empty() ? "" : "; ") + graph.NodeName(index) + " " + misfit;
  }
  return text;
}

}  // namespace vernier
