// Growth of the errors that both sides' values show: of ValueGrowth.
#include <algorithm>
#include <array>
#include <cmath>

#include "model/rounding/error_growth.h"
#include "model/rounding/tensor_places.h"
#include "model/rounding/value_growth.h"

namespace vernier {
namespace {

template <size_t N>
bool AllAlike(const std::array<const Tensor*, N>& tensors) {
  return std::ranges::all_of(tensors, [&](const Tensor* tensor) {
    return HasValues(tensor) && tensor->dims() == tensors[0]->dims();
  });
}

}  // namespace

double ValueGrowth::FunctionGrowth(Slope slope, std::string_view input, std::string_view output) {
  const std::array tensors = {values_(input), others_(input), values_(output)};
  if (!AllAlike(tensors)) return 1;
  double before = 0, behind = 0;
  ForEachPlace(tensors, [&](const auto& values) {
    const double difference = Square(values[0] - values[1]);
    const double passed_on = Square(slope(values[2])) * difference;
    if (!std::isfinite(passed_on)) return;
    before += difference;
    behind += passed_on;
  });
  return before > 0 ? std::sqrt(behind / before) * Scale(input) / Scale(output) : 1;
}

double ValueGrowth::ProductGrowth(std::string_view first, std::string_view second) {
  const std::array tensors = {values_(first), others_(first), values_(second), others_(second)};
  if (!AllAlike(tensors)) return 1;
  double of_first = 0, of_second = 0, of_products = 0, products = 0;
  ForEachPlace(tensors, [&](const auto& values) {
    const double product = values[0] * values[2];
    const double difference = Square(product - values[1] * values[3]);
    if (!std::isfinite(difference)) return;
    of_first += Square(values[0] - values[1]);
    of_second += Square(values[2] - values[3]);
    of_products += difference;
    products += Square(product);
  });
  const double count = static_cast<double>(tensors[0]->element_count());
  const double before =
      std::max(of_first / Square(Scale(first)), of_second / Square(Scale(second)));
  return before > 0 ? std::sqrt(of_products / products / (before / count)) : 1;
}

double ValueGrowth::OfPairs(const OnnxGraph& graph, const OnnxNode& node) {
  const auto inputs = graph.Inputs(node);
  const auto outputs = graph.Outputs(node);
  if (!values_ || !others_ || inputs.empty() || outputs.empty()) return 1;
  double growth = 1;
  if (node.op_type == "Mul" && inputs.size() == 2) growth = ProductGrowth(inputs[0], inputs[1]);
  const Slope slope = node.op_type == "Softmax" ? nullptr : SlopeOf(node.op_type);
  if (slope != nullptr) growth = FunctionGrowth(slope, inputs[0], outputs[0]);
  return std::isfinite(growth) ? std::clamp(growth, 1.0, kMostGrowth) : 1;
}

}  // namespace vernier
