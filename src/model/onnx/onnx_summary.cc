#include "model/onnx/onnx_summary.h"

#include <algorithm>
#include <map>
#include <vector>

#include "util/text/number_text.h"

namespace vernier {
namespace {

std::string ListTensors(const std::vector<TensorInfo>& tensors) {
  std::string text;
  for (const TensorInfo& tensor : tensors) {
    text += "\n    " + tensor.name + " [dtype=" + std::string(DTypeName(tensor.dtype)) +
            ", shape=" + FormatShape(tensor.shape) + "]";
  }
  return text;
}

std::string CountOperators(const OnnxGraph& graph) {
  std::map<std::string_view, int64_t> counts;
  for (const OnnxNode& node : graph.nodes) ++counts[node.op_type];
  std::vector<std::pair<std::string_view, int64_t>> sorted(counts.begin(), counts.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (const auto& [op, count] : sorted) {
    text += (text.empty() ? "" : ", ") + std::string(op) + " " + std::to_string(count);
  }
  return text;
}

uint64_t ConstantBytes(const OnnxGraph& graph) {
  uint64_t total = 0;
  for (const OnnxTensor& tensor : graph.initializers) {
    const std::optional<int64_t> count = ElementCount(tensor.dims);
    if (!count || *count < 0) continue;
    total += ByteSize(tensor.dtype, static_cast<uint64_t>(*count)).value_or(0);
  }
  return total;
}

}  // namespace

std::string SummariseOnnx(const OnnxModel& model) {
  const OnnxGraph& graph = model.graph();
  const std::vector<TensorInfo> inputs = model.RequiredInputs();
  const std::vector<TensorInfo> outputs = model.Outputs();
  return "Graph: " + std::string(graph.name) + " | opset " + std::to_string(model.opset()) +
         "\nInputs: " + std::to_string(inputs.size()) + ListTensors(inputs) +
         "\nOutputs: " + std::to_string(outputs.size()) + ListTensors(outputs) +
         "\nOperators: " + std::to_string(graph.nodes.size()) + " | " + CountOperators(graph) +
         "\nConstants: " + std::to_string(graph.initializers.size()) + ", " +
         FormatBytes(ConstantBytes(graph));
}

}  // namespace vernier
