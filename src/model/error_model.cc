#include "model/error_model.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "model/error_growth.h"
#include "model/error_lengths.h"
#include "model/error_rules.h"
#include "model/onnx_infer.h"
#include "model/onnx_order.h"

namespace vernier {
namespace {

// Of a centred normalisation after values that are all positive: root mean square over deviation.
constexpr double kCentring = 1.3;
// What remains of errors when values of one sign are summed.
constexpr double kAveraged = 0.35;
constexpr double kUnknownRoundoffs = 16;
// So many products of bytes fit into float32's 24 bits.
constexpr int64_t kExactIntegers = 256;
constexpr int64_t kUnknownElements = 256;
constexpr double kUnknownTrips = 100;
// A quantiser's step over the root mean square of its values: a range of four deviations to either
// side in 255 steps.
constexpr double kRangeInDeviations = 9;
// A measured error of few elements may be smaller than the next one's.
constexpr double kAgain = 2;
// Runtimes find a dynamic quantiser's scale in different ways.
constexpr double kScaleRoundoffs = 4;
// Half the product of the scales of 8-bit values and weights, over what one product contributes.
constexpr double kBiasStep = 4e-4;
constexpr double kRoundStep = 0.1;
// The distance of neighbouring numbers of a float type, in roundoffs: from one to two.
constexpr double kRoundingStep = 1.5;
constexpr double kOutputStep = 2;
// Rows that a convolution's window lets a flip reach.
constexpr double kKernelSpread = 4;
constexpr int kNestingLimit = 32;

bool IsFloat(DType dtype) { return Kind(dtype) == DTypeKind::kFloat; }

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

template <size_t N>
bool Contains(const std::string_view (&list)[N], std::string_view word) {
  return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

class Propagation {
 public:
  Propagation(const OnnxModel& model, std::span<const InputDims> inputs, RunnerArithmetic first,
              RunnerArithmetic second)
      : model_(model), shapes_(model, inputs), first_(first), second_(second) {
    for (const ErrorRule& rule : kErrorRules) AddRule(rule);
    for (const OnnxFunction& function : model.contents().functions) rules_.erase(function.name);
    FindTypes();
    FindQuantisers();
  }

  void KeepOutputs(std::span<const std::string> outputs) {
    for (const std::string& name : outputs) kept_.insert(name);
    for (const OnnxValue& value : model_.graph().outputs) kept_.insert(value.name);
    std::unordered_set<std::string_view> read;
    for (const OnnxNode& node : model_.graph().nodes) {
      for (const std::string_view name : model_.graph().Inputs(node)) read.insert(name);
    }
    std::erase_if(kept_, [&](std::string_view name) { return !read.contains(name); });
  }

  void Run(const std::vector<uint32_t>& order, FedInputs fed) {
    const OnnxGraph& graph = model_.graph();
    for (const OnnxValue& input : graph.inputs) {
      Start(input.name, input.dtype);
      if (fed == FedInputs::kRounded) RoundInput(input);
    }
    for (const OnnxTensor& tensor : graph.initializers) {
      Start(tensor.name, tensor.dtype);
      constants_.insert(tensor.name);
    }
    for (const uint32_t index : order) Visit(graph, graph.nodes[index], 0);
  }

  void MeasureWith(const MeasureError& measure) { measure_ = measure; }

  ErrorPredictions Take() {
    for (const auto& [name, error] : errors_) measured_.emplace(name, AsOutput(name, error));
    return std::move(measured_);
  }

 private:
  struct Step {
    const OnnxGraph& graph;
    const OnnxNode& node;
    const ErrorRule* rule;
    ErrorPrediction error;  // of the inputs, joined; the outputs' when done
    SideRoundoff sides[2];
    DType type = DType::kUndefined;  // of the first output
  };

  ErrorPrediction AsOutput(std::string_view name, ErrorPrediction error) const {
    const DType type = TypeOf(name);
    if (UnitRoundoff(type) > kCoarseRoundoff && !narrow_.contains(name)) {
      RoundToSteps(error, kOutputStep * UnitRoundoff(type), Elements(name), Steps::kOfFloats);
    }
    SetRms(error);
    return error;
  }

  void AddRule(const ErrorRule& rule) {
    std::string_view rest = rule.operators;
    while (!rest.empty()) {
      const size_t end = std::min(rest.find(' '), rest.size());
      rules_.emplace(rest.substr(0, end), &rule);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }

  void FindTypes() {
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

  void FindQuantisers() {
    const OnnxGraph& graph = model_.graph();
    for (const OnnxNode& node : graph.nodes) {
      const auto inputs = graph.Inputs(node);
      const auto outputs = graph.Outputs(node);
      if (inputs.empty() || outputs.empty()) continue;
      if (node.op_type == "QuantizeLinear") to_steps_.insert(inputs[0]);
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
  void Start(std::string_view name, DType dtype) {
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

  void RoundInput(const OnnxValue& input) {
    if (!IsFloat(input.dtype)) return;
    const double roundoff = UnitRoundoff(input.dtype);
    OwnVariance rounding;
    AddVariance(rounding, roundoff, kRoundingRms * roundoff);
    AddTo(errors_[input.name], rounding);
  }

  DType TypeOf(std::string_view name) const {
    const auto found = types_.find(name);
    return found == types_.end() ? DType::kUndefined : found->second;
  }

  const ErrorPrediction* Find(std::string_view name) const {
    const auto found = errors_.find(name);
    return found == errors_.end() ? nullptr : &found->second;
  }

  void Visit(const OnnxGraph& graph, const OnnxNode& node, int depth);
  void VisitBodies(Step& step, int depth);
  void Apply(Step& step);
  void ApplyMatrix(Step& step);
  void SpreadFlips(Step& step) const;
  void StartAgain(std::string_view name);
  bool IsQuantisedWithBias(const Step& step) const;
  void ApplyCast(Step& step);
  void RoundShort(Step& step, bool computes);
  void ApplySteps(Step& step, double relative_step, Steps kind);
  void ApplyQuantiser(Step& step, double relative_step);
  bool IsSquare(const Step& step) const;
  int64_t Elements(std::string_view name) const {
    const Dims* dims = shapes_.Find(name);
    return dims != nullptr ? ElementCount(*dims).value_or(kUnknownElements) : kUnknownElements;
  }
  // The inputs' errors, grown, and the node's own.
  void Add(Step& step, double growth, int64_t length, double roundoffs) const {
    ErrorPrediction& error = step.error;
    error.longest_sum = std::max(error.longest_sum, length);
    Grow(error, growth);
    AddTo(error, OwnVarianceOf(step.sides, static_cast<double>(length), roundoffs));
  }

  const OnnxModel& model_;
  ShapeTracker shapes_;
  SumLengths lengths_{model_, shapes_};
  RunnerArithmetic first_, second_;
  std::unordered_map<std::string_view, const ErrorRule*> rules_;
  std::unordered_map<std::string_view, DType> types_;
  std::unordered_map<std::string_view, ErrorPrediction> errors_;
  ErrorPredictions measured_;  // of outputs that are read further on, as predicted
  MeasureError measure_;
  std::unordered_set<std::string_view> constants_;   // initializers and what is made of them
  std::unordered_set<std::string_view> to_steps_;    // read by a QuantizeLinear
  std::unordered_set<std::string_view> from_steps_;  // written by a DequantizeLinear
  std::unordered_set<std::string_view> kept_;        // outputs that are read further on
  std::unordered_set<std::string_view> narrow_;      // values rounded to a short type of their own
};

bool Propagation::IsSquare(const Step& step) const {
  const auto inputs = step.graph.Inputs(step.node);
  return inputs.size() == 2 && inputs[0] == inputs[1];
}

void Propagation::ApplySteps(Step& step, double relative_step, Steps kind) {
  RoundToSteps(step.error, relative_step, Elements(step.graph.Outputs(step.node)[0]), kind);
}

void Propagation::ApplyQuantiser(Step& step, double relative_step) {
  ErrorPrediction& error = step.error;
  ++error.quantisers;
  // The division by the scale comes first.
  const bool own_scale = step.node.op_type == "DynamicQuantizeLinear";
  Add(step, 1, 1, own_scale ? kScaleRoundoffs : 1);
  ApplySteps(step, relative_step, Steps::kEqual);
  const DType type = TypeOf(step.graph.Outputs(step.node)[0]);
  error.steps = Kind(type) == DTypeKind::kSignedInt || Kind(type) == DTypeKind::kUnsignedInt;
}

void Propagation::ApplyCast(Step& step) {
  const auto inputs = step.graph.Inputs(step.node);
  const DType from = inputs.empty() ? DType::kUndefined : TypeOf(inputs[0]);
  if (IsFloat(step.type)) {
    // Widening is exact. Where both sides narrow, they mostly round to the same value.
    const bool narrows = IsFloat(from) && UnitRoundoff(step.type) > UnitRoundoff(from);
    if (narrows) ApplySteps(step, kRoundingStep * UnitRoundoff(step.type), Steps::kOfFloats);
    return;
  }
  if (IsFloat(from) && (step.error.typical > 0 || step.error.flipped > 0))
    ApplyQuantiser(step, kRoundStep);
}

// Runtimes that widen short types may still have operators in them: their inputs are rounded unless
// they come from such an operator, and the outputs of those that compute.
void Propagation::RoundShort(Step& step, bool computes) {
  const auto inputs = step.graph.Inputs(step.node);
  const bool was_narrow = (!inputs.empty() && narrow_.contains(inputs[0])) ||
                          narrow_.contains(step.graph.Outputs(step.node)[0]);
  const int roundings = (was_narrow ? 0 : 1) + (computes ? 1 : 0);
  const double own = UnitRoundoff(step.type);
  OwnVariance variance;
  for (const RunnerArithmetic& side : {first_, second_}) {
    if (!side.copies_in_own_type || own <= UnitRoundoff(side.computes_in)) continue;
    for (int i = 0; i < roundings; ++i) AddVariance(variance, own, kRoundingRms * own);
    for (const std::string_view name : step.graph.Outputs(step.node)) narrow_.insert(name);
  }
  AddTo(step.error, variance);
}

// Flips go from one element to all that it is summed into.
void Propagation::SpreadFlips(Step& step) const {
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

void Propagation::ApplyMatrix(Step& step) {
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
  Add(step, 1, length, step.rule->roundoffs);
  if (!IsQuantisedWithBias(step)) return;
  const double bias = kBiasStep / std::sqrt(static_cast<double>(std::max<int64_t>(length, 1)));
  AddTo(step.error, {Square(bias), Square(bias)});
}

// Between quantisers, one runtime adds the bias as it is, another rounds it to the product of the
// scales first.
bool Propagation::IsQuantisedWithBias(const Step& step) const {
  const auto inputs = step.graph.Inputs(step.node);
  const auto outputs = step.graph.Outputs(step.node);
  return inputs.size() > 2 && from_steps_.contains(inputs[0]) && from_steps_.contains(inputs[1]) &&
         to_steps_.contains(outputs[0]);
}

void Propagation::Apply(Step& step) {
  ErrorPrediction& error = step.error;
  const ErrorRule& rule = *step.rule;
  switch (rule.kind) {
    case ErrorKind::kMove:
      return RoundShort(step, false);
    case ErrorKind::kPointwise: {
      Add(step, rule.growth, 1, rule.roundoffs);
      const bool has_short_kernel = step.node.op_type == "Erf" || step.node.op_type == "Gelu";
      if (has_short_kernel) RoundShort(step, true);
      return;
    }
    case ErrorKind::kProduct:
      return Add(step, rule.growth * (IsSquare(step) ? 2 : 1), 1, rule.roundoffs);
    case ErrorKind::kMatrix:
      return ApplyMatrix(step);
    case ErrorKind::kReduce:
    case ErrorKind::kPool: {
      const int64_t length = lengths_.Of(step.graph, step.node, step.rule->kind);
      const double kept = error.positive && length > 1 ? kAveraged : 1;
      Spread(error, length);
      error.reached = std::min(error.reached * static_cast<double>(length), 1.0);
      return Add(step, kept, length, rule.roundoffs);
    }
    case ErrorKind::kNorm: {
      const bool centred = step.node.op_type.find("Normalization") != std::string_view::npos;
      const double centring = centred && error.positive ? kCentring : 1;
      if (step.node.op_type != "BatchNormalization") SpreadFlips(step);
      Add(step, centring, lengths_.Of(step.graph, step.node, step.rule->kind), rule.roundoffs);
      const bool has_short_kernel =
          step.node.op_type.find("LayerNormalization") != std::string_view::npos;
      if (has_short_kernel) RoundShort(step, true);
      return;
    }
    case ErrorKind::kRecurrent:
      ++error.layers;
      return Add(step, std::sqrt(kUnknownTrips), kUnknownLength, rule.roundoffs * 10);
    case ErrorKind::kQuantise: {
      const DType type = TypeOf(step.graph.Outputs(step.node)[0]);
      const int bits = Kind(type) == DTypeKind::kFloat ? 4 : BitsOf(type);
      return ApplyQuantiser(step, kRangeInDeviations / std::exp2(bits > 0 ? bits : 8));
    }
    case ErrorKind::kRound:
      return ApplyQuantiser(step, kRoundStep);
    case ErrorKind::kCast:
      return ApplyCast(step);
    case ErrorKind::kExact:
    case ErrorKind::kConstant:
      error = {};
      return;
    case ErrorKind::kControl:
      return;
  }
}

// What was found on an output is more than what could be said before.
void Propagation::StartAgain(std::string_view name) {
  ErrorPrediction& error = errors_[name];
  const ErrorPrediction predicted = AsOutput(name, error);
  measured_.emplace(name, predicted);
  if (measure_ == nullptr) return;
  const auto found = measure_(std::string(name), predicted);
  if (!found) return;
  error.since = name;
  if (error.step == 0) {
    // What a runner computes on with may be more than what it gives.
    const double hidden = kRoundingRms * UnitRoundoff(TypeOf(name));
    const double all = std::hypot(found->typical, found->flipped);
    const double typical = std::hypot(all, hidden > kCoarseError ? hidden : 0);
    error.typical = std::min(error.typical, typical);
    error.clean = std::min(error.clean, kAgain * typical);
  } else {
    error.flips = error.fresh = 0;
    error.flipped = found->flipped;
    error.reached = found->reached;
    error.typical = found->typical;
  }
  SetRms(error);
}

// Bodies see the values around them. A loop adds the errors of its rounds.
void Propagation::VisitBodies(Step& step, int depth) {
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

void Propagation::Visit(const OnnxGraph& graph, const OnnxNode& node, int depth) {
  shapes_.Visit(graph, node);
  const auto outputs = graph.Outputs(node);
  if (outputs.empty()) return;
  const auto rule = rules_.find(node.op_type);
  Step step{graph, node, rule == rules_.end() ? nullptr : rule->second, {}, {}, TypeOf(outputs[0])};
  bool all_positive = true;
  bool constant = !graph.Inputs(node).empty();
  for (const std::string_view name : graph.Inputs(node)) {
    constant &= name.empty() || constants_.contains(name);
    const ErrorPrediction* input = Find(name);
    if (input == nullptr) continue;
    Join(step.error, *input);
    all_positive &= input->positive;
  }
  // What is centred is the first input; the others are a normalisation's weights.
  const auto inputs = graph.Inputs(node);
  const ErrorPrediction* data = inputs.empty() ? nullptr : Find(inputs[0]);
  step.error.positive = data != nullptr && data->positive;
  step.sides[0] = RoundoffOf(step.type, first_);
  step.sides[1] = RoundoffOf(step.type, second_);
  if (step.rule == nullptr) {
    ++step.error.unknown;
    Add(step, 1, kUnknownLength, kUnknownRoundoffs);
  } else if (step.rule->kind == ErrorKind::kControl) {
    VisitBodies(step, depth);
  } else {
    Apply(step);
  }
  step.error.positive = Contains(kPositiveOperators, node.op_type) ||
                        (node.op_type == "Mul" && IsSquare(step)) ||
                        (all_positive && Contains(kKeepsPositive, node.op_type));
  if (IsFloat(step.type) || step.type == DType::kUndefined) {
    for (const SideRoundoff& side : step.sides) {
      step.error.coarsest = Coarser(step.error.coarsest, side.kept_in);
    }
    step.error.steps = false;
  }
  if (kept_.contains(outputs[0])) RoundShort(step, false);
  SetRms(step.error);
  for (const std::string_view name : outputs) {
    if (name.empty()) continue;
    if (constant) constants_.insert(name);
    errors_[name] = step.error;
    if (depth == 0 && kept_.contains(name)) StartAgain(name);
  }
}

}  // namespace

Result<ErrorPredictions> PredictErrors(const OnnxModel& model, std::span<const InputDims> inputs,
                                       RunnerArithmetic first, RunnerArithmetic second,
                                       std::span<const std::string> outputs, FedInputs fed,
                                       const MeasureError& measure) {
  VERNIER_ASSIGN_OR_RETURN(const std::vector<uint32_t> order, TopologicalOrder(model));
  Propagation propagation(model, inputs, first, second);
  propagation.KeepOutputs(outputs);
  propagation.MeasureWith(measure);
  propagation.Run(order, fed);
  return propagation.Take();
}

ErrorPrediction PredictFromDType(DType dtype, RunnerArithmetic first, RunnerArithmetic second) {
  constexpr double kLayers = 50;
  constexpr double kLength = 4096;
  ErrorPrediction error;
  if (!IsFloat(dtype)) return error;
  const SideRoundoff sides[2] = {RoundoffOf(dtype, first), RoundoffOf(dtype, second)};
  const OwnVariance own = OwnVarianceOf(sides, kLength, 1);
  AddTo(error, {kLayers * own.bar, kLayers * own.typical});
  SetRms(error);
  error.coarsest = Coarser(sides[0].kept_in, sides[1].kept_in);
  return error;
}

}  // namespace vernier
