#include "model/rounding/passed_on.h"

#include <algorithm>
#include <cmath>

#include "model/onnx/onnx_attributes.h"
#include "model/onnx/operator_list.h"
#include "model/rounding/error_growth.h"
#include "model/rounding/function_slopes.h"
#include "model/rounding/pair_differences.h"

namespace vernier {
namespace {

// Roundoffs of float32 that a quotient may be off by before it is rounded to a step.
constexpr double kQuotientRoundoffs = 4;
constexpr double kFloat32Roundoff = 0x1p-24;
// Differences that lie in whole channels or neighbourhoods add up to more than independent ones.
constexpr double kAlike = 1.5;

// Calls `visit(f)` with the function of values that the operator chooses by; false for others.
template <typename Visit>
bool WithLimits(std::string_view op, size_t inputs, Visit visit) {
  if (op == "Max" && inputs > 0) {
    return visit([=](const double* x) { return *std::max_element(x, x + inputs); });
  }
  if (op == "Min" && inputs > 0) {
    return visit([=](const double* x) { return *std::min_element(x, x + inputs); });
  }
  if (op == "Clip" && inputs == 3) {
    return visit([](const double* x) { return std::min(std::max(x[0], x[1]), x[2]); });
  }
  return false;
}

// Calls `visit(f)` with the function of one or two values that the operator is; false for others.
template <typename Visit>
bool WithFunction(const OnnxModel& model, const OnnxNode& node, size_t inputs, Visit visit) {
  const std::string_view op = node.op_type;
  NodeAttributes attributes(model, node);
  const auto number = [&](std::string_view name, double fallback) {
    const OnnxAttribute* found = attributes.Find(name);
    return found != nullptr ? static_cast<double>(found->f) : fallback;
  };
  if (inputs == 2) {
    if (op == "Add") return visit([](const double* x) { return x[0] + x[1]; });
    if (op == "Sub") return visit([](const double* x) { return x[0] - x[1]; });
    if (op == "Mul") return visit([](const double* x) { return x[0] * x[1]; });
    if (op == "Div") return visit([](const double* x) { return x[0] / x[1]; });
    if (op == "PRelu") return visit([](const double* x) { return x[0] * (x[0] < 0 ? x[1] : 1); });
  }
  if (WithLimits(op, inputs, visit)) return true;
  if (inputs != 1) return false;
  if (op == "Relu") return visit([](const double* x) { return std::max(x[0], 0.0); });
  if (op == "LeakyRelu") {
    const double slope = number("alpha", 0.01);
    return visit([=](const double* x) { return x[0] * (x[0] < 0 ? slope : 1); });
  }
  if (op == "HardSwish") {
    return visit([](const double* x) { return x[0] * std::clamp(x[0] / 6 + 0.5, 0.0, 1.0); });
  }
  if (op == "HardSigmoid") {
    const double slope = number("alpha", 0.2), middle = number("beta", 0.5);
    return visit([=](const double* x) { return std::clamp(slope * x[0] + middle, 0.0, 1.0); });
  }
  if (op == "Sigmoid") return visit([](const double* x) { return 1 / (1 + std::exp(-x[0])); });
  if (op == "Tanh") return visit([](const double* x) { return std::tanh(x[0]); });
  if (op == "Erf") return visit([](const double* x) { return std::erf(x[0]); });
  if (op == "Exp") return visit([](const double* x) { return std::exp(x[0]); });
  if (op == "Log") return visit([](const double* x) { return std::log(x[0]); });
  if (op == "Sin") return visit([](const double* x) { return std::sin(x[0]); });
  if (op == "Cos") return visit([](const double* x) { return std::cos(x[0]); });
  if (op == "Sqrt") return visit([](const double* x) { return std::sqrt(x[0]); });
  if (op == "Identity" || op == "Cast") return visit([](const double* x) { return x[0]; });
  return false;
}

// Whether the value may go to either of two steps, which end at whole numbers and so much.
bool IsTie(double value, double ends_at, double known) {
  const double away = std::fabs(value - ends_at - std::nearbyint(value - ends_at));
  return away <= known + kQuotientRoundoffs * kFloat32Roundoff * std::fabs(value);
}

// The scale and zero point of a DynamicQuantizeLinear.
struct ByteRange {
  double scale = 0, zero = 0;
};

ByteRange RangeOf(const std::vector<double>& values) {
  double low = 0, high = 0;
  for (const double value : values) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  constexpr double kCodes = 255;
  const double scale = (high - low) / kCodes;
  return {scale, scale > 0 ? std::nearbyint(std::clamp(-low / scale, 0.0, kCodes)) : 0};
}

bool IsOne(int64_t number) { return number == 1; }

// Sums over the elements of each place along an axis.
struct AxisSums {
  std::vector<double> squares, difference_squares, largest, largest_difference;

  AxisSums(const Operand& operand, size_t axis) {
    const Dims& dims = operand.dims;
    const auto size = static_cast<size_t>(dims[axis]);
    size_t behind = 1;
    for (size_t i = axis + 1; i < dims.size(); ++i) behind *= static_cast<size_t>(dims[i]);
    squares.assign(size, 0);
    difference_squares = largest = largest_difference = squares;
    const double each = static_cast<double>(operand.a.size()) / static_cast<double>(size);
    for (size_t i = 0; i < operand.a.size(); ++i) {
      const size_t place = i / behind % size;
      const double difference = std::fabs(operand.a[i] - operand.b[i]);
      squares[place] += Square(operand.a[i]) / each;
      difference_squares[place] += Square(difference) / each;
      largest[place] = std::max(largest[place], std::fabs(operand.a[i]));
      largest_difference[place] = std::max(largest_difference[place], difference);
    }
  }
};

}  // namespace

std::optional<Operand> PassedDifferences::Find(const OnnxNode& node, size_t input) {
  const auto inputs = model_.graph().Inputs(node);
  if (input >= inputs.size() || inputs[input].empty()) return {};
  return operands_.Find(inputs[input]);
}

std::optional<PassedOn> PassedDifferences::OfElements(const OnnxNode& node, PassedLimits limits) {
  const size_t count = model_.graph().Inputs(node).size();
  std::optional<PassedOn> passed;
  WithFunction(model_, node, count, [&](auto function) {
    std::vector<Operand> operands;
    for (size_t i = 0; i < count; ++i) {
      auto operand = Find(node, i);
      if (!operand) return true;
      operands.push_back(*std::move(operand));
    }
    PairDifferences differences;
    const auto add = [&](const double* a, const double* b) {
      differences.Add(function(a), function(b));
    };
    if (ForEachElement(operands, add)) passed = differences.Take(limits.differs);
    return true;
  });
  return passed;
}

// The values, and the scale and zero point of each, which may be those of places along an axis.
std::optional<std::vector<Operand>> PassedDifferences::Scaled(const OnnxNode& node) {
  std::vector<Operand> operands;
  const size_t count = model_.graph().Inputs(node).size();
  for (size_t i = 0; i < std::min<size_t>(count, 3); ++i) {
    auto operand = Find(node, i);
    if (!operand) return {};
    operands.push_back(*std::move(operand));
  }
  if (operands.empty()) return {};
  const auto rank = static_cast<int64_t>(operands[0].dims.size());
  const int64_t given = NodeAttributes(model_, node).Int("axis", 1);
  const int64_t axis = given < 0 ? given + rank : given;
  for (size_t i = 1; i < operands.size(); ++i) {
    Dims& dims = operands[i].dims;
    if (dims.size() > 1) return {};  // blocks
    if (dims.size() == 1 && dims[0] != 1 && axis < rank) {
      dims.resize(static_cast<size_t>(rank - axis), 1);
    }
  }
  return operands;
}

std::optional<PassedOn> PassedDifferences::OfCodes(const OnnxNode& node, PassedLimits limits) {
  const auto operands = Scaled(node);
  if (!operands || operands->size() < 2) return {};
  const bool shifted = operands->size() > 2;
  PairDifferences differences;
  const auto value = [&](const double* x) { return (x[0] - (shifted ? x[2] : 0)) * x[1]; };
  const auto add = [&](const double* a, const double* b) { differences.Add(value(a), value(b)); };
  if (!ForEachElement(*operands, add)) return {};
  return differences.Take(limits.differs);
}

std::optional<PassedOn> PassedDifferences::OfQuotients(const OnnxNode& node, DType type,
                                                       PassedLimits limits) {
  const auto operands = Scaled(node);
  const int bits = BitsOf(type);
  if (!operands || operands->size() < 2 || IsFloat(type) || bits <= 0) return {};
  const bool shifted = operands->size() > 2;
  const double codes = std::exp2(bits);
  const double lowest = Kind(type) == DTypeKind::kSignedInt ? -codes / 2 : 0;
  const double known = limits.known * Rms((*operands)[0].a);
  PairDifferences differences;
  const auto code = [&](double quotient, const double* x) {
    const double at = std::nearbyint(quotient) + (shifted ? x[2] : 0);
    return std::clamp(at, lowest, lowest + codes - 1);
  };
  const auto add = [&](const double* a, const double* b) {
    differences.Add(code(a[0] / a[1], a), code(b[0] / b[1], b));
    if (IsTie(a[0] / a[1], 0.5, known / std::fabs(a[1]))) differences.AddTie();
  };
  if (!ForEachElement(*operands, add)) return {};
  return differences.Take(limits.differs);
}

// Casts, Floor and its like. Whole numbers go to no other step.
std::optional<PassedOn> PassedDifferences::OfSteps(const OnnxNode& node, PassedLimits limits) {
  const std::string_view op = node.op_type;
  const auto x = Find(node, 0);
  if (!x) return {};
  const auto round = [&](double value) {
    if (op == "Floor") return std::floor(value);
    if (op == "Ceil") return std::ceil(value);
    return op == "Cast" ? std::trunc(value) : std::nearbyint(value);
  };
  const double ends_at = op == "Round" ? 0.5 : 0;
  const double known = limits.known * Rms(x->a);
  PairDifferences differences;
  for (size_t i = 0; i < x->a.size(); ++i) {
    const double a = x->a[i], b = x->b[i];
    differences.Add(round(a), round(b));
    const bool whole = a == std::nearbyint(a) && b == std::nearbyint(b);
    if (!whole && IsTie(a, ends_at, known)) differences.AddTie();
  }
  return differences.Take(limits.differs);
}

std::optional<PassedOn> PassedDifferences::OfRange(const OnnxNode& node, size_t output,
                                                   PassedLimits limits) {
  const auto x = Find(node, 0);
  if (!x) return {};
  const ByteRange of_a = RangeOf(x->a), of_b = RangeOf(x->b);
  if (!(of_a.scale > 0) || !(of_b.scale > 0)) return {};
  PairDifferences differences;
  const double known = limits.known * Rms(x->a) / of_a.scale;
  if (output == 1) differences.Add(of_a.scale, of_b.scale);
  if (output == 2) differences.Add(of_a.zero, of_b.zero);
  for (size_t i = 0; output == 0 && i < x->a.size(); ++i) {
    const double a = x->a[i] / of_a.scale, b = x->b[i] / of_b.scale;
    differences.Add(std::nearbyint(a) + of_a.zero, std::nearbyint(b) + of_b.zero);
    if (IsTie(a, 0.5, known)) differences.AddTie();
  }
  return differences.Take(limits.differs);
}

std::optional<Operand> PassedDifferences::Factor(const OnnxNode& node, size_t input) {
  auto factor = Find(node, input);
  const bool integers = node.op_type == "ConvInteger" || node.op_type == "MatMulInteger";
  const auto inputs = model_.graph().Inputs(node);
  if (!factor || !integers || inputs.size() <= 2 + input || inputs[2 + input].empty()) {
    return factor;
  }
  auto zero = Find(node, 2 + input);
  if (!zero) return {};
  if (zero->dims.size() == 1 && zero->dims[0] != 1) {
    // One for each row of the first factor, column of the second, or kernel.
    if (node.op_type == "ConvInteger") zero->dims.resize(factor->dims.size(), 1);
    if (node.op_type == "MatMulInteger" && input == 0) zero->dims.push_back(1);
  }
  Operand shifted{{}, {}, factor->dims};
  shifted.a.reserve(factor->a.size());
  shifted.b.reserve(factor->b.size());
  const auto subtract = [&](const double* a, const double* b) {
    shifted.a.push_back(a[0] - a[1]);
    shifted.b.push_back(b[0] - b[1]);
  };
  const bool fits = ForEachElement({*std::move(factor), *std::move(zero)}, subtract);
  if (!fits || ElementCount(shifted.dims) != static_cast<int64_t>(shifted.a.size())) return {};
  return shifted;
}

// Independent differences of the products of a sum add up as their squares do.
std::optional<PassedOn> PassedDifferences::OfConvolution(const OnnxNode& node,
                                                         PassedLimits limits) {
  const auto x = Factor(node, 0), w = Factor(node, 1);
  const auto outputs = model_.graph().Outputs(node);
  const auto y = outputs.empty() ? std::nullopt : operands_.Find(outputs[0]);
  if (!x || !w || !y || x->dims.size() < 3 || w->dims.size() != x->dims.size()) return {};
  const bool transposed = node.op_type == "ConvTranspose";
  const int64_t channels = x->dims[1];
  const int64_t inner = transposed ? channels : w->dims[1];
  const int64_t groups = transposed ? 1 : channels / std::max<int64_t>(inner, 1);
  if (groups < 1 || groups * inner != channels || (transposed && w->dims[0] != channels)) return {};
  if (w->dims[0] % groups != 0 || y->dims.size() != x->dims.size()) return {};
  const AxisSums sums(*x, 1);
  size_t window = 1;
  for (size_t i = 2; i < w->dims.size(); ++i) window *= static_cast<size_t>(w->dims[i]);
  const int64_t rows = w->dims[0] / groups;  // of a group
  double squares = 0, largest = 0;
  for (size_t i = 0; i < w->a.size(); ++i) {
    const auto run = static_cast<int64_t>(i / window);
    const int64_t row = run / w->dims[1];
    const int64_t channel = transposed ? row : row / rows * inner + run % inner;
    const auto place = static_cast<size_t>(channel);
    squares += Square(w->a[i]) * sums.difference_squares[place];
    largest = std::max(largest, std::fabs(w->a[i]) * sums.largest_difference[place]);
  }
  const double scale = Rms(y->a);
  double mean = squares / static_cast<double>(y->dims[1]);
  if (transposed) {
    mean *= static_cast<double>(x->a.size()) / static_cast<double>(channels) *
            static_cast<double>(y->dims[1]) / static_cast<double>(y->a.size());
  }
  if (!(scale > 0)) return {};
  const double reached = ShareReached(node, *x, w->dims, y->dims, limits.differs * Rms(x->a));
  return PassedOn{kAlike * std::sqrt(mean) / scale, largest / scale, reached, 0, 0};
}

std::optional<PassedOn> PassedDifferences::OfProduct(const OnnxNode& node, PassedLimits limits) {
  auto x = Factor(node, 0), w = Factor(node, 1);
  const auto outputs = model_.graph().Outputs(node);
  const auto y = outputs.empty() ? std::nullopt : operands_.Find(outputs[0]);
  NodeAttributes attributes(model_, node);
  const bool is_gemm = node.op_type == "Gemm";
  if (!x || !w || !y || x->dims.empty() || w->dims.empty()) return {};
  const OnnxAttribute* const alpha = attributes.Find("alpha");
  const bool has_no_factor = alpha == nullptr || alpha->f == 1;
  if (is_gemm && (attributes.Int("transA", 0) != 0 || !has_no_factor)) return {};
  const bool by_rows = is_gemm && attributes.Int("transB", 0) != 0;
  const size_t rank = w->dims.size();
  const size_t axis = by_rows || rank == 1 ? rank - 1 : rank - 2;
  const AxisSums of_x(*x, x->dims.size() - 1), of_w(*w, axis);
  if (of_x.squares.size() != of_w.squares.size()) return {};
  double mean = 0, largest = 0;
  for (size_t k = 0; k < of_x.squares.size(); ++k) {
    mean +=
        of_x.difference_squares[k] * of_w.squares[k] + of_x.squares[k] * of_w.difference_squares[k];
    largest = std::max({largest, of_x.largest_difference[k] * of_w.largest[k],
                        of_x.largest[k] * of_w.largest_difference[k]});
  }
  const double scale = Rms(y->a);
  if (!(scale > 0)) return {};
  const double rms = std::max(kAlike * std::sqrt(mean), RmsOfSums(*x, *w, by_rows));
  const double rows = ShareOfLines(*x, x->dims.size() - 1, of_w.largest, limits.differs * scale);
  const double columns = ShareOfLines(*w, axis, of_x.largest, limits.differs * scale);
  // What one factor alone makes is known of its rows already.
  const double reached = rows > 0 && columns > 0 ? rows + columns - rows * columns : 0;
  return PassedOn{rms / scale, largest / scale, reached, 0, 0};
}

// An element of the output differs by no more than the largest difference of its window, and each
// element of the input is in one window.
std::optional<PassedOn> PassedDifferences::OfLargest(const OnnxNode& node) {
  NodeAttributes attributes(model_, node);
  const OnnxAttribute* const windows = attributes.Find("kernel_shape");
  const OnnxAttribute* const strides = attributes.Find("strides");
  const OnnxAttribute* const dilations = attributes.Find("dilations");
  if (windows == nullptr || strides == nullptr) return {};
  if (dilations != nullptr && !std::ranges::all_of(dilations->ints, IsOne)) return {};
  if (!std::ranges::equal(windows->ints, strides->ints, std::ranges::less_equal())) return {};
  const auto x = Find(node, 0);
  const auto outputs = model_.graph().Outputs(node);
  const auto y = outputs.empty() ? std::nullopt : operands_.Find(outputs[0]);
  if (!x || !y || y->a.empty()) return {};
  double squares = 0, largest = 0;
  for (size_t i = 0; i < x->a.size(); ++i) {
    const double difference = std::fabs(x->a[i] - x->b[i]);
    squares += Square(difference);
    largest = std::max(largest, difference);
  }
  const double scale = Rms(y->a);
  if (!(scale > 0)) return {};
  const double mean = squares / static_cast<double>(y->a.size());
  return PassedOn{std::sqrt(mean) / scale, largest / scale, 0, 0, 0};
}

std::optional<PassedOn> PassedDifferences::Of(const OnnxNode& node, size_t output, DType type,
                                              PassedLimits limits) {
  const std::string_view op = node.op_type;
  if (op == "DynamicQuantizeLinear") return OfRange(node, output, limits);
  if (op == "DynamicQuantizeLSTM") return OfLstm(node, output, limits);
  if (IsInOperators("Gather Slice Split", op)) return OfPart(node, output, limits);
  if (output > 0) return {};
  if (IsInOperators("Reshape Flatten Squeeze Unsqueeze Transpose", op)) {
    return OfCopies(node, limits);
  }
  if (IsInOperators("Conv ConvInteger ConvTranspose", op)) return OfConvolution(node, limits);
  if (IsInOperators("MatMul MatMulInteger Gemm", op)) return OfProduct(node, limits);
  if (op == "MaxPool") return OfLargest(node);
  if (IsInOperators("ReduceMax ReduceMin", op)) return OfExtremes(node, limits);
  if (IsInOperators("ReduceMean ReduceSum GlobalAveragePool", op)) return OfSums(node, limits);
  if (op == "TopK") return OfTopValues(node, limits);
  if (op == "GatherElements") return OfGatheredElements(node, limits);
  if (IsInOperators("InstanceNormalization LayerNormalization", op)) {
    return OfNormalisation(node, limits);
  }
  if (op == "QuantizeLinear") return OfQuotients(node, type, limits);
  if (op == "DequantizeLinear") return OfCodes(node, limits);
  if (op == "Softmax" || op == "LogSoftmax") return OfSoftmax(node, limits);
  const bool to_whole = op == "Cast" && IsIntegral(type);
  if (to_whole || IsInOperators("Floor Ceil Round", op)) return OfSteps(node, limits);
  return OfElements(node, limits);
}

}  // namespace vernier
