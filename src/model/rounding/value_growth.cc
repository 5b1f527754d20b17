#include "model/rounding/value_growth.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/element_blocks.h"
#include "model/onnx/mapped_weight.h"
#include "model/onnx/operator_list.h"
#include "model/rounding/error_growth.h"

namespace vernier {
namespace {

constexpr int64_t kFewSums = 64;

ElementSpan ElementsOf(const Tensor& tensor) {
  return {tensor.dtype(), tensor.bytes(), tensor.element_count()};
}

bool HasValues(const Tensor* tensor) {
  return tensor != nullptr && IsFloat(tensor->dtype()) && tensor->element_count() > 0 &&
         !tensor->bytes().empty();
}

// The root mean square of `of(x)` over the elements where that is finite; 0 where it is nowhere.
template <typename Of>
double RmsOf(const Tensor& tensor, Of of) {
  const ElementSpan elements = ElementsOf(tensor);
  std::vector<double> scratch(kBlockSize);
  double sum = 0;
  int64_t count = 0;
  for (int64_t start = 0; start < elements.count; start += static_cast<int64_t>(kBlockSize)) {
    const auto n = static_cast<size_t>(
        std::min<int64_t>(static_cast<int64_t>(kBlockSize), elements.count - start));
    const double* x = LoadBlock(elements, start, n, scratch.data());
    for (size_t i = 0; i < n; ++i) {
      const double square = Square(of(x[i]));
      if (!std::isfinite(square)) continue;
      sum += square;
      ++count;
    }
  }
  return count > 0 ? std::sqrt(sum / static_cast<double>(count)) : 0;
}

// |f'| of functions of one value, at a value y of the output.
using Slope = double (*)(double y);
struct SlopeRule {
  std::string_view op;
  Slope slope;
};
constexpr SlopeRule kSlopes[] = {
    {"Reciprocal", [](double y) { return y * y; }},
    {"Sqrt", [](double y) { return 0.5 / y; }},
    {"Exp", [](double y) { return y; }},
    {"Log", [](double y) { return std::exp(-y); }},
    {"Sigmoid", [](double y) { return y * (1 - y); }},
    {"Softmax", [](double y) { return y * (1 - y); }},
    {"Tanh", [](double y) { return 1 - y * y; }},
    {"Sin", [](double y) { return std::sqrt(std::max(1 - y * y, 0.0)); }},
    {"Cos", [](double y) { return std::sqrt(std::max(1 - y * y, 0.0)); }},
};

bool Is(std::string_view op, std::string_view list) {
  bool found = false;
  ForEachOperator(list, [&](std::string_view name) { found |= name == op; });
  return found;
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
  std::vector<double> x_block(kBlockSize), y_block(kBlockSize);
  const ElementSpan from = ElementsOf(*x), to = ElementsOf(*y);
  int64_t kept = 0;
  for (int64_t start = 0; start < from.count; start += static_cast<int64_t>(kBlockSize)) {
    const auto n = static_cast<size_t>(
        std::min<int64_t>(static_cast<int64_t>(kBlockSize), from.count - start));
    const double* a = LoadBlock(from, start, n, x_block.data());
    const double* b = LoadBlock(to, start, n, y_block.data());
    for (size_t i = 0; i < n; ++i) kept += a[i] == b[i] ? 1 : 0;
  }
  return static_cast<double>(kept) / static_cast<double>(from.count);
}

double ValueGrowth::Quotient(std::span<const std::string_view> inputs, size_t input) {
  const Tensor* divisor = values_(inputs[1]);
  if (!HasValues(divisor)) return 0;
  const double inverse = RmsOf(*divisor, [](double x) { return 1 / x; });
  return inverse * Scale(inputs[input]);
}

// Sums of K products of values and weights are sqrt(K) times as large as one of them, unless they
// cancel: few sums may, many are typical.
double ValueGrowth::MatrixGrowth(std::string_view op, std::span<const std::string_view> inputs,
                                 std::string_view output) {
  const Tensor* y = values_(output);
  if (!HasValues(y) || y->element_count() > kFewSums || y->dims().empty()) return 1;
  const auto& weights = model_.graph().initializers;
  const auto weight = std::find_if(weights.begin(), weights.end(),
                                   [&](const OnnxTensor& w) { return w.name == inputs[1]; });
  if (weight == weights.end() || weight->external || weight->dims.empty()) return 1;
  const Result<MappedWeight> mapped = MapWeight(model_, *weight, {});
  if (!mapped.ok() || !HasValues(&mapped->values)) return 1;
  const int64_t sums = op == "Conv" ? weight->dims[0] : y->dims().back();
  const double length = static_cast<double>(mapped->values.element_count()) /
                        static_cast<double>(std::max<int64_t>(sums, 1));
  const double of_weights = RmsOf(mapped->values, [](double x) { return x; });
  return std::sqrt(length) * of_weights * Scale(inputs[0]) / Scale(output);
}

// Rows as a layer normalisation's: what they have in common is subtracted.
double ValueGrowth::NormGrowth(std::string_view input) {
  const Tensor* x = values_(input);
  if (!HasValues(x) || x->dims().empty()) return 0;
  const int64_t length = x->dims().back();
  const ElementSpan elements = ElementsOf(*x);
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

double ValueGrowth::Raw(std::string_view op, std::span<const std::string_view> inputs,
                        std::string_view output, size_t input) {
  const double from = Scale(inputs[input]);
  const double to = Scale(output);
  if (!(from > 0) || !(to > 0)) return 1;
  if (Is(op, "Add Sub Sum")) return from / to;
  if (op == "Mul" && inputs.size() == 2) return from * Scale(inputs[1 - input]) / to;
  if (op == "Div" && inputs.size() == 2) return Quotient(inputs, input) / (input == 0 ? to : 1);
  if (Is(op, "Relu Clip Max Min ThresholdedRelu")) {
    return from * std::sqrt(KeptShare(inputs[input], output)) / to;
  }
  if (Is(op, "Conv MatMul Gemm") && input == 0 && inputs.size() > 1) {
    return MatrixGrowth(op, inputs, output);
  }
  if (op == "LayerNormalization" && input == 0) return NormGrowth(inputs[0]);
  if (Is(op, "ReduceMean GlobalAveragePool")) {
    const double length = static_cast<double>(values_(inputs[0])->element_count()) /
                          static_cast<double>(values_(output)->element_count());
    return from / (std::sqrt(std::max(length, 1.0)) * to);
  }
  for (const SlopeRule& rule : kSlopes) {
    if (rule.op == op && input == 0) return from * RmsOf(*values_(output), rule.slope) / to;
  }
  return 1;
}

double ValueGrowth::Of(const OnnxGraph& graph, const OnnxNode& node, size_t input) {
  const auto inputs = graph.Inputs(node);
  const auto outputs = graph.Outputs(node);
  if (!values_ || input >= inputs.size() || outputs.empty()) return 1;
  const double growth = Raw(node.op_type, inputs, outputs[0], input);
  return std::isfinite(growth) ? std::clamp(growth, 1.0, kMostGrowth) : 1;
}

}  // namespace vernier
