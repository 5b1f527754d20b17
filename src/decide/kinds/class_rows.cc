#include "decide/kinds/class_rows.h"

namespace vernier {

std::optional<size_t> ClassAxis(const DecisionPlan& decision, const Dims& dims) {
  const auto rank = static_cast<int64_t>(dims.size());
  if (decision.axis_given) {
    const int64_t axis = decision.axis < 0 ? decision.axis + rank : decision.axis;
    if (axis < 0 || axis >= rank) return std::nullopt;
    return static_cast<size_t>(axis);
  }
  if (rank == 0) return std::nullopt;
  if (decision.kind == DecisionKind::kArgmax && rank >= 3) return 1;
  auto axis = static_cast<size_t>(rank - 1);
  while (axis > 1 && dims[axis] == 1) --axis;
  return axis;
}

ClassRows RowsAlongAxis(const Dims& dims, size_t axis) {
  ClassRows rows{1, dims[axis], 1};
  for (size_t i = 0; i < axis; ++i) rows.outer *= dims[i];
  for (size_t i = axis + 1; i < dims.size(); ++i) rows.inner *= dims[i];
  return rows;
}

SampleShape SamplesOf(const Dims& dims) {
  SampleShape shape;
  if (dims.empty()) return shape;
  shape.samples = dims[0];
  for (size_t i = 1; i < dims.size(); ++i) shape.size *= dims[i];
  return shape;
}

}  // namespace vernier
