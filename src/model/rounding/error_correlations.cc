// Errors that do not average out: of equal terms, and of whole rows and columns.
#include <algorithm>

#include "model/onnx/operator_list.h"
#include "model/rounding/error_propagation.h"
#include "model/rounding/plain_sums.h"

namespace vernier {
namespace {

// Sums are no worse than one term after the other makes them, with other blocks and rounding.
constexpr double kPlainTimes = 2;

}  // namespace

// Where values show that terms are equal, more or less, and rounded alike.
void ErrorPropagation::AddPlainSum(Step& step, int64_t length) const {
  const auto terms = SummedBy(step.node.op_type);
  const auto inputs = step.graph.Inputs(step.node);
  const bool in_float32 = std::ranges::any_of(step.sides, [](const SideRoundoff& side) {
    return side.summed >= UnitRoundoff(DType::kFloat32);
  });
  if (!terms || !in_float32 || inputs.empty()) return;
  const Tensor* x = seen_.values ? seen_.values(inputs[0]) : nullptr;
  if (x == nullptr && seen_.fed) x = seen_.fed(inputs[0]);
  auto axes = shapes_.Axes(step.graph, step.node);
  if (x == nullptr || !axes) return;
  if (step.node.op_type.starts_with("Global")) {
    for (size_t axis = 2; axis < x->dims().size(); ++axis) {
      axes->push_back(static_cast<int64_t>(axis));
    }
  }
  const double plain = PlainSumError(*x, *axes, *terms);
  const OwnVariance own =
      OwnVarianceOf(step.sides, static_cast<double>(length), step.rule->roundoffs);
  if (Square(kPlainTimes * plain) <= own.bound) return;
  AddTo(step.error, {Square(kPlainTimes * plain), Square(plain)});
}

// An error of one factor goes into all elements of a row or column, and so do those of what is made
// of it with constants.
bool ErrorPropagation::CrossesErrors(const Step& step) const {
  if (step.rule == nullptr) return false;
  const auto inputs = step.graph.Inputs(step.node);
  const auto is_constant = [&](std::string_view name) { return constants_.contains(name); };
  if (step.rule->kind == ErrorKind::kMatrix) {
    return inputs.size() > 1 && std::ranges::none_of(inputs.first(2), is_constant);
  }
  const bool copies = step.rule->kind == ErrorKind::kMove || step.rule->kind == ErrorKind::kCast;
  const bool scales = IsInOperators("Add Sub Mul Div", step.node.op_type) &&
                      std::ranges::any_of(inputs, is_constant);
  return step.error.crossed && (copies || scales);
}

}  // namespace vernier
