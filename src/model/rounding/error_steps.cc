// Steps and whole numbers as values and operators show them: rules of ErrorPropagation.
#include <algorithm>
#include <cmath>

#include "model/onnx/onnx_attributes.h"
#include "model/onnx/operator_list.h"
#include "model/rounding/error_propagation.h"

namespace vernier {
namespace {

// What operators read may be rounded otherwise than the output that shows it.
constexpr double kPassedTimes = 1.25;
// A value that errs by so many deviations may go to the other of two steps.
constexpr double kTieDeviations = 3;
// Of the whole numbers that a type has, the sums of two still are.
constexpr double kWholeShare = 0.25;
// Of the range from the lowest code to the highest, two units in the last place.
constexpr double kRangeRoundoffs = 4;
// So many times a border of a Pad may have what it mirrors.
constexpr double kMirrored = 2;

}  // namespace

// Behind Floor and its like, until arithmetic other than sums of whole numbers.
void ErrorPropagation::NoteWhole(const Step& step) {
  if (step.rule == nullptr) return;
  const auto inputs = step.graph.Inputs(step.node);
  const auto is_whole = [&](std::string_view name) {
    const DTypeKind kind = Kind(TypeOf(name));
    return name.empty() || whole_.contains(name) || kind == DTypeKind::kSignedInt ||
           kind == DTypeKind::kUnsignedInt;
  };
  const bool rounds = IsInOperators("Floor Ceil Round Sign", step.node.op_type);
  const bool keeps = step.rule->kind == ErrorKind::kMove || step.rule->kind == ErrorKind::kCast ||
                     IsInOperators("Add Sub Mul", step.node.op_type);
  if (!rounds && !(keeps && std::ranges::all_of(inputs, is_whole))) return;
  for (const std::string_view name : step.graph.Outputs(step.node)) whole_.insert(name);
}

// Sums and products of whole floats that are the same on both sides have no rounding: ids + 1.
bool ErrorPropagation::IsExactInFloats(const Step& step) {
  const std::string_view op = step.node.op_type;
  if (!IsFloat(step.type) || !IsInOperators("Add Sub Mul Neg", op)) return false;
  const double most = kWholeShare / std::max(step.sides[0].kept, step.sides[1].kept);
  const auto inputs = step.graph.Inputs(step.node);
  const auto same = [&](std::string_view name) {
    const ErrorPrediction* input = Find(name);
    return input != nullptr && input->rms == 0 && input->absolute == 0;
  };
  // The product of both sizes is exact as well.
  const double each = op == "Mul" ? std::sqrt(most) : most;
  return std::ranges::all_of(inputs, same) &&
         std::ranges::all_of(inputs, [&](auto name) { return passed_on_.IsWhole(name, each); });
}

// Some subtract the zero point from the codes, which is exact, and others its product with the
// scale from that of the codes, which cancel.
void ErrorPropagation::RoundCodes(Step& step) {
  if (!IsFloat(step.type)) return;
  const auto inputs = step.graph.Inputs(step.node);
  const double shift = inputs.empty() ? 0 : passed_on_.Shift(step.node, TypeOf(inputs[0]));
  if (shift > 0) Add(step, 1, 1, kRoundingRms * shift);
}

// Some runtimes make one function of both quantisers, which rounds in floats between the ends of
// the range: exact to a unit of that, not of each value. In the tensor's own unit.
double ErrorPropagation::ErrorOfRange(const Step& step) {
  const auto inputs = step.graph.Inputs(step.node);
  if (!IsFloat(step.type) || inputs.empty() || !quantised_.contains(inputs[0])) return 0;
  const double range = passed_on_.Range(step.node, TypeOf(inputs[0]));
  return kRangeRoundoffs * range * std::max(step.sides[0].summed, step.sides[1].summed);
}

// What lies at the border is there twice.
void ErrorPropagation::Mirror(Step& step) const {
  NodeAttributes attributes(model_, step.node);
  const OnnxAttribute* mode = attributes.Find("mode");
  if (mode == nullptr || mode->s == "constant") return;
  ErrorPrediction& error = step.error;
  error.reached = std::min(error.reached * kMirrored, 1.0);
  error.fresh = std::min(error.fresh * kMirrored, 1.0);
  error.flipped *= std::sqrt(kMirrored);
}

// Constants and what is fed are the same on both sides.
bool ErrorPropagation::HasPassed(std::string_view name) {
  if (name.empty() || !seen_.values || seen_.values(name) == nullptr) return true;
  const auto known = has_passed_.find(name);
  if (known != has_passed_.end()) return known->second;
  const auto predicted = measured_.find(std::string(name));
  const bool passed =
      predicted != measured_.end() && seen_.passes(predicted->first, predicted->second);
  return has_passed_[name] = passed;
}

// Where one side alone rounds within the operator, what that makes is known better than by a rule:
// it replaces what is predicted.
bool ErrorPropagation::TakeStepsWithin(const Step& step, const PassedOn& passed,
                                       ErrorPrediction& error) const {
  if (OneQuantises() || first_.floats_within == second_.floats_within) return false;
  error.flipped = 0;
  error.reached = 1;  // `clean` is the root mean square of all elements, not what each stays within
  error.clean = kPassedTimes * passed.rms;
  error.typical = passed.rms;
  error.largest = passed.largest;
  AddTo(error, OwnVarianceOf(step.sides, kUnknownLength, RecurrentRoundoffs(step)));
  SetRms(error);
  return true;
}

// A logit that is off by a roundoff of its size, which is beyond 1, leaves nothing of the shares:
// that is more than any growth that values show may be.
bool ErrorPropagation::LeavesNothing(const Step& step) const {
  return step.node.op_type == "Softmax" && step.growth >= kMostGrowth;
}

// What both sides' inputs differ by is no fault of this operator.
void ErrorPropagation::TakePassedOn(const Step& step, size_t output, ErrorPrediction& error) {
  if (!seen_.passes) return;
  const bool within = step.rule != nullptr && HasStepsWithin(step);
  const bool behind_one_side = error.one_sided > 0 && !OneQuantises();
  const bool in_floats = error.quantisers == 0 && !within && !behind_one_side;
  if (in_floats && !LeavesNothing(step)) return;
  const auto inputs = step.graph.Inputs(step.node);
  const auto has_passed = [&](std::string_view name) { return HasPassed(name); };
  if (inputs.empty() || !std::ranges::all_of(inputs, has_passed)) return;
  const ErrorPrediction* first = Find(inputs[0]);
  const double known = first != nullptr ? kTieDeviations * first->typical : 0;
  // An own rounding may bring a difference over the limit.
  const double differs = std::max(error.clean, UnitRoundoff(DType::kFloat32)) / 2;
  const auto passed = passed_on_.Of(step.node, output, step.type, {differs, known});
  if (!passed || (within && TakeStepsWithin(step, *passed, error))) return;
  if (in_floats) {
    error.clean = std::max(error.clean, kPassedTimes * passed->rms);
    error.largest = std::max(error.largest, passed->largest);
    return SetRms(error);
  }
  const double squares = Square(passed->rms) + passed->ties * Square(passed->step);
  error.flipped = std::max(error.flipped, kPassedTimes * std::sqrt(squares));
  const double share = std::min(passed->differ + passed->ties, 1.0);
  error.fresh = std::max(error.fresh, share - error.reached);
  error.largest = std::max(error.largest, passed->largest);
  if (passed->ties > 0) error.largest = std::max(error.largest, passed->largest + passed->step);
  SetRms(error);
}

}  // namespace vernier
