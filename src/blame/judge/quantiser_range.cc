#include "blame/judge/quantiser_range.h"

#include <algorithm>
#include <cmath>

#include "io/test_data/tensor_proto.h"
#include "kernels/elements/tensor_elements.h"
#include "kernels/measures/magnitudes.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

// Calibration may leave out some rare values.
constexpr double kManyClipped = 0.001;
// A quantiser of 8 bits has 256 steps.
constexpr double kFewSteps = 32;

// An initializer of one element.
std::optional<Tensor> ScalarOf(const OnnxGraph& graph, std::string_view name) {
  const auto found = std::find_if(graph.initializers.begin(), graph.initializers.end(),
                                  [&](const OnnxTensor& tensor) { return tensor.name == name; });
  if (found == graph.initializers.end() || found->external || found->split) return {};
  Result<NamedTensor> read = ParseTensorProto(std::as_bytes(std::span(found->bytes)));
  if (!read.ok() || read->tensor.element_count() != 1) return {};
  return std::move(read->tensor);
}

double ValueOf(const Tensor& scalar) { return MeasureMagnitudes(Elements(scalar)).min; }

// The share of the values that lie outside, by more than a step.
double ShareOutside(const QuantiserRange& range, const Tensor& values) {
  double block[kBlockSize];
  const auto count = static_cast<size_t>(values.element_count());
  size_t outside = 0;
  for (size_t start = 0; start < count; start += kBlockSize) {
    const size_t n = std::min(kBlockSize, count - start);
    const double* from = LoadBlock(Elements(values), static_cast<int64_t>(start), n, block);
    for (size_t i = 0; i < n; ++i) {
      const bool out = from[i] < range.low - range.step || from[i] > range.high + range.step;
      outside += out && std::isfinite(from[i]) ? 1 : 0;
    }
  }
  return static_cast<double>(outside) / static_cast<double>(count);
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
  if (node.op_type != "QuantizeLinear" || inputs.size() < 3 || graph.Outputs(node).empty())
    return {};
  const std::optional<Tensor> scale = ScalarOf(graph, inputs[1]);
  const std::optional<Tensor> zero = ScalarOf(graph, inputs[2]);
  if (!scale || !zero || !(ValueOf(*scale) > 0)) return {};
  const bool is_signed = Kind(zero->dtype()) == DTypeKind::kSignedInt;
  if (!is_signed && Kind(zero->dtype()) != DTypeKind::kUnsignedInt) return {};
  const double codes = std::exp2(BitsOf(zero->dtype())), step = ValueOf(*scale);
  const double lowest = (is_signed ? -codes / 2 : 0) - ValueOf(*zero);
  return QuantiserRange{lowest * step, (lowest + codes - 1) * step, step};
}

std::string DescribeMisfit(const QuantiserRange& range, const Tensor& values) {
  if (Kind(values.dtype()) != DTypeKind::kFloat || values.element_count() == 0) return {};
  const Magnitudes found = MeasureMagnitudes(Elements(values));
  if (found.nan_count + found.infinite_count == found.count) return {};
  const double outside = ShareOutside(range, values);
  if (outside > kManyClipped) {
    return "clips " + FormatG(100 * outside, 2) + " % of its values: it holds " +
           FromTo(range.low, range.high) + ", they are " + FromTo(found.min, found.max);
  }
  const double steps = (found.max - found.min) / range.step;
  if (steps >= kFewSteps) return {};
  return "is too coarse: values of " + FromTo(found.min, found.max) + " fill " +
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
