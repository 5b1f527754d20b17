#include "model/rounding/operand.h"

#include <algorithm>
#include <cmath>

#include "kernels/elements/element_blocks.h"
#include "kernels/elements/tensor_elements.h"
#include "model/onnx/mapped_weight.h"
#include "model/onnx/onnx_attributes.h"

namespace vernier {
namespace {

// Larger tensors would take longer than the run.
constexpr int64_t kMostElements = int64_t{1} << 25;

bool IsReadable(const Tensor* tensor) {
  if (tensor == nullptr || tensor->bytes().empty() || tensor->element_count() > kMostElements) {
    return false;
  }
  const DTypeKind kind = Kind(tensor->dtype());
  return kind == DTypeKind::kFloat || kind == DTypeKind::kSignedInt ||
         kind == DTypeKind::kUnsignedInt;
}

std::vector<double> AsDoubles(const Tensor& tensor) {
  std::vector<double> values(static_cast<size_t>(tensor.element_count()));
  const double* from = LoadBlock(Elements(tensor), 0, values.size(), values.data());
  if (from != values.data()) values.assign(from, from + values.size());
  return values;
}

}  // namespace

std::optional<Operand> OperandFinder::Find(std::string_view name) {
  const Tensor* a = seen_.values ? seen_.values(name) : nullptr;
  const Tensor* b = seen_.others ? seen_.others(name) : nullptr;
  if (a != nullptr || b != nullptr) {
    if (!IsReadable(a) || !IsReadable(b) || a->dims() != b->dims()) return {};
    return Operand{AsDoubles(*a), AsDoubles(*b), a->dims()};
  }
  const Tensor* fed = seen_.fed ? seen_.fed(name) : nullptr;
  if (fed != nullptr) {
    if (!IsReadable(fed)) return {};
    Operand operand{AsDoubles(*fed), {}, fed->dims()};
    operand.b = operand.a;
    return operand;
  }
  const OnnxTensor* constant = FindConstant(name);
  if (constant == nullptr || constant->external) return {};
  const Result<MappedWeight> mapped = MapWeight(model_, *constant, {});
  if (!mapped.ok() || !IsReadable(&mapped->values)) return {};
  Operand operand{AsDoubles(mapped->values), {}, mapped->values.dims()};
  operand.b = operand.a;
  return operand;
}

double ShareOfLines(const Operand& operand, size_t axis, const std::vector<double>& times,
                    double limit) {
  size_t behind = 1;
  for (size_t i = axis + 1; i < operand.dims.size(); ++i) {
    behind *= static_cast<size_t>(operand.dims[i]);
  }
  std::vector<bool> reached(operand.a.size() / times.size());
  for (size_t i = 0; i < operand.a.size(); ++i) {
    const double difference = std::fabs(operand.a[i] - operand.b[i]);
    // What is infinite on both sides, or no number, says nothing.
    if (!(difference * times[i / behind % times.size()] > limit)) continue;
    reached[i / (behind * times.size()) * behind + i % behind] = true;
  }
  const auto count = static_cast<double>(std::ranges::count(reached, true));
  return count / std::max(static_cast<double>(reached.size()), 1.0);
}

// An initializer, or what a Constant node holds.
const OnnxTensor* OperandFinder::FindConstant(std::string_view name) {
  if (!found_constants_) {
    found_constants_ = true;
    for (const OnnxTensor& tensor : model_.graph().initializers) constants_[tensor.name] = tensor;
    for (const OnnxNode& node : model_.graph().nodes) {
      const auto outputs = model_.graph().Outputs(node);
      if (node.op_type != "Constant" || outputs.empty()) continue;
      NodeAttributes attributes(model_, node);
      const OnnxAttribute* value = attributes.Find("value");
      if (value != nullptr && value->tensor) constants_[outputs[0]] = *value->tensor;
    }
  }
  const auto found = constants_.find(name);
  return found == constants_.end() ? nullptr : &found->second;
}

}  // namespace vernier
