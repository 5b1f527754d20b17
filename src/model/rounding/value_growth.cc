#include "model/rounding/value_growth.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "model/onnx/mapped_weight.h"
#include "model/onnx/onnx_attributes.h"
#include "model/onnx/operator_list.h"
#include "model/rounding/error_growth.h"
#include "model/rounding/function_slopes.h"
#include "model/rounding/tensor_places.h"

namespace vernier {
namespace {

// Below so many roundoffs, what varies may be rounding.
constexpr double kLeastVariation = 32;

// Calls `visit(value)`.
template <typename Visit>
void ForEachValue(const Tensor& tensor, Visit visit) {
  ForEachPlace(std::array{&tensor}, [&](const auto& values) { visit(values[0]); });
}

// Calls `visit(sum)` with the sum of squares of each `length` neighbours.
template <typename Visit>
void ForEachRun(const Tensor& tensor, int64_t length, Visit visit) {
  double sum = 0;
  int64_t left = length;
  ForEachValue(tensor, [&](double x) {
    sum += Square(x);
    if (--left > 0) return;
    visit(sum);
    sum = 0;
    left = length;
  });
}

// The mean squares along an axis.
std::vector<double> ChannelSquares(const Tensor& tensor, size_t axis) {
  const Dims& dims = tensor.dims();
  int64_t behind = 1;
  for (size_t i = axis + 1; i < dims.size(); ++i) behind *= dims[i];
  std::vector<double> squares(static_cast<size_t>(dims[axis]));
  size_t channel = 0;
  ForEachRun(tensor, behind, [&](double sum) {
    squares[channel] += sum;
    if (++channel == squares.size()) channel = 0;
  });
  const double each = static_cast<double>(tensor.element_count() / dims[axis]);
  for (double& square : squares) square /= each;
  return squares;
}

// The root mean square of `of(x)` over the elements where that is finite; 0 where it is nowhere.
template <typename Of>
double RmsOf(const Tensor& tensor, Of of) {
  double sum = 0;
  int64_t count = 0;
  ForEachValue(tensor, [&](double x) {
    const double square = Square(of(x));
    if (!std::isfinite(square)) return;
    sum += square;
    ++count;
  });
  return count > 0 ? std::sqrt(sum / static_cast<double>(count)) : 0;
}

// Sums over the elements of one channel, before and behind a map. Deviations are counted from the
// first element, so that their squares lose no digits to a large mean (Chan, Golub and LeVeque,
// Algorithms for computing the sample variance, 1983: shifted data).
struct ChannelMoments {
  double count = 0, squares = 0, first_x = 0, first_y = 0, x = 0, xx = 0, y = 0, yy = 0;

  void Add(const double* before, const double* behind, int64_t length) {
    if (count == 0) {
      first_x = before[0];
      first_y = behind[0];
    }
    for (int64_t i = 0; i < length; ++i) {
      squares += Square(before[i]);
      x += before[i] - first_x;
      xx += Square(before[i] - first_x);
      y += behind[i] - first_y;
      yy += Square(behind[i] - first_y);
    }
    count += static_cast<double>(length);
  }
  /// The squares of x, times that of the map's slope; 0 where x varies by little more than
  /// `least`, a share of itself.
  double PassedOn(double least) const {
    const double of_x = xx - x * x / count;
    const double of_y = yy - y * y / count;
    const double passed_on = of_x > Square(least) * squares ? squares * of_y / of_x : 0;
    return std::isfinite(passed_on) ? std::max(passed_on, 0.0) : 0;
  }
};

// Which input channels the elements of a weight belong to: `run` neighbours to one, `inner` of
// these to a row, `rows` rows to a group, which reads `inner` channels of its own.
struct WeightLayout {
  int64_t outputs, inner, groups, run, rows;
};

// By rows: [outputs, inputs of a group, window ...]; else [inputs, outputs]. Empty where that does
// not fit the number of input channels.
std::optional<WeightLayout> LayoutOf(const Dims& dims, int64_t channels, bool by_rows) {
  const int64_t outputs = by_rows ? dims[0] : dims[1];
  const int64_t inner = by_rows ? dims[1] : dims[0];
  const int64_t groups = channels / inner;
  if (groups < 1 || outputs % groups != 0 || channels != groups * inner) return {};
  if (!by_rows) return WeightLayout{outputs, inner, groups, outputs, 1};
  int64_t window = 1;
  for (size_t i = 2; i < dims.size(); ++i) window *= dims[i];
  return WeightLayout{outputs, inner, groups, window, outputs / groups};
}

// Over all weights: the square, times the mean square of the channel that it is multiplied with.
double SumOfProducts(const Tensor& weight, const std::vector<double>& of_x,
                     const WeightLayout& layout) {
  int64_t group = 0, row = 0, channel = 0;
  double squares = 0;
  ForEachRun(weight, layout.run, [&](double sum) {
    squares += sum * of_x[static_cast<size_t>(group * layout.inner + channel)];
    if (++channel < layout.inner) return;
    channel = 0;
    if (++row < layout.rows) return;
    row = 0;
    ++group;
  });
  return squares;
}

}  // namespace

double ValueGrowth::Scale(std::string_view name) {
  if (!values_) return 0;
  const auto known = scales_.find(name);
  if (known != scales_.end()) return known->second;
  const Tensor* tensor = values_(name);
  const double scale = HasValues(tensor) ? RmsOf(*tensor, [](double x) { return x; }) : 0;
  return scales_[name] = scale;
}

// What is kept of the input has the input's errors: those of the other elements are gone.
double ValueGrowth::KeptShare(std::string_view input, std::string_view output) {
  const Tensor* x = values_(input);
  const Tensor* y = values_(output);
  if (!HasValues(x) || !HasValues(y) || x->dims() != y->dims()) return 0;
  int64_t kept = 0;
  ForEachPlace(std::array{x, y},
               [&](const auto& values) { kept += values[0] == values[1] ? 1 : 0; });
  return static_cast<double>(kept) / static_cast<double>(x->element_count());
}

double ValueGrowth::Quotient(std::span<const std::string_view> inputs, size_t input) {
  const Tensor* divisor = values_(inputs[1]);
  if (!HasValues(divisor)) return 0;
  const double inverse = RmsOf(*divisor, [](double x) { return 1 / x; });
  return inverse * Scale(inputs[input]);
}

// Independent errors of the products of a sum add up to the root of the sum of their squares,
// however much the sums cancel (Higham, section 3.3, with variances in place of absolute values).
// Channels of large values often have small weights, so each channel's error is a share of its own
// values: the output's is the root of the mean, over the outputs, of sum w^2 E[x^2].
double ValueGrowth::MatrixGrowth(const OnnxNode& node, std::span<const std::string_view> inputs,
                                 std::string_view output) {
  const Tensor* x = values_(inputs[0]);
  const Tensor* y = values_(output);
  const OnnxTensor* weight = FindWeight(inputs[1]);
  if (!HasValues(x) || !HasValues(y) || weight == nullptr || weight->external) return 1;
  const bool is_conv = node.op_type == "Conv";
  const Dims& dims = weight->dims;
  if (dims.size() < 2 || x->dims().size() < 2 || (!is_conv && dims.size() > 2)) return 1;
  NodeAttributes attributes(model_, node);
  const bool is_gemm = node.op_type == "Gemm";
  if (is_gemm && attributes.Int("transA", 0) != 0) return 1;
  const Result<MappedWeight> mapped = MapWeight(model_, *weight, {});
  if (!mapped.ok() || !HasValues(&mapped->values)) return 1;
  const bool by_rows = is_conv || (is_gemm && attributes.Int("transB", 0) != 0);
  const std::vector<double> of_x = ChannelSquares(*x, is_conv ? 1 : x->dims().size() - 1);
  const auto layout = LayoutOf(dims, static_cast<int64_t>(of_x.size()), by_rows);
  if (!layout || (!is_conv && layout->groups > 1)) return 1;
  const double squares = SumOfProducts(mapped->values, of_x, *layout);
  const OnnxAttribute* alpha = is_gemm ? attributes.Find("alpha") : nullptr;
  const double times = alpha != nullptr ? std::fabs(static_cast<double>(alpha->f)) : 1;
  return times * std::sqrt(squares / static_cast<double>(layout->outputs)) / Scale(output);
}

// An initializer, or what a Constant node holds.
const OnnxTensor* ValueGrowth::FindWeight(std::string_view name) {
  if (!found_weights_) {
    found_weights_ = true;
    for (const OnnxTensor& weight : model_.graph().initializers) weights_[weight.name] = weight;
    for (const OnnxNode& node : model_.graph().nodes) {
      const auto outputs = model_.graph().Outputs(node);
      if (node.op_type != "Constant" || outputs.empty()) continue;
      NodeAttributes attributes(model_, node);
      const OnnxAttribute* value = attributes.Find("value");
      if (value != nullptr && value->tensor) weights_[outputs[0]] = *value->tensor;
    }
  }
  const auto found = weights_.find(name);
  return found == weights_.end() ? nullptr : &found->second;
}

// y = a x + b for each channel (the second axis): the errors of x go through a, which the ratio of
// both deviations shows, while b may take most of the values away.
double ValueGrowth::ChannelGrowth(std::string_view input, std::string_view output) {
  const Tensor* x = values_(input);
  const Tensor* y = values_(output);
  if (!HasValues(x) || !HasValues(y) || x->dims() != y->dims() || x->dims().size() < 2) return 1;
  const int64_t channels = x->dims()[1];
  const int64_t all = x->element_count();
  const int64_t images = x->dims()[0];
  const int64_t length = all / (images * channels);
  std::vector<ChannelMoments> moments(static_cast<size_t>(channels));
  std::vector<double> x_row(static_cast<size_t>(length)), y_row(x_row.size());
  for (int64_t row = 0; row < images * channels; ++row) {
    ChannelMoments& of = moments[static_cast<size_t>(row % channels)];
    of.Add(LoadBlock(Elements(*x), row * length, x_row.size(), x_row.data()),
           LoadBlock(Elements(*y), row * length, y_row.size(), y_row.data()), length);
  }
  double passed_on = 0;
  const double least = kLeastVariation * UnitRoundoff(x->dtype());
  for (const ChannelMoments& of : moments) passed_on += of.PassedOn(least);
  return std::sqrt(passed_on / static_cast<double>(all)) / Scale(output);
}

// Extremes of K values on two sides differ by no more than the largest error among them, which is
// sqrt(2 ln 2K) deviations on average at most (Boucheron, Lugosi and Massart, Concentration
// Inequalities, section 2.5, of both signs). Over many extremes the mean is what counts, and most
// of them have no rivals of their size: there an error is as large as that of any value.
double ValueGrowth::PickedGrowth(std::string_view input, std::string_view output) {
  const double growth = Scale(input) / Scale(output);
  const double picked = static_cast<double>(values_(output)->element_count());
  if (picked > kFewPicked || !(picked > 0)) return growth;
  const double of = static_cast<double>(values_(input)->element_count()) / picked;
  return of > 1 ? growth * std::sqrt(2 * std::log(2 * of)) : growth;
}

// alpha x + beta, cut off at 0 and 1, where it has no slope.
double ValueGrowth::HardSigmoidGrowth(const OnnxNode& node, std::string_view input,
                                      std::string_view output) {
  NodeAttributes attributes(model_, node);
  const OnnxAttribute* alpha = attributes.Find("alpha");
  const double slope = alpha != nullptr ? static_cast<double>(alpha->f) : 0.2;
  const auto at = [&](double y) { return y > 0 && y < 1 ? slope : 0; };
  return Scale(input) * RmsOf(*values_(output), at) / Scale(output);
}

// Rows as a layer normalisation's: what they have in common is subtracted.
double ValueGrowth::NormGrowth(std::string_view input) {
  const Tensor* x = values_(input);
  if (!HasValues(x) || x->dims().empty()) return 0;
  const int64_t length = x->dims().back();
  const ElementSpan elements = Elements(*x);
  std::vector<double> row(static_cast<size_t>(std::max<int64_t>(length, 1)));
  double inverse_variances = 0;
  int64_t rows = 0;
  for (int64_t start = 0; start + length <= elements.count && length > 1; start += length) {
    const double* values = LoadBlock(elements, start, row.size(), row.data());
    double mean = 0, variance = 0;
    for (size_t i = 0; i < row.size(); ++i) mean += values[i];
    mean /= static_cast<double>(length);
    for (size_t i = 0; i < row.size(); ++i) variance += Square(values[i] - mean);
    variance /= static_cast<double>(length);
    if (!(variance > 0) || !std::isfinite(variance)) continue;
    inverse_variances += 1 / variance;
    ++rows;
  }
  return rows > 0 ? Scale(input) * std::sqrt(inverse_variances / static_cast<double>(rows)) : 0;
}

double ValueGrowth::Raw(const OnnxNode& node, std::span<const std::string_view> inputs,
                        std::string_view output, size_t input) {
  const std::string_view op = node.op_type;
  const double from = Scale(inputs[input]);
  const double to = Scale(output);
  if (!(from > 0) || !(to > 0)) return 1;
  if (IsInOperators("Add Sub Sum", op)) return from / to;
  if (op == "Mul" && inputs.size() == 2) return from * Scale(inputs[1 - input]) / to;
  if (op == "Div" && inputs.size() == 2) return Quotient(inputs, input) / (input == 0 ? to : 1);
  if (IsInOperators("Relu Clip Max Min ThresholdedRelu", op)) {
    return from * std::sqrt(KeptShare(inputs[input], output)) / to;
  }
  if (IsInOperators("Conv MatMul Gemm", op) && input == 0 && inputs.size() > 1) {
    return MatrixGrowth(node, inputs, output);
  }
  if (op == "LayerNormalization" && input == 0) return NormGrowth(inputs[0]);
  if (op == "BatchNormalization" && input == 0) return ChannelGrowth(inputs[0], output);
  if (IsInOperators("MaxPool GlobalMaxPool", op) && input == 0) return from / to;
  if (IsInOperators("ReduceMax ReduceMin", op) && input == 0)
    return PickedGrowth(inputs[0], output);
  if (IsInOperators("ReduceMean GlobalAveragePool", op)) {
    const double length = static_cast<double>(values_(inputs[0])->element_count()) /
                          static_cast<double>(values_(output)->element_count());
    return from / (std::sqrt(std::max(length, 1.0)) * to);
  }
  if (op == "HardSigmoid") return HardSigmoidGrowth(node, inputs[0], output);
  const Slope slope = input == 0 ? SlopeOf(op) : nullptr;
  return slope == nullptr ? 1 : from * RmsOf(*values_(output), slope) / to;
}

double ValueGrowth::Of(const OnnxGraph& graph, const OnnxNode& node, size_t input) {
  const auto inputs = graph.Inputs(node);
  const auto outputs = graph.Outputs(node);
  if (!values_ || input >= inputs.size() || outputs.empty()) return 1;
  const double growth = Raw(node, inputs, outputs[0], input);
  return std::isfinite(growth) ? std::clamp(growth, 1.0, kMostGrowth) : 1;
}

}  // namespace vernier
