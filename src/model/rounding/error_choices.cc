// What comes of choices among near ties: rules of ErrorPropagation.
#include <algorithm>

#include "model/onnx/operator_list.h"
#include "model/rounding/error_propagation.h"
#include "model/rounding/near_ties.h"

namespace vernier {
namespace {

// What an element may differ by, in multiples of the bound of the root mean square: error_bound.cc.
constexpr double kElementTimes = 12;

// What takes parts of its first input.
constexpr std::string_view kTakesParts =
    "Slice Split SplitToSequence Gather GatherElements GatherND SequenceAt Compress TopK ReduceMax "
    "ReduceMin";

// Each element of the output depends on one of each input.
bool KeepsElements(const ErrorRule* rule, std::string_view op) {
  if (rule == nullptr) return false;
  switch (rule->kind) {
    case ErrorKind::kMove:
      return !IsInOperators(
          "TopK MaxPool GlobalMaxPool MaxUnpool ReduceMax ReduceMin Compress Upsample "
          "Col2Im ScatterElements ScatterND Scatter TensorScatter",
          op);
    case ErrorKind::kExact:
      return !IsInOperators(
          "ArgMax ArgMin NonZero NonMaxSuppression Unique TfIdfVectorizer Hardmax", op);
    case ErrorKind::kPointwise:
    case ErrorKind::kProduct:
    case ErrorKind::kQuantise:
    case ErrorKind::kRound:
    case ErrorKind::kDequantise:
    case ErrorKind::kCast:
      return !IsInOperators(
          "DynamicQuantizeLinear QLinearMatMul QLinearConv QGemm QLinearSoftmax "
          "QLinearAveragePool QLinearGlobalAveragePool QLinearReduceMean",
          op);
    default:
      return false;
  }
}

}  // namespace

std::optional<double> ErrorPropagation::TimesOf(std::string_view input,
                                                std::string_view output) const {
  const Dims* from = shapes_.Find(input);
  const Dims* to = shapes_.Find(output);
  const auto before = from != nullptr ? ElementCount(*from) : std::nullopt;
  const auto behind = to != nullptr ? ElementCount(*to) : std::nullopt;
  if (!before || !behind || *behind <= 0) return std::nullopt;
  return static_cast<double>(*before) / static_cast<double>(*behind);
}

double ErrorPropagation::ChosenFrom(const Step& step, size_t input, std::string_view output) const {
  const std::string_view name = step.graph.Inputs(step.node)[input];
  const ErrorPrediction* error = Find(name);
  if (error == nullptr || error->chosen == 0) return 0;
  const std::string_view op = step.node.op_type;
  // Each has its place in the whole: where that is not known, any of it.
  if (op == "Concat") return error->chosen * std::min(TimesOf(name, output).value_or(1), 1.0);
  if (input > 0 || !IsInOperators(kTakesParts, op)) return error->chosen;
  // A part may have all of them.
  const std::optional<double> times = TimesOf(name, output);
  return times ? error->chosen * std::max(*times, 1.0) : 1;
}

double ErrorPropagation::ChosenBehind(const Step& step, std::string_view output) const {
  const std::string_view op = step.node.op_type;
  if (IsInOperators("Shape Size", op)) return 0;
  const auto inputs = step.graph.Inputs(step.node);
  double share = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto here = inputs.begin() + static_cast<ptrdiff_t>(i);
    const bool again = op != "Concat" && std::find(inputs.begin(), here, inputs[i]) != here;
    if (!again) share += ChosenFrom(step, i, output);
  }
  if (share == 0) return 0;
  return KeepsElements(step.rule, op) ? std::min(share, 1.0) : 1;
}

double ErrorPropagation::ChosenHere(const Step& step, size_t output) const {
  const auto inputs = step.graph.Inputs(step.node);
  const auto outputs = step.graph.Outputs(step.node);
  if (!IsChoice(step.node.op_type, output) || inputs.empty() || !seen_.values) return 0;
  std::string_view from = inputs[0];
  // The values that TopK gives show the ties among them, not those with the first that it leaves.
  if (output > 0 && seen_.values(from) == nullptr) from = outputs[0];
  const ErrorPrediction* error = Find(from);
  const Tensor* values = seen_.values(from);
  if (error == nullptr || values == nullptr) return 0;
  const Dims* picked = shapes_.Find(outputs[output]);
  const int64_t places = picked != nullptr ? ElementCount(*picked).value_or(0) : 0;
  return NearTies(model_, step.node, *values, places, kElementTimes * error->rms);
}

// A part of a Concat that is much smaller than the others has an error that is large beside it.
void ErrorPropagation::TakePart(const Step& step, std::string_view name, ErrorPrediction& error) {
  if (error.part <= error.rms || !IsInOperators(kTakesParts, step.node.op_type)) return;
  const double whole = growth_.Scale(step.graph.Inputs(step.node)[0]);
  const double part = growth_.Scale(name);
  if (!(part > 0) || !(part < whole / 2)) return;
  error.clean = std::max(error.clean, error.part);
  error.typical = std::max(error.typical, kTypicalShare * error.part);
  SetRms(error);
}

// Extremes of two sides differ by as much as the largest error among their values, which is far
// beyond the root mean square where few values are ill-conditioned: those of a Log near zero.
void ErrorPropagation::TakeExtreme(const Step& step, std::string_view name,
                                   ErrorPrediction& error) {
  if (!IsInOperators("ReduceMax ReduceMin", step.node.op_type)) return;
  const std::string_view from = step.graph.Inputs(step.node)[0];
  const ErrorPrediction* input = Find(from);
  const double scale = growth_.Scale(name);
  if (input == nullptr || !(scale > 0) || Elements(name) > kFewPicked) return;
  error.largest = input->largest * growth_.Scale(from) / scale;
  if (error.largest <= error.clean) return;
  error.clean = error.largest;
  error.typical = std::max(error.typical, kTypicalShare * error.largest);
  SetRms(error);
}

}  // namespace vernier
