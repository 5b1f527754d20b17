// The values that an operator reads on both sides, as float64.
#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/onnx/onnx_model.h"
#include "model/rounding/error_model.h"

namespace vernier {

struct Operand {
  std::vector<double> a, b;
  Dims dims;
};

class OperandFinder {
 public:
  /// Both must outlive it.
  OperandFinder(const OnnxModel& model, const SeenOutputs& seen) : model_(model), seen_(seen) {}

  /// Of an output of the run, an input of the graph, or a constant; nullopt where the values are
  /// not known, or too many.
  std::optional<Operand> Find(std::string_view name);

 private:
  const OnnxTensor* FindConstant(std::string_view name);

  const OnnxModel& model_;
  const SeenOutputs& seen_;
  std::unordered_map<std::string_view, OnnxTensor> constants_;  // made when asked
  bool found_constants_ = false;
};

/// Of the lines along an axis, the share with a difference of both sides that is beyond the limit
/// when it is multiplied by what its place has in `times`.
double ShareOfLines(const Operand& operand, size_t axis, const std::vector<double>& times,
                    double limit);

/// Calls `visit(values_of_a, values_of_b)`, pointers to as many values as there are operands, for
/// every element of what the operands make together. False, without a call, where their shapes do
/// not fit.
template <typename Visit>
bool ForEachElement(const std::vector<Operand>& operands, Visit visit) {
  size_t rank = 0;
  for (const Operand& operand : operands) rank = std::max(rank, operand.dims.size());
  Dims dims(rank, 1);
  for (const Operand& operand : operands) {
    const size_t missing = rank - operand.dims.size();
    for (size_t i = 0; i < operand.dims.size(); ++i) {
      int64_t& size = dims[missing + i];
      if (size != 1 && operand.dims[i] != 1 && size != operand.dims[i]) return false;
      size = size == 1 ? operand.dims[i] : size;
    }
  }
  const size_t count = operands.size();
  std::vector<int64_t> strides(count * rank, 0);
  for (size_t k = 0; k < count; ++k) {
    const Dims& own = operands[k].dims;
    int64_t stride = 1;
    for (size_t i = own.size(); i-- > 0; stride *= own[i]) {
      if (own[i] != 1) strides[k * rank + rank - own.size() + i] = stride;
    }
  }
  int64_t left = 1;
  for (const int64_t size : dims) left *= size;
  std::vector<int64_t> place(rank, 0), at(count, 0);
  std::vector<double> of_a(count), of_b(count);
  for (; left > 0; --left) {
    for (size_t k = 0; k < count; ++k) {
      of_a[k] = operands[k].a[static_cast<size_t>(at[k])];
      of_b[k] = operands[k].b[static_cast<size_t>(at[k])];
    }
    visit(of_a.data(), of_b.data());
    for (size_t axis = rank; axis-- > 0;) {
      for (size_t k = 0; k < count; ++k) at[k] += strides[k * rank + axis];
      if (++place[axis] < dims[axis]) break;
      for (size_t k = 0; k < count; ++k) at[k] -= strides[k * rank + axis] * dims[axis];
      place[axis] = 0;
    }
  }
  return true;
}

}  // namespace vernier
