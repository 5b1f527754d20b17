#include "model/error_model.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "model/error_rules.h"
#include "model/onnx_attributes.h"
#include "model/onnx_infer.h"
#include "model/onnx_order.h"

namespace vernier {
namespace {

// The root mean square of rounding errors, in roundoffs: uniform errors, mantissas of all sizes.
constexpr double kRoundingRms = 0.45;
// The same for a running sum of K products, over the square root of K.
constexpr double kSumRms = 0.3;
// What runtimes do differently in float32 (order of sums, Winograd, approximated functions) is
// known to a factor only, and a fault is far above it. Of the two short types' roundings there is
// less doubt, and less room.
constexpr double kSafetyFine = 6;
constexpr double kSafetyCoarse = 1.5;
constexpr double kCoarseRoundoff = 1.0 / (1 << 20);
// Of a centred normalisation after values that are all positive: root mean square over deviation.
constexpr double kCentring = 1.3;
// What remains of errors when values of one sign are summed.
constexpr double kAveraged = 0.35;
constexpr int64_t kUnknownLength = 1024;
constexpr double kUnknownRoundoffs = 16;
// So many products of bytes fit into float32's 24 bits.
constexpr int64_t kExactIntegers = 256;
constexpr int64_t kUnknownElements = 256;
constexpr double kUnknownTrips = 100;
// A quantiser's step over the root mean square of its values: a range of four deviations to either
// side in 255 steps.
constexpr double kRangeInDeviations = 9;
// How far bars lie above typical errors, of float32 and of the short types: flips are counted with
// typical ones. Between the two lies this size of error.
constexpr double kMarginFine = 20;
constexpr double kMarginCoarse = 1.5;
constexpr double kCoarseError = 2e-5;
// Where so many elements flip, no row is clean.
constexpr double kManyFlips = 0.2;
// Half the product of the scales of 8-bit values and weights, over what one product contributes.
constexpr double kBiasStep = 4e-4;
constexpr double kRoundStep = 0.1;
// The distance of neighbouring numbers of a float type, in roundoffs: from one to two.
constexpr double kRoundingStep = 1.5;
constexpr double kOutputStep = 2;
constexpr int kNestingLimit = 32;

double Square(double x) { return x * x; }

double Safety(double roundoff) { return roundoff > kCoarseRoundoff ? kSafetyCoarse : kSafetyFine; }

bool IsFloat(DType dtype) { return Kind(dtype) == DTypeKind::kFloat; }

DType Coarser(DType a, DType b) { return UnitRoundoff(b) > UnitRoundoff(a) ? b : a; }

// What one side rounds to.
struct SideRoundoff {
  double kept = 0;    // tensors, when they are stored
  double summed = 0;  // sums and functions: short types are computed in float32
  DType kept_in = DType::kUndefined;
};

SideRoundoff RoundoffOf(DType tensor, RunnerArithmetic side) {
  const DType own = IsFloat(tensor) ? tensor : DType::kFloat32;
  SideRoundoff roundoff;
  roundoff.kept_in = IsFloat(side.computes_in) ? side.computes_in : own;
  roundoff.kept = UnitRoundoff(roundoff.kept_in);
  roundoff.summed = std::min(roundoff.kept, UnitRoundoff(DType::kFloat32));
  return roundoff;
}

// The variance of what both sides add when a tensor is computed with sums of `length` terms.
double OwnVariance(const SideRoundoff (&sides)[2], double length, double roundoffs) {
  double variance = 0;
  for (const SideRoundoff& side : sides) {
    const double computed = side.summed * (kSumRms * std::sqrt(length) + roundoffs);
    variance += Square(Safety(side.summed) * computed);
    variance += Square(Safety(side.kept) * kRoundingRms * side.kept);
  }
  return variance;
}

void Join(ErrorPrediction& into, const ErrorPrediction& other) {
  into.rms = std::max(into.rms, other.rms);
  into.clean = std::max(into.clean, other.clean);
  into.flips = std::max(into.flips, other.flips);
  into.longest_sum = std::max(into.longest_sum, other.longest_sum);
  into.layers = std::max(into.layers, other.layers);
  into.quantisers = std::max(into.quantisers, other.quantisers);
  into.unknown = std::max(into.unknown, other.unknown);
  into.coarsest = Coarser(into.coarsest, other.coarsest);
  into.step = std::max(into.step, other.step);
  into.steps |= other.steps;
}

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

// Two sides that differ by d, rounded to steps, differ in a share d / step of their elements, by
// one step each. Few elements are a small sample of that.
void RoundToSteps(ErrorPrediction& error, double step, int64_t elements) {
  if (error.rms == 0) return;
  const auto count = static_cast<double>(std::max<int64_t>(elements, 1));
  const double margin = error.clean > kCoarseError ? kMarginCoarse : kMarginFine;
  error.flips += 0.8 * error.clean / margin / step * count;
  if (0.8 * error.clean / step > kManyFlips) error.flips += count;
  error.clean = 0;  // where no element flips, the sides are equal again
  error.step = std::max(error.step, step);
  double share = std::min(0.8 * error.rms / step, 1.0);
  share += (3 * std::sqrt(share * count) + 3) / count;
  error.rms = std::sqrt(std::min(share * Square(step), Square(error.rms) + Square(step) / 2));
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
    for (const OnnxTensor& tensor : graph.initializers) Start(tensor.name, tensor.dtype);
    for (const uint32_t index : order) Visit(graph, graph.nodes[index], 0);
  }

  ErrorPredictions Take() {
    ErrorPredictions out;
    for (const auto& [name, error] : errors_) {
      ErrorPrediction as_output = error;
      const DType type = TypeOf(name);
      if (UnitRoundoff(type) > kCoarseRoundoff && !narrow_.contains(name)) {
        RoundToSteps(as_output, kOutputStep * UnitRoundoff(type), Elements(name));
      }
      out.emplace(name, as_output);
    }
    return out;
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
      double variance = 0;
      for (const RunnerArithmetic& side : {first_, second_}) {
        const SideRoundoff roundoff = RoundoffOf(dtype, side);
        error.coarsest = Coarser(error.coarsest, roundoff.kept_in);
        if (roundoff.kept <= UnitRoundoff(dtype)) continue;
        variance += Square(Safety(roundoff.kept) * kRoundingRms * roundoff.kept);
      }
      error.rms = error.clean = std::sqrt(variance);
    }
    errors_[name] = error;
  }

  void RoundInput(const OnnxValue& input) {
    if (!IsFloat(input.dtype)) return;
    const double roundoff = UnitRoundoff(input.dtype);
    ErrorPrediction& error = errors_[input.name];
    error.rms = std::hypot(error.rms, Safety(roundoff) * kRoundingRms * roundoff);
    error.clean = error.rms;
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
  bool IsQuantisedWithBias(const Step& step) const;
  void ApplyCast(Step& step);
  void RoundShort(Step& step, bool computes);
  void ApplySteps(Step& step, double relative_step);
  void ApplyQuantiser(Step& step, double relative_step);
  bool IsSquare(const Step& step) const;
  int64_t SumLength(const Step& step) const;
  int64_t MatrixLength(const Step& step) const;
  int64_t ReducedLength(const Step& step) const;
  int64_t NormLength(const Step& step) const;
  int64_t PoolLength(const Step& step) const;
  int64_t Elements(std::string_view name) const {
    const Dims* dims = shapes_.Find(name);
    return dims != nullptr ? ElementCount(*dims).value_or(kUnknownElements) : kUnknownElements;
  }
  // The inputs' errors, grown, and the node's own.
  void Add(Step& step, double growth, int64_t length, double roundoffs) const {
    ErrorPrediction& error = step.error;
    error.longest_sum = std::max(error.longest_sum, length);
    const double own = OwnVariance(step.sides, static_cast<double>(length), roundoffs);
    error.rms = std::sqrt(Square(error.rms * growth) + own);
    error.clean = std::sqrt(Square(error.clean * growth) + own);
  }

  const OnnxModel& model_;
  ShapeTracker shapes_;
  RunnerArithmetic first_, second_;
  std::unordered_map<std::string_view, const ErrorRule*> rules_;
  std::unordered_map<std::string_view, DType> types_;
  std::unordered_map<std::string_view, ErrorPrediction> errors_;
  std::unordered_set<std::string_view> to_steps_;    // read by a QuantizeLinear
  std::unordered_set<std::string_view> from_steps_;  // written by a DequantizeLinear
  std::unordered_set<std::string_view> kept_;        // outputs that are read further on
  std::unordered_set<std::string_view> narrow_;      // values rounded to a short type of their own
};

bool Propagation::IsSquare(const Step& step) const {
  const auto inputs = step.graph.Inputs(step.node);
  return inputs.size() == 2 && inputs[0] == inputs[1];
}

int64_t Propagation::MatrixLength(const Step& step) const {
  const auto inputs = step.graph.Inputs(step.node);
  const Dims* a = inputs.empty() ? nullptr : shapes_.Find(inputs[0]);
  const Dims* b = inputs.size() < 2 ? nullptr : shapes_.Find(inputs[1]);
  const std::string_view op = step.node.op_type;
  if (op.find("Conv") != std::string_view::npos) {
    if (b == nullptr || b->empty()) return kUnknownLength;
    const int64_t shared = op == "ConvTranspose" && b->size() > 1 ? (*b)[1] : b->front();
    return ElementCount(*b).value_or(kUnknownLength) / std::max<int64_t>(shared, 1);
  }
  NodeAttributes attributes(model_, step.node);
  if (op == "MatMulNBits") return attributes.Int("K", kUnknownLength);
  if (op == "Gemm" || op == "FusedGemm") {
    const bool flip_a = attributes.Int("transA", 0) != 0;
    const bool flip_b = attributes.Int("transB", 0) != 0;
    if (b != nullptr && b->size() == 2) return (*b)[flip_b ? 1 : 0];
    return a != nullptr && a->size() == 2 ? (*a)[flip_a ? 0 : 1] : kUnknownLength;
  }
  if (op == "Einsum") return kUnknownLength;
  if (b != nullptr && !b->empty()) return b->size() > 1 ? (*b)[b->size() - 2] : b->front();
  return a != nullptr && !a->empty() ? a->back() : kUnknownLength;
}

int64_t Propagation::ReducedLength(const Step& step) const {
  const auto inputs = step.graph.Inputs(step.node);
  const auto outputs = step.graph.Outputs(step.node);
  const Dims* before = inputs.empty() ? nullptr : shapes_.Find(inputs[0]);
  const Dims* after = outputs.empty() ? nullptr : shapes_.Find(outputs[0]);
  if (before == nullptr) return kUnknownLength;
  if (step.node.op_type == "CumSum" || step.node.op_type == "CumProd") {
    return before->empty() ? 1 : *std::max_element(before->begin(), before->end());
  }
  const int64_t all = ElementCount(*before).value_or(kUnknownLength);
  if (after == nullptr) return all;
  return all / std::max<int64_t>(ElementCount(*after).value_or(1), 1);
}

int64_t Propagation::NormLength(const Step& step) const {
  const auto inputs = step.graph.Inputs(step.node);
  const Dims* x = inputs.empty() ? nullptr : shapes_.Find(inputs[0]);
  const std::string_view op = step.node.op_type;
  if (op == "BatchNormalization") return 1;
  const auto behind = [&](int64_t axis) -> int64_t {
    if (axis < 0) axis += static_cast<int64_t>(x->size());
    if (axis < 0 || axis > static_cast<int64_t>(x->size())) return kUnknownLength;
    const auto rest = std::span(*x).subspan(static_cast<size_t>(axis));
    return ElementCount(rest).value_or(kUnknownLength);
  };
  if (x == nullptr || x->empty()) {
    const Dims* scale = inputs.size() < 2 ? nullptr : shapes_.Find(inputs[1]);
    return scale != nullptr ? ElementCount(*scale).value_or(kUnknownLength) : kUnknownLength;
  }
  NodeAttributes attributes(model_, step.node);
  if (op == "LayerNormalization" || op == "RMSNormalization") {
    return behind(attributes.Int("axis", -1));
  }
  if (op == "InstanceNormalization" || op == "GroupNormalization") {
    return behind(std::min<int64_t>(2, static_cast<int64_t>(x->size())));
  }
  return x->back();
}

int64_t Propagation::PoolLength(const Step& step) const {
  NodeAttributes attributes(model_, step.node);
  const std::vector<int64_t> kernel = attributes.Ints("kernel_shape");
  if (!kernel.empty()) return ElementCount(kernel).value_or(kUnknownLength);
  if (step.node.op_type.substr(0, 6) == "Global") return ReducedLength(step);
  return 4;  // interpolation between neighbours
}

int64_t Propagation::SumLength(const Step& step) const {
  switch (step.rule->kind) {
    case ErrorKind::kMatrix:
      return MatrixLength(step);
    case ErrorKind::kReduce:
      return ReducedLength(step);
    case ErrorKind::kNorm:
      return NormLength(step);
    case ErrorKind::kPool:
      return PoolLength(step);
    case ErrorKind::kRecurrent:
      return kUnknownLength;
    default:
      return 1;
  }
}

void Propagation::ApplySteps(Step& step, double relative_step) {
  RoundToSteps(step.error, relative_step, Elements(step.graph.Outputs(step.node)[0]));
}

void Propagation::ApplyQuantiser(Step& step, double relative_step) {
  ErrorPrediction& error = step.error;
  ++error.quantisers;
  // The division by the scale comes first.
  const bool own_scale = step.node.op_type == "DynamicQuantizeLinear";
  if (error.rms > 0 || own_scale) Add(step, 1, 1, 1);
  ApplySteps(step, relative_step);
  const DType type = TypeOf(step.graph.Outputs(step.node)[0]);
  error.steps = Kind(type) == DTypeKind::kSignedInt || Kind(type) == DTypeKind::kUnsignedInt;
}

void Propagation::ApplyCast(Step& step) {
  const auto inputs = step.graph.Inputs(step.node);
  const DType from = inputs.empty() ? DType::kUndefined : TypeOf(inputs[0]);
  if (IsFloat(step.type)) {
    // Widening is exact. Where both sides narrow, they mostly round to the same value.
    const bool narrows = IsFloat(from) && UnitRoundoff(step.type) > UnitRoundoff(from);
    if (narrows) ApplySteps(step, kRoundingStep * UnitRoundoff(step.type));
    return;
  }
  if (IsFloat(from) && step.error.rms > 0) ApplyQuantiser(step, kRoundStep);
}

// Runtimes that widen short types may still have operators in them: their inputs are rounded unless
// they come from such an operator, and the outputs of those that compute.
void Propagation::RoundShort(Step& step, bool computes) {
  const auto inputs = step.graph.Inputs(step.node);
  const bool was_narrow = (!inputs.empty() && narrow_.contains(inputs[0])) ||
                          narrow_.contains(step.graph.Outputs(step.node)[0]);
  const int roundings = (was_narrow ? 0 : 1) + (computes ? 1 : 0);
  const double own = UnitRoundoff(step.type);
  double variance = 0;
  for (const RunnerArithmetic& side : {first_, second_}) {
    if (!side.copies_in_own_type || own <= UnitRoundoff(side.computes_in)) continue;
    variance += roundings * Square(Safety(own) * kRoundingRms * own);
    for (const std::string_view name : step.graph.Outputs(step.node)) narrow_.insert(name);
  }
  step.error.rms = std::sqrt(Square(step.error.rms) + variance);
  step.error.clean = std::sqrt(Square(step.error.clean) + variance);
}

void Propagation::ApplyMatrix(Step& step) {
  ++step.error.layers;
  const bool integers = !IsFloat(step.type) && step.type != DType::kUndefined;
  if (integers) {
    const int64_t length = SumLength(step);
    step.error.longest_sum = std::max(step.error.longest_sum, length);
    // Some runtimes sum integers in float32, which is exact only so far.
    if (length > kExactIntegers) Add(step, 1, length, 1);
    return;
  }
  const int64_t length = SumLength(step);
  Add(step, 1, length, step.rule->roundoffs);
  if (!IsQuantisedWithBias(step)) return;
  const double bias = kBiasStep / std::sqrt(static_cast<double>(std::max<int64_t>(length, 1)));
  step.error.rms = std::sqrt(Square(step.error.rms) + Square(bias));
  step.error.clean = std::sqrt(Square(step.error.clean) + Square(bias));
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
    case ErrorKind::kPointwise:
      return Add(step, rule.growth, 1, rule.roundoffs);
    case ErrorKind::kProduct:
      return Add(step, rule.growth * (IsSquare(step) ? 2 : 1), 1, rule.roundoffs);
    case ErrorKind::kMatrix:
      return ApplyMatrix(step);
    case ErrorKind::kReduce:
    case ErrorKind::kPool: {
      const int64_t length = SumLength(step);
      const double kept = error.positive && length > 1 ? kAveraged : 1;
      // One element more or less does not move a mean.
      error.flips /= std::sqrt(static_cast<double>(std::max<int64_t>(length, 1)));
      return Add(step, kept, length, rule.roundoffs);
    }
    case ErrorKind::kNorm: {
      const bool centred = step.node.op_type.find("Normalization") != std::string_view::npos;
      const double centring = centred && error.positive ? kCentring : 1;
      Add(step, centring, SumLength(step), rule.roundoffs);
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
  if (repeats) result.rms *= std::sqrt(kUnknownTrips);
  if (repeats) result.clean *= std::sqrt(kUnknownTrips);
  step.error = result;
}

void Propagation::Visit(const OnnxGraph& graph, const OnnxNode& node, int depth) {
  shapes_.Visit(graph, node);
  const auto outputs = graph.Outputs(node);
  if (outputs.empty()) return;
  const auto rule = rules_.find(node.op_type);
  Step step{graph, node, rule == rules_.end() ? nullptr : rule->second, {}, {}, TypeOf(outputs[0])};
  bool all_positive = true;
  for (const std::string_view name : graph.Inputs(node)) {
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
  for (const std::string_view name : outputs) {
    if (!name.empty()) errors_[name] = step.error;
  }
}

}  // namespace

Result<ErrorPredictions> PredictErrors(const OnnxModel& model, std::span<const InputDims> inputs,
                                       RunnerArithmetic first, RunnerArithmetic second,
                                       std::span<const std::string> outputs, FedInputs fed) {
  VERNIER_ASSIGN_OR_RETURN(const std::vector<uint32_t> order, TopologicalOrder(model));
  Propagation propagation(model, inputs, first, second);
  propagation.KeepOutputs(outputs);
  propagation.Run(order, fed);
  return propagation.Take();
}

ErrorPrediction PredictFromDType(DType dtype, RunnerArithmetic first, RunnerArithmetic second) {
  constexpr double kLayers = 50;
  constexpr double kLength = 4096;
  ErrorPrediction error;
  if (!IsFloat(dtype)) return error;
  const SideRoundoff sides[2] = {RoundoffOf(dtype, first), RoundoffOf(dtype, second)};
  error.rms = error.clean = std::sqrt(kLayers * OwnVariance(sides, kLength, 1));
  error.coarsest = Coarser(sides[0].kept_in, sides[1].kept_in);
  return error;
}

}  // namespace vernier
