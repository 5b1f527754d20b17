// What comes of choices among near ties: rules of ErrorPropagation.
#include <algorithm>
#include <optional>
#include <vector>

#include "model/onnx/onnx_attributes.h"
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

// What changes where rows end.
constexpr std::string_view kLayoutOperators =
    "Reshape Flatten Squeeze Unsqueeze DepthToSpace SpaceToDepth";

// Each row of the output, along the last axis, depends on one of the first input.
bool TreatsRowsApart(const OnnxModel& model, const OnnxNode& node) {
  NodeAttributes attributes(model, node);
  if (node.op_type == "Gemm") return attributes.Int("transA", 0) == 0;
  if (node.op_type == "LayerNormalization" || node.op_type == "RMSNormalization") {
    return attributes.Int("axis", -1) == -1;
  }
  return node.op_type == "MatMul";
}

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

double ErrorPropagation::MostRows(std::string_view name, double elements) const {
  const Dims* dims = shapes_.Find(name);
  if (elements == 0) return 0;
  if (dims == nullptr) return 1;
  return dims->empty() ? elements : std::min(elements * static_cast<double>(dims->back()), 1.0);
}

// Of an input whose rows are those of the output, or are added to them.
double ErrorPropagation::OpenRowsFrom(const Step& step, size_t input,
                                      std::string_view output) const {
  const auto inputs = step.graph.Inputs(step.node);
  const ErrorPrediction* error = Find(inputs[input]);
  if (error == nullptr || error->chosen == 0) return 0;
  const std::string_view op = step.node.op_type;
  const Dims* from = shapes_.Find(inputs[input]);
  const Dims* to = shapes_.Find(output);
  if (from == nullptr || to == nullptr || to->empty()) return 1;
  if (op == "Gather" && input == 1) {
    const Dims* data = shapes_.Find(inputs[0]);
    const auto rank = data == nullptr ? 0 : static_cast<int64_t>(data->size());
    const int64_t axis = NodeAttributes(model_, step.node).Int("axis", 0);
    // A place gives whole rows.
    return rank > 0 && axis >= 0 && axis < rank - 1 ? error->chosen : 1;
  }
  if (op == "Transpose") {
    const std::vector<int64_t> order = NodeAttributes(model_, step.node).Ints("perm");
    const bool keeps =
        order.size() == to->size() && order.back() == static_cast<int64_t>(order.size()) - 1;
    return keeps ? error->chosen_rows : 1;
  }
  const int64_t length = from->empty() ? 1 : from->back();
  const bool repeats = length == 1 && !IsInOperators(kLayoutOperators, op);
  if (length != to->back() && !repeats && op != "Concat") return 1;
  const bool part = input == 0 && IsInOperators(kTakesParts, op);
  const double times = part ? std::max(TimesOf(inputs[0], output).value_or(1), 1.0) : 1;
  return std::min(error->chosen_rows * times, 1.0);
}

ErrorPropagation::OpenShare ErrorPropagation::OpenBehind(const Step& step,
                                                         std::string_view output) const {
  const std::string_view op = step.node.op_type;
  if (IsInOperators("Shape Size", op)) return {};
  const auto inputs = step.graph.Inputs(step.node);
  OpenShare open, first;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto here = inputs.begin() + static_cast<ptrdiff_t>(i);
    const bool again = op != "Concat" && std::find(inputs.begin(), here, inputs[i]) != here;
    if (again) continue;
    open.elements += ChosenFrom(step, i, output);
    open.rows += OpenRowsFrom(step, i, output);
    if (i == 0) first = open;
  }
  if (open.elements == 0) return {};
  if (KeepsElements(step.rule, op)) {
    open.elements = std::min(open.elements, 1.0);
  } else if (TreatsRowsApart(model_, step.node) && open.elements == first.elements) {
    open.elements = Find(inputs[0])->chosen_rows;
    const Dims *from = shapes_.Find(inputs[0]), *to = shapes_.Find(output);
    const bool same_rows = from != nullptr && to != nullptr && to->size() >= from->size();
    open.rows = same_rows ? open.elements : 1;  // a vector takes the last axis away
  } else {
    return {1, 1};
  }
  open.rows = std::min(open.rows, MostRows(output, open.elements));
  return open;
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
  const double bound = kElementTimes * error->rms;
  const double share = NearTies(model_, step.node, *values, places, bound);
  const Tensor* ours = seen_.values(outputs[output]);
  const Tensor* theirs = seen_.others ? seen_.others(outputs[output]) : nullptr;
  if (share == 0 || ours == nullptr || theirs == nullptr) return share;
  // A place that ties with none excuses no other.
  const auto others =
      CountOtherPlaces(model_, step.node, {*values, from == inputs[0], bound}, *ours, *theirs);
  if (!others || others->wrong == 0) return share;
  const auto right = static_cast<double>(others->differ - others->wrong);
  return std::min(share, right / static_cast<double>(ours->element_count()));
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
