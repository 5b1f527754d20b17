// What operators do to the errors that pass through them: the rules of ErrorPropagation.
#include <algorithm>
#include <bit>
#include <cmath>

#include "model/onnx/onnx_attributes.h"
#include "model/rounding/error_propagation.h"

namespace vernier {
namespace {

// Of a centred normalisation after values that are all positive: root mean square over deviation.
constexpr double kCentring = 1.3;
// What remains of errors when values of one sign are summed, at least.
constexpr double kAveraged = 0.35;
constexpr double kUnknownRoundoffs = 16;
// So many products of bytes fit into float32's 24 bits.
constexpr int64_t kExactIntegers = 256;
// Runtimes find a dynamic quantiser's scale in different ways.
constexpr double kScaleRoundoffs = 4;
// Scales, zero points and biases have lower ranks.
constexpr size_t kWeightRank = 2;
// Half the product of the scales of 8-bit values and weights, over what one product contributes.
constexpr double kBiasStep = 4e-4;
constexpr double kRoundStep = 0.1;
// The distance of neighbouring numbers of a float type, in roundoffs: from one to two.
constexpr double kRoundingStep = 1.5;
// Rows that a convolution's window lets a flip reach.
constexpr double kKernelSpread = 4;
// Shorter sums of equal terms have room in the bound of any terms.
constexpr int64_t kShortSum = 128;
// Beside the safety factor of float32.
constexpr double kAngleRoundoffs = 0.6;

// What is left of a typical growth where values have shown one, which the error has already.
double Remaining(double typical, double shown) {
  return shown > 1 ? std::max(typical / shown, 1.0) : typical;
}

// Of K squares of normally distributed values: their errors add up to root K of one, relative to
// root 3, and the sums are of the size root(K^2 + 2K).
double KeptBySums(int64_t length) {
  return std::max(std::sqrt(3 / (static_cast<double>(length) + 2)), kAveraged);
}

}  // namespace

// The inputs' errors, grown, and the node's own.
void ErrorPropagation::Add(Step& step, double growth, int64_t length, double roundoffs) const {
  ErrorPrediction& error = step.error;
  error.longest_sum = std::max(error.longest_sum, length);
  Grow(error, growth);
  AddTo(error, OwnVarianceOf(step.sides, static_cast<double>(length), roundoffs));
}

bool ErrorPropagation::IsSquare(const Step& step) {
  const auto inputs = step.graph.Inputs(step.node);
  return inputs.size() == 2 && inputs[0] == inputs[1];
}

void ErrorPropagation::ApplySteps(Step& step, double relative_step, Steps kind) {
  RoundToSteps(step.error, relative_step, Elements(step.graph.Outputs(step.node)[0]), kind);
}

// A short float has a roundoff instead of steps.
void ErrorPropagation::ApplyOneSided(Step& step, double relative_step) const {
  const DType type = TypeOf(step.graph.Outputs(step.node)[0]);
  const double steps_of_float = std::sqrt(12.0) * kRoundingRms * UnitRoundoff(type);
  AddStepsOfOneSide(step.error, IsFloat(type) ? steps_of_float : relative_step);
}

// The side that keeps weights in steps has rounded them.
void ErrorPropagation::RoundWeights(Step& step) const {
  if (!OneQuantises()) return;
  const bool packed = step.node.op_type == "MatMulNBits";
  for (const std::string_view name : step.graph.Inputs(step.node)) {
    const DType type = TypeOf(name);
    const Dims* dims = shapes_.Find(name);
    const bool is_weight = constants_.contains(name) && !IsFloat(type) && dims != nullptr;
    if (!is_weight || dims->size() < kWeightRank) continue;
    const int64_t bits = packed ? NodeAttributes(model_, step.node).Int("bits", 4) : BitsOf(type);
    return AddStepsOfOneSide(step.error, kRangeInDeviations / std::exp2(bits));
  }
}

// MatMulNBits rounds its first input at this accuracy level: to bytes.
bool ErrorPropagation::HasStepsWithin(const Step& step) const {
  constexpr int64_t kBytes = 4;
  if (step.rule->steps_within) return true;
  return step.node.op_type == "MatMulNBits" &&
         NodeAttributes(model_, step.node).Int("accuracy_level", 0) == kBytes;
}

// As DynamicQuantizeLinear before the operator would, where both sides do.
void ErrorPropagation::RoundWithin(Step& step) const {
  if (!HasStepsWithin(step)) return;
  constexpr double kByteStep = kRangeInDeviations / 256;
  if (OneQuantises() || first_.floats_within != second_.floats_within) {
    return AddStepsOfOneSide(step.error, kByteStep);
  }
  if (first_.floats_within) return;
  const auto inputs = step.graph.Inputs(step.node);
  ++step.error.quantisers;
  Add(step, 1, 1, kScaleRoundoffs);
  RoundToSteps(step.error, kByteStep, Elements(inputs.empty() ? "" : inputs[0]), Steps::kEqual);
}

void ErrorPropagation::ApplyQuantiser(Step& step, double relative_step) {
  ErrorPrediction& error = step.error;
  ++error.quantisers;
  // The division by the scale comes first.
  const bool own_scale = step.node.op_type == "DynamicQuantizeLinear";
  if (own_scale) {
    // A float of its own: whatever is read with it is as far off, all of it.
    step.scale = error;
    AddTo(*step.scale, OwnVarianceOf(step.sides, 1, kScaleRoundoffs));
    SetRms(*step.scale);
  }
  Add(step, 1, 1, own_scale ? kScaleRoundoffs : 1);
  ApplySteps(step, relative_step, Steps::kEqual);
  // Of ONNX Runtime's own operators types are not known: what they round to are codes.
  const DType type = TypeOf(step.graph.Outputs(step.node)[0]);
  error.steps = type == DType::kUndefined || IsIntegral(type);
}

void ErrorPropagation::ApplyQuantise(Step& step) {
  const DType type = TypeOf(step.graph.Outputs(step.node)[0]);
  const int bits = IsFloat(type) ? 4 : BitsOf(type);
  const double relative_step = kRangeInDeviations / std::exp2(bits > 0 ? bits : 8);
  if (!OneQuantises()) return ApplyQuantiser(step, relative_step);
  RoundWeights(step);
  ApplyOneSided(step, relative_step);
}

void ErrorPropagation::ApplyCast(Step& step) {
  const auto inputs = step.graph.Inputs(step.node);
  const DType from = inputs.empty() ? DType::kUndefined : TypeOf(inputs[0]);
  if (IsFloat(step.type)) {
    // Widening is exact. Where both sides narrow, they mostly round to the same value.
    const bool narrows = IsFloat(from) && UnitRoundoff(step.type) > UnitRoundoff(from);
    if (narrows && OneSkipsCasts()) return RoundShort(step, false);
    if (narrows) ApplySteps(step, kRoundingStep * UnitRoundoff(step.type), Steps::kOfFloats);
    return;
  }
  if (!IsFloat(from) || (step.error.typical == 0 && step.error.flipped == 0)) return;
  // Whole numbers are cast as they are: what Floor made of them is known already.
  if (!whole_.contains(inputs[0])) return ApplyQuantiser(step, kRoundStep);
  step.error.steps = IsIntegral(step.type);
}

// The sides that widen short types round such a value to its own type so many times.
void ErrorPropagation::AddShortRoundings(Step& step, int roundings) {
  const double own = UnitRoundoff(step.type);
  OwnVariance variance;
  for (const RunnerArithmetic& side : {first_, second_}) {
    if (!side.copies_in_own_type || own <= UnitRoundoff(side.computes_in)) continue;
    for (int i = 0; i < roundings; ++i) AddVariance(variance, own, kRoundingRms * own);
    for (const std::string_view name : step.graph.Outputs(step.node)) narrow_.insert(name);
    step.error.coarsest = Coarser(step.error.coarsest, step.type);
  }
  AddTo(step.error, variance);
}

// Runtimes that widen short types may still have operators in them: their inputs are rounded unless
// they come from such an operator, and the outputs of those that compute.
void ErrorPropagation::RoundShort(Step& step, bool computes) {
  const auto inputs = step.graph.Inputs(step.node);
  const bool was_narrow = !inputs.empty() && narrow_.contains(inputs[0]);
  AddShortRoundings(step, (was_narrow ? 0 : 1) + (computes ? 1 : 0));
}

// An output of the model has its own type, and what reads it reads the rounded value.
void ErrorPropagation::RoundKept(Step& step) {
  const auto inputs = step.graph.Inputs(step.node);
  const bool moves = step.rule != nullptr && step.rule->kind == ErrorKind::kMove;
  const bool narrow = narrow_.contains(step.graph.Outputs(step.node)[0]) ||
                      (moves && !inputs.empty() && narrow_.contains(inputs[0]));
  if (!narrow) AddShortRoundings(step, 1);
}

// Flips go from one element to all that it is summed into.
void ErrorPropagation::SpreadFlips(Step& step) const {
  const auto inputs = step.graph.Inputs(step.node);
  const Dims* x = inputs.empty() ? nullptr : shapes_.Find(inputs[0]);
  ErrorPrediction& error = step.error;
  if (x == nullptr || x->empty()) {
    error.reached = error.reached + error.fresh > 0 ? 1 : 0;
    return;
  }
  const bool channels_first = x->size() > 2 && step.rule->kind != ErrorKind::kReduce &&
                              (step.node.op_type.find("Conv") != std::string_view::npos ||
                               step.node.op_type.find("Pool") != std::string_view::npos ||
                               step.node.op_type == "InstanceNormalization");
  Spread(error, channels_first ? (*x)[1] : x->back());
  if (channels_first && step.rule->kind == ErrorKind::kMatrix &&
      lengths_.Of(step.graph, step.node, ErrorKind::kMatrix) > (*x)[1]) {
    error.reached = std::min(error.reached * kKernelSpread, 1.0);
  }
  int64_t rows = 1;  // that meet in every one
  if (step.node.op_type == "InstanceNormalization" && channels_first) {
    rows = lengths_.Of(step.graph, step.node, ErrorKind::kNorm);
  } else if (step.node.op_type == "MatMul" && x->size() > 2 && inputs.size() > 1 &&
             !constants_.contains(inputs[1])) {
    rows = (*x)[x->size() - 2];
  }
  if (rows > 1) Dilute(error, rows);
}

void ErrorPropagation::ApplyMatrix(Step& step) {
  ++step.error.layers;
  SpreadFlips(step);
  const bool integers = !IsFloat(step.type) && step.type != DType::kUndefined;
  if (integers) {
    const int64_t length = lengths_.Of(step.graph, step.node, step.rule->kind);
    step.error.longest_sum = std::max(step.error.longest_sum, length);
    // Some runtimes sum integers in float32, which is exact only so far.
    if (length > kExactIntegers) Add(step, 1, length, 1);
    return;
  }
  const int64_t length = lengths_.Of(step.graph, step.node, step.rule->kind);
  // Sums that cancel are less than what was summed, and than its errors.
  AddTo(step.error, OwnVarianceOf(step.sides, static_cast<double>(length) * Square(step.growth),
                                  step.rule->roundoffs));
  step.error.longest_sum = std::max(step.error.longest_sum, length);
  if (IsQuantisedWithBias(step)) RoundBias(step, length);
  const auto inputs = step.graph.Inputs(step.node);
  const bool bare =
      inputs.size() == 2 && from_steps_.contains(inputs[0]) && from_steps_.contains(inputs[1]);
  if (bare) step_products_[step.graph.Outputs(step.node)[0]] = length;
}

void ErrorPropagation::RoundBias(Step& step, int64_t length) const {
  const double bias = kBiasStep / std::sqrt(static_cast<double>(std::max<int64_t>(length, 1)));
  AddTo(step.error, {Square(bias), Square(bias)});
}

// The same where the bias is an Add behind a MatMul, which runtimes make one operator of.
void ErrorPropagation::RoundBiasOfSum(Step& step) const {
  const auto inputs = step.graph.Inputs(step.node);
  const bool joins = step.node.op_type == "Add" && inputs.size() == 2 &&
                     to_steps_.contains(step.graph.Outputs(step.node)[0]);
  for (size_t i = 0; joins && i < inputs.size(); ++i) {
    const auto product = step_products_.find(inputs[i]);
    if (product == step_products_.end() || !constants_.contains(inputs[1 - i])) continue;
    RoundBias(step, product->second);
  }
}

// Between quantisers, one runtime adds the bias as it is, another rounds it to the product of the
// scales first.
bool ErrorPropagation::IsQuantisedWithBias(const Step& step) const {
  const auto inputs = step.graph.Inputs(step.node);
  const auto outputs = step.graph.Outputs(step.node);
  return inputs.size() > 2 && from_steps_.contains(inputs[0]) && from_steps_.contains(inputs[1]) &&
         to_steps_.contains(outputs[0]);
}

void ErrorPropagation::ApplyRecurrent(Step& step) {
  ++step.error.layers;
  RoundWeights(step);
  const double roundoffs = RecurrentRoundoffs(step);
  Add(step, std::sqrt(kUnknownTrips), kUnknownLength, roundoffs);
  if (!HasStepsWithin(step)) return;
  // Its own state is rounded as well, and a flip reaches all that follows.
  RoundWithin(step);
  Spread(step.error, Elements(step.graph.Outputs(step.node)[0]));
  Add(step, 1, kUnknownLength, roundoffs);
}

// Lengths that are powers of two are transformed in log2(length) steps. For others, ONNX Runtime
// computes angles of up to the length in float32: measured, 1.5 to 2 roundoffs for each element.
void ErrorPropagation::ApplyFourier(Step& step) {
  ++step.error.layers;
  SpreadFlips(step);
  const int64_t length = lengths_.Of(step.graph, step.node, step.rule->kind);
  const bool fast = std::has_single_bit(static_cast<uint64_t>(length));
  const double angles = fast ? 0 : kAngleRoundoffs * static_cast<double>(length);
  Add(step, 1, length, step.rule->roundoffs + angles);
}

void ErrorPropagation::ApplyReduction(Step& step) {
  ErrorPrediction& error = step.error;
  const int64_t length = lengths_.Of(step.graph, step.node, step.rule->kind);
  const double kept = error.positive && length > 1 ? KeptBySums(length) : 1;
  Spread(error, length);
  error.reached = std::min(error.reached * static_cast<double>(length), 1.0);
  Add(step, Remaining(kept, step.growth), length, step.rule->roundoffs);
  if (length > kShortSum) AddPlainSum(step, length);
}

void ErrorPropagation::ApplyNorm(Step& step) {
  const std::string_view op = step.node.op_type;
  const bool centred = op.find("Normalization") != std::string_view::npos;
  const double typical = centred && step.error.positive ? kCentring : 1;
  const double centring = Remaining(typical, step.growth);
  if (op != "BatchNormalization") SpreadFlips(step);
  Add(step, centring, lengths_.Of(step.graph, step.node, step.rule->kind), step.rule->roundoffs);
  const bool has_short_kernel = op.find("LayerNormalization") != std::string_view::npos;
  if (has_short_kernel) RoundShort(step, true);
}

// Functions that are exact to a unit of their range. What copies them keeps that, and so does their
// mean, to which saturated values give nothing else; where they go into other sums and products,
// they are as typical as other values.
void ErrorPropagation::AddAbsolute(Step& step) {
  const bool copies = step.rule != nullptr &&
                      (step.rule->kind == ErrorKind::kMove || step.rule->kind == ErrorKind::kCast);
  const std::string_view op = step.node.op_type;
  const bool averages = op == "ReduceMean" || op == "Mean" || op.ends_with("AveragePool");
  if (!copies && !averages) step.error.absolute = 0;
  if (step.rule != nullptr && step.rule->kind == ErrorKind::kDequantise) {
    step.error.absolute = ErrorOfRange(step);
  }
  if (step.rule == nullptr || step.rule->absolute == 0) return;
  OwnVariance variance;
  for (const SideRoundoff& side : step.sides) {
    AddVariance(variance, side.summed, side.summed * step.rule->absolute);
  }
  step.error.absolute = std::sqrt(variance.bound);
}

void ErrorPropagation::ApplyPointwise(Step& step) {
  Add(step, Remaining(step.rule->growth, step.growth), 1, step.rule->roundoffs);
  RoundBiasOfSum(step);
  const bool has_short_kernel = step.node.op_type == "Erf" || step.node.op_type == "Gelu";
  if (has_short_kernel) RoundShort(step, true);
}

void ErrorPropagation::ApplyProduct(Step& step) {
  const double typical = step.rule->growth * (IsSquare(step) ? 2 : 1);
  Add(step, Remaining(typical, step.growth), 1, step.rule->roundoffs);
}

void ErrorPropagation::Apply(Step& step) {
  if (step.rule == nullptr) {
    ++step.error.unknown;
    return Add(step, 1, kUnknownLength, kUnknownRoundoffs);
  }
  ApplyRule(step);
}

void ErrorPropagation::ApplyRule(Step& step) {
  switch (step.rule->kind) {
    case ErrorKind::kMove:
      if (step.node.op_type == "Pad") Mirror(step);
      return RoundShort(step, false);
    case ErrorKind::kDequantise:
      RoundWeights(step);
      RoundCodes(step);
      return RoundShort(step, false);
    case ErrorKind::kPointwise:
      return ApplyPointwise(step);
    case ErrorKind::kProduct:
      return ApplyProduct(step);
    case ErrorKind::kMatrix:
      RoundWithin(step);
      RoundWeights(step);
      return ApplyMatrix(step);
    case ErrorKind::kReduce:
    case ErrorKind::kPool:
      return ApplyReduction(step);
    case ErrorKind::kNorm:
      return ApplyNorm(step);
    case ErrorKind::kFourier:
      return ApplyFourier(step);
    case ErrorKind::kRecurrent:
      return ApplyRecurrent(step);
    case ErrorKind::kQuantise:
      return ApplyQuantise(step);
    case ErrorKind::kRound:
      return ApplyQuantiser(step, kRoundStep);
    case ErrorKind::kCast:
      return ApplyCast(step);
    case ErrorKind::kExact:
    case ErrorKind::kConstant:
      step.error = {};
      return;
    case ErrorKind::kControl:
      return;
  }
}

}  // namespace vernier
