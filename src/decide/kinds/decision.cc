#include "decide/kinds/decision.h"

#include <algorithm>
#include <array>

#include "decide/kinds/box_layout.h"
#include "decide/kinds/class_rows.h"
#include "decide/kinds/kinds.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

bool IsWideInteger(DType dtype) {
  return dtype == DType::kInt32 || dtype == DType::kInt64 || dtype == DType::kUint32 ||
         dtype == DType::kUint64;
}

std::string WhyNotType(const DecisionPlan& decision, DType dtype) {
  const bool is_number = Kind(dtype) == DTypeKind::kFloat || IsIntegral(dtype);
  // Unnamed outputs of these types hold indices and counts, no scores.
  const bool is_decided =
      decision.output.empty() && decision.kind != DecisionKind::kRegression && IsWideInteger(dtype);
  return is_number && !is_decided ? "" : std::string(DTypeName(dtype));
}

std::string ShapeText(const Dims& dims) { return "shape " + FormatDims(dims); }

std::string WhyNotClasses(const DecisionPlan& decision, const Dims& dims) {
  const std::optional<size_t> axis = ClassAxis(decision, dims);
  if (!axis) return ShapeText(dims) + ", without an axis " + std::to_string(decision.axis);
  const int64_t classes = dims[*axis];
  const std::string along = " along axis " + std::to_string(*axis);
  if (classes == 0) return "no class" + along;
  if (classes == 1) return "one class" + along;
  const bool is_set = decision.kind == DecisionKind::kTop;
  const bool is_rank = decision.kind == DecisionKind::kRank;
  if ((is_set && decision.k >= classes) || (is_rank && decision.k > classes)) {
    return Counted(classes, "value") + along + ", which is too few for '" + decision.text + "'";
  }
  return "";
}

std::string WhyNotText(const DecisionPlan& decision, const Dims& dims) {
  if (dims.size() != 2 && dims.size() != 3) return ShapeText(dims) + ", not steps of classes";
  const int64_t classes = dims.back();
  if (classes < 2) return std::string(classes == 1 ? "one class" : "no class") + " at each step";
  const int64_t blank = decision.blank < 0 ? decision.blank + classes : decision.blank;
  if (blank >= 0 && blank < classes) return "";
  return std::to_string(classes) + " classes at each step, without the blank " +
         std::to_string(decision.blank);
}

bool FitTogether(const DecisionPlan& decision, const Dims& a, const Dims& b) {
  if (a == b) return true;
  if (decision.kind != DecisionKind::kBoxes) return false;
  const BoxLayout x = LayoutOfBoxes(decision, a);
  const BoxLayout y = LayoutOfBoxes(decision, b);
  return x.samples == y.samples && x.columns == y.columns;
}

using DecideKind = Result<std::vector<DecisionSample>> (*)(const DecideInput&);

template <std::vector<DecisionSample> (*kDecide)(const DecideInput&)>
Result<std::vector<DecisionSample>> Always(const DecideInput& input) {
  return kDecide(input);
}

// By DecisionKind.
constexpr std::array<DecideKind, 9> kDecideKinds = {&Always<&DecideTop>,
                                                    &Always<&DecideBorder>,
                                                    &Always<&DecideArgmax>,
                                                    &Always<&DecideBorder>,
                                                    &Always<&DecideRank>,
                                                    &DecideBoxes,
                                                    &DecideCtc,
                                                    &Always<&DecideEmbedding>,
                                                    &Always<&DecideRegression>};

}  // namespace

bool HasNegative(const Tensor& output) {
  return WithArithmetic(output, output, [&](auto zero) {
    const int64_t count = output.element_count();
    const auto* const values = PartReader<decltype(zero)>(output, count).Part(0);
    return std::any_of(values, values + count, [](auto value) { return value < 0; });
  });
}

std::string WhyNotDecision(const DecisionPlan& decision, const Tensor& output) {
  if (decision.kind == DecisionKind::kScript) return "decided about by a script alone";
  if (std::string why = WhyNotType(decision, output.dtype()); !why.empty()) return why;
  const Dims& dims = output.dims();
  switch (decision.kind) {
    case DecisionKind::kThreshold:
    case DecisionKind::kSign:
    case DecisionKind::kRegression:
      return "";
    case DecisionKind::kBoxes:
      return dims.empty() ? "a scalar" : WhyNotBoxes(decision, dims);
    case DecisionKind::kCtc:
      return dims.empty() ? "a scalar" : WhyNotText(decision, dims);
    default:
      return dims.empty() ? "a scalar" : WhyNotClasses(decision, dims);
  }
}

Result<std::vector<DecisionSample>> Decide(const DecisionPlan& decision, const Tensor& reference,
                                           const Tensor& candidate,
                                           std::optional<AllowedDifference> allowed,
                                           std::optional<double> near_tie) {
  for (const Tensor* side : {&reference, &candidate}) {
    const std::string why = WhyNotDecision(decision, *side);
    if (why.empty()) continue;
    return InvalidArgument("'" + decision.text + "' cannot be decided: the output is " + why);
  }
  if (!FitTogether(decision, reference.dims(), candidate.dims())) {
    return InvalidArgument("'" + decision.text + "' needs outputs of one shape, not " +
                           FormatDims(reference.dims()) + " and " + FormatDims(candidate.dims()));
  }
  const bool observed = !allowed && !near_tie;
  const double step = observed ? std::max(StepOfValues(reference), StepOfValues(candidate)) : 0;
  const DecideInput input{
      decision, reference, candidate, {allowed, near_tie, step, reference, candidate}};
  return kDecideKinds[static_cast<size_t>(decision.kind)](input);
}

}  // namespace vernier
