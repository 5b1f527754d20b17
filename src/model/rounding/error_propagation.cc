#include "model/rounding/error_propagation.h"

#include <algorithm>
#include <cmath>

#include "model/onnx/operator_list.h"
#include "model/rounding/near_ties.h"
#include "model/shapes/onnx_infer.h"
#include "util/values/list_has.h"

namespace vernier {
namespace {

constexpr int64_t kUnknownElements = 256;
// A measured error of few elements may be smaller than the next one's.
constexpr double kAgain = 2;
// A gain stays one from there on, and a bound takes one of 0.4 of its size: error_bound.cc.
constexpr double kAgainOfGain = 3;
constexpr double kMostlyGain = 0.4;
constexpr double kOutputStep = 2;
// Smaller bounds have room for errors that are not spread evenly.
constexpr double kThinBound = 1e-5;
constexpr int kNestingLimit = 32;

constexpr std::string_view kPositiveOperators[] = {
    "Relu",     "Sigmoid",         "Exp",      "Abs",        "Softmax", "Sqrt", "Softplus",
    "ReduceL2", "ReduceSumSquare", "ReduceL1", "HardSigmoid"};
constexpr std::string_view kKeepsPositive[] = {"MaxPool",        "AveragePool", "GlobalAveragePool",
                                               "GlobalMaxPool",  "Reshape",     "Flatten",
                                               "Transpose",      "Identity",    "Cast",
                                               "ReduceMean",     "ReduceSum",   "Dropout",
                                               "Squeeze",        "Unsqueeze",   "DequantizeLinear",
                                               "QuantizeLinear", "Add",         "Mul",
                                               "Concat"};

}  // namespace

ErrorPropagation::ErrorPropagation(const OnnxModel& model, std::span<const InputDims> inputs,
                                   RunnerArithmetic first, RunnerArithmetic second,
                                   const SeenOutputs& seen)
    : model_(model), shapes_(model, inputs), first_(first), second_(second), seen_(seen) {
  for (const ErrorRule& rule : kErrorRules) {
    ForEachOperator(rule.operators, [&](std::string_view name) { rules_.emplace(name, &rule); });
  }
  for (const OnnxFunction& function : model.contents().functions) rules_.erase(function.name);
  FindTypes();
  FindQuantisers();
}

void ErrorPropagation::KeepOutputs(std::span<const std::string> outputs) {
  for (const std::string& name : outputs) kept_.insert(name);
  for (const OnnxValue& value : model_.graph().outputs) kept_.insert(value.name);
  std::unordered_set<std::string_view> read;
  for (const OnnxNode& node : model_.graph().nodes) {
    for (const std::string_view name : model_.graph().Inputs(node)) read.insert(name);
  }
  std::erase_if(kept_, [&](std::string_view name) { return !read.contains(name); });
}

void ErrorPropagation::Run(const std::vector<uint32_t>& order, FedInputs fed) {
  const OnnxGraph& graph = model_.graph();
  for (const OnnxValue& input : graph.inputs) {
    Start(input.name, input.dtype);
    if (fed == FedInputs::kRounded) RoundInput(input);
  }
  alike_ = first_.copies_in_own_type || second_.copies_in_own_type;
  for (const OnnxTensor& tensor : graph.initializers) {
    Start(tensor.name, tensor.dtype);
    alike_ |= errors_[tensor.name].clean > 0;
    constants_.insert(tensor.name);
  }
  for (const uint32_t index : order) Visit(graph, graph.nodes[index], 0);
}

ErrorPredictions ErrorPropagation::Take() {
  for (const auto& [name, error] : errors_) measured_.emplace(name, AsOutput(name, error));
  return std::move(measured_);
}

ErrorPrediction ErrorPropagation::AsOutput(std::string_view name, ErrorPrediction error) const {
  const DType type = TypeOf(name);
  if (UnitRoundoff(type) > kCoarseRoundoff && !narrow_.contains(name)) {
    RoundToSteps(error, kOutputStep * UnitRoundoff(type), Elements(name), Steps::kOfFloats);
  }
  SetRms(error);
  error.alike = alike_;
  return error;
}

void ErrorPropagation::FindTypes() {
  std::vector<std::string_view> names;
  for (const OnnxNode& node : model_.graph().nodes) {
    for (const std::string_view name : model_.graph().Outputs(node)) {
      if (!name.empty()) names.push_back(name);
    }
  }
  const std::vector<InferredType> types = InferTypes(model_, names);
  for (size_t i = 0; i < names.size(); ++i) {
    types_[names[i]] = DTypeFromOnnx(types[i].onnx_type).value_or(DType::kUndefined);
  }
}

void ErrorPropagation::FindQuantisers() {
  const OnnxGraph& graph = model_.graph();
  // Codes that are fed to a part of a model are a quantiser's.
  for (const OnnxValue& input : graph.inputs) quantised_.insert(input.name);
  for (const OnnxTensor& tensor : graph.initializers) quantised_.erase(tensor.name);
  for (const OnnxNode& node : graph.nodes) {
    const auto inputs = graph.Inputs(node);
    const auto outputs = graph.Outputs(node);
    if (inputs.empty() || outputs.empty()) continue;
    if (node.op_type == "QuantizeLinear") {
      to_steps_.insert(inputs[0]);
      quantised_.insert(outputs[0]);
    }
    if (node.op_type == "DequantizeLinear") from_steps_.insert(outputs[0]);
  }
  // A rectifier is merged with what is before and behind it.
  for (const OnnxNode& node : graph.nodes) {
    const bool rectifier = node.op_type == "Relu" || node.op_type == "Clip";
    if (!rectifier || graph.Inputs(node).empty() || graph.Outputs(node).empty()) continue;
    if (to_steps_.contains(graph.Outputs(node)[0])) to_steps_.insert(graph.Inputs(node)[0]);
  }
}

// Inputs and weights are the same on both sides, but one that computes in a shorter type rounds
// them to it first.
void ErrorPropagation::Start(std::string_view name, DType dtype) {
  types_[name] = dtype;
  ErrorPrediction error;
  if (IsFloat(dtype)) {
    OwnVariance variance;
    for (const RunnerArithmetic& side : {first_, second_}) {
      const SideRoundoff roundoff = RoundoffOf(dtype, side);
      error.coarsest = Coarser(error.coarsest, roundoff.kept_in);
      if (roundoff.kept <= UnitRoundoff(dtype)) continue;
      AddVariance(variance, roundoff.kept, kRoundingRms * roundoff.kept);
    }
    AddTo(error, variance);
  }
  errors_[name] = error;
}

void ErrorPropagation::RoundInput(const OnnxValue& input) {
  if (!IsFloat(input.dtype)) return;
  const double roundoff = UnitRoundoff(input.dtype);
  OwnVariance rounding;
  AddVariance(rounding, roundoff, kRoundingRms * roundoff);
  AddTo(errors_[input.name], rounding);
}

DType ErrorPropagation::TypeOf(std::string_view name) const {
  const auto found = types_.find(name);
  return found == types_.end() ? DType::kUndefined : found->second;
}

const ErrorPrediction* ErrorPropagation::Find(std::string_view name) const {
  const auto found = errors_.find(name);
  return found == errors_.end() ? nullptr : &found->second;
}

int64_t ErrorPropagation::Elements(std::string_view name) const {
  const Dims* dims = shapes_.Find(name);
  return dims != nullptr ? ElementCount(*dims).value_or(kUnknownElements) : kUnknownElements;
}

// What was found on an output is more than what could be said before.
void ErrorPropagation::StartAgain(std::string_view name) {
  ErrorPrediction& error = errors_[name];
  const ErrorPrediction predicted = AsOutput(name, error);
  measured_.emplace(name, predicted);
  if (error.chosen > 0 && seen_.choices) {
    error.chosen = seen_.choices(name, predicted).value_or(error.chosen);
    error.chosen_rows = std::min(error.chosen_rows, MostRows(name, error.chosen));
  }
  if (!seen_.measure) return;
  const auto found = seen_.measure(std::string(name), predicted);
  if (!found) return;
  error.since = name;
  error.largest = found->largest;
  if (error.step == 0) {
    // What a runner computes on with may be more than what it gives.
    const double hidden = kRoundingRms * UnitRoundoff(TypeOf(name));
    const double all = std::hypot(found->typical, found->flipped);
    const double typical = std::hypot(all, hidden > kCoarseError ? hidden : 0);
    error.typical = std::min(error.typical, typical);
    const double again = std::max(kAgain * typical, kAgainOfGain * found->gain);
    error.clean = std::min(error.clean, again);
  } else {
    error.flips = error.fresh = 0;
    error.flipped = found->flipped;
    error.reached = found->reached;
    error.typical = found->typical;
    // What all elements share is no less of a share behind operators that copy or scale.
    const double all = std::hypot(found->typical, found->flipped);
    error.crossed |= found->gain > kMostlyGain * all;
  }
  SetRms(error);
}

// Bodies see the values around them. A loop adds the errors of its rounds.
void ErrorPropagation::VisitBodies(Step& step, int depth) {
  if (depth >= kNestingLimit) return;
  const bool repeats = step.node.op_type != "If";
  const auto inputs = step.graph.Inputs(step.node);
  const size_t skipped = step.node.op_type == "Loop" ? 1 : 0;
  ErrorPrediction result = step.error;
  for (const OnnxSubgraph& link : step.graph.Subgraphs(step.node)) {
    const OnnxGraph& body = model_.Subgraph(link);
    shapes_.Declare(body);
    for (size_t i = 0; i < body.inputs.size(); ++i) {
      const ErrorPrediction* outer = i < inputs.size() ? Find(inputs[i]) : nullptr;
      types_[body.inputs[i].name] = body.inputs[i].dtype;
      errors_[body.inputs[i].name] = outer != nullptr ? *outer : ErrorPrediction();
    }
    for (const OnnxTensor& tensor : body.initializers) Start(tensor.name, tensor.dtype);
    for (const OnnxNode& node : body.nodes) Visit(body, node, depth + 1);
    for (size_t i = skipped; i < body.outputs.size(); ++i) {
      if (const ErrorPrediction* out = Find(body.outputs[i].name)) Join(result, *out);
    }
  }
  if (repeats) Grow(result, std::sqrt(kUnknownTrips));
  step.error = result;
}

// What is counted from a measured error has little room: none for single elements where a function
// is steep, and where the error is large also none for products whose factors err together.
double ErrorPropagation::GrowthOfPairs(Step& step, double clean) {
  const bool thin = clean > kThinBound;
  if (!thin && SlopeOf(step.node.op_type) == nullptr) return 1;
  const PairGrowth pairs = growth_.OfPairs(step.graph, step.node);
  step.error.largest = std::max(step.error.largest, pairs.largest);
  return thin ? pairs.times : 1;
}

// Of the inputs, the worst, after what the operator makes of it as far as values tell.
ErrorPropagation::Joined ErrorPropagation::JoinInputs(Step& step) {
  const auto inputs = step.graph.Inputs(step.node);
  const bool is_matrix = step.rule != nullptr && step.rule->kind == ErrorKind::kMatrix;
  const bool node_joins = step.node.op_type == "Concat";
  Joined joined{!inputs.empty(), true};
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string_view name = inputs[i];
    joined.constant &= name.empty() || constants_.contains(name);
    const ErrorPrediction* input = Find(name);
    if (input == nullptr) continue;
    joined.positive &= input->positive;
    // Where values cancel, sums have larger errors of their own, too.
    const bool asked = is_matrix || input->rms > 0;
    double growth = asked ? growth_.Of(step.graph, step.node, i) : 1;
    if (!input->since.empty()) growth = std::max(growth, GrowthOfPairs(step, input->clean));
    ErrorPrediction grown = *input;
    if (node_joins) grown.part = std::max(grown.part, grown.rms);
    Grow(grown, growth);
    Join(step.error, grown);
    step.growth = std::max(step.growth, growth);
  }
  // What is centred is the first input; the others are a normalisation's weights.
  const ErrorPrediction* data = inputs.empty() ? nullptr : Find(inputs[0]);
  step.error.positive = data != nullptr && data->positive;
  return joined;
}

// What a rectifier leaves has the error of the values before, whose scale is known or not.
void ErrorPropagation::Rectify(Step& step) {
  const bool rectifies = step.node.op_type == "Relu" || step.node.op_type == "Clip";
  const bool moves = step.rule != nullptr && step.rule->kind == ErrorKind::kMove;
  ErrorPrediction& error = step.error;
  if (!rectifies) {
    error.rectified &= moves;
    error.thinned &= moves;
    return;
  }
  const auto inputs = step.graph.Inputs(step.node);
  const bool seen = !inputs.empty() && growth_.Scale(inputs[0]) > 0 &&
                    growth_.Scale(step.graph.Outputs(step.node)[0]) > 0;
  error.rectified = true;
  error.thinned = !seen;
}

// An error in a tensor's own unit, where its scale is known.
void ErrorPropagation::MakeRelative(std::string_view name, ErrorPrediction& error) {
  const double scale = error.absolute > 0 ? growth_.Scale(name) : 0;
  if (!(scale > 0)) return;
  const double relative = error.absolute / scale;
  AddTo(error, {Square(relative), Square(kTypicalShare * relative)});
  error.absolute = 0;
  SetRms(error);
}

void ErrorPropagation::AssumeSeenSizes(std::span<const std::string_view> outputs) {
  if (!seen_.dims) return;
  for (const std::string_view name : outputs) {
    const Dims* seen = shapes_.Find(name) == nullptr ? seen_.dims(name) : nullptr;
    if (seen != nullptr) shapes_.Assume(name, *seen);
  }
}

// Whole numbers that are computed from whole numbers which are the same on both sides.
bool ErrorPropagation::IsExactArithmetic(const Step& step) const {
  const bool sums = step.rule == nullptr || step.rule->kind == ErrorKind::kMatrix ||
                    step.rule->kind == ErrorKind::kControl;
  const auto is_whole = [](DType type) {
    return type == DType::kBool || Kind(type) == DTypeKind::kSignedInt ||
           Kind(type) == DTypeKind::kUnsignedInt;
  };
  if (sums || !is_whole(step.type)) return false;
  const auto inputs = step.graph.Inputs(step.node);
  return std::all_of(inputs.begin(), inputs.end(), [&](std::string_view name) {
    const ErrorPrediction* input = Find(name);
    const bool same = input == nullptr || (input->rms == 0 && input->absolute == 0);
    return name.empty() || (is_whole(TypeOf(name)) && same);
  });
}

// What the operator makes of its inputs' errors.
void ErrorPropagation::PassOn(Step& step, Joined joined, int depth) {
  const bool controls = step.rule != nullptr && step.rule->kind == ErrorKind::kControl;
  const bool exact = IsExactArithmetic(step) || IsExactInFloats(step);
  const std::string_view op = step.node.op_type;
  if (controls) {
    VisitBodies(step, depth);
  } else {
    Apply(step);
    AddAbsolute(step);
    Rectify(step);
    NoteWhole(step);
  }
  step.error.crossed = CrossesErrors(step);
  if (exact) step.error = {};
  // What bodies have chosen stays; all else is counted for each output.
  if (!controls) step.error.chosen = step.error.chosen_rows = 0;
  if (step.rule == nullptr || step.rule->kind != ErrorKind::kMove) step.error.part = 0;
  step.error.positive = ListHas(kPositiveOperators, op) || (op == "Mul" && IsSquare(step)) ||
                        (joined.positive && ListHas(kKeepsPositive, op));
  if (!IsFloat(step.type) && step.type != DType::kUndefined) return;
  for (const SideRoundoff& side : step.sides) {
    step.error.coarsest = Coarser(step.error.coarsest, side.kept_in);
  }
  if (IsFloat(step.type)) step.error.steps = false;
}

void ErrorPropagation::Store(const Step& step, Joined joined, size_t output, int depth) {
  const std::string_view name = step.graph.Outputs(step.node)[output];
  if (name.empty()) return;
  const OpenShare open = OpenBehind(step, name);
  if (joined.constant) constants_.insert(name);
  ErrorPrediction& error = errors_[name] = output == 1 && step.scale ? *step.scale : step.error;
  if (IsChoice(step.node.op_type, output)) {
    error = ErrorPrediction();
    error.chosen = ChosenHere(step, output);
    error.chosen_rows = MostRows(name, error.chosen);
  }
  error.chosen = std::max(error.chosen, open.elements);
  error.chosen_rows = std::max(error.chosen_rows, open.rows);
  TakePart(step, name, error);
  TakeExtreme(step, name, error);
  MakeRelative(name, error);
  if (depth == 0) TakePassedOn(step, output, error);
  if (depth == 0 && kept_.contains(name)) StartAgain(name);
}

void ErrorPropagation::Visit(const OnnxGraph& graph, const OnnxNode& node, int depth) {
  shapes_.Visit(graph, node);
  const auto outputs = graph.Outputs(node);
  if (outputs.empty()) return;
  if (depth == 0) AssumeSeenSizes(outputs);
  const auto rule = rules_.find(node.op_type);
  Step step{graph, node, rule == rules_.end() ? nullptr : rule->second, {}, {}, TypeOf(outputs[0])};
  const Joined joined = JoinInputs(step);
  step.sides[0] = RoundoffOf(step.type, first_);
  step.sides[1] = RoundoffOf(step.type, second_);
  PassOn(step, joined, depth);
  if (kept_.contains(outputs[0])) RoundKept(step);
  SetRms(step.error);
  for (size_t i = 0; i < outputs.size(); ++i) Store(step, joined, i, depth);
}

}  // namespace vernier
