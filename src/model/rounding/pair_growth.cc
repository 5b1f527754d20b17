// Growth of the errors that both sides' values show: of ValueGrowth.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

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

// One value of a tensor of scales is multiplied with so many neighbours of `values`: gates of
// channels, say. 0: the shapes are others.
int64_t NeighboursOf(const Dims& values, const Dims& scales) {
  if (values.size() != scales.size()) return 0;
  int64_t neighbours = 1;
  bool ended = false;  // the axes that both have
  for (size_t axis = values.size(); axis-- > 0;) {
    const bool same = scales[axis] == values[axis];
    if (!same && (scales[axis] != 1 || ended)) return 0;
    ended |= same && values[axis] != 1;
    if (!ended) neighbours *= values[axis];
  }
  return neighbours;
}

// Calls `visit(a, b, scale_a, scale_b)` with the elements of one place on both sides.
template <typename Visit>
void ForEachProduct(const std::array<const Tensor*, 2>& values,
                    const std::array<const Tensor*, 2>& scales, int64_t neighbours, Visit visit) {
  if (neighbours == 1) {
    return ForEachPlace(std::array{values[0], values[1], scales[0], scales[1]},
                        [&](const auto& at) { visit(at[0], at[1], at[2], at[3]); });
  }
  std::vector<double> a_block(static_cast<size_t>(neighbours)), b_block(a_block.size());
  int64_t start = 0;
  ForEachPlace(scales, [&](const auto& scale) {
    const double* a = LoadBlock(Elements(*values[0]), start, a_block.size(), a_block.data());
    const double* b = LoadBlock(Elements(*values[1]), start, b_block.size(), b_block.data());
    for (size_t i = 0; i < a_block.size(); ++i) visit(a[i], b[i], scale[0], scale[1]);
    start += neighbours;
  });
}

}  // namespace

PairGrowth ValueGrowth::FunctionGrowth(Slope slope, std::string_view input,
                                       std::string_view output) {
  const std::array tensors = {values_(input), others_(input), values_(output)};
  if (!AllAlike(tensors)) return {};
  double before = 0, behind = 0, largest = 0;
  ForEachPlace(tensors, [&](const auto& values) {
    const double difference = Square(values[0] - values[1]);
    const double passed_on = Square(slope(values[2])) * difference;
    if (!std::isfinite(passed_on)) return;
    before += difference;
    behind += passed_on;
    largest = std::max(largest, passed_on);
  });
  if (!(before > 0)) return {};
  return {std::sqrt(behind / before) * Scale(input) / Scale(output),
          std::sqrt(largest) / Scale(output)};
}

PairGrowth ValueGrowth::ProductGrowth(std::string_view values, std::string_view scales,
                                      std::string_view output) {
  const std::array of_values = {values_(values), others_(values)};
  const std::array of_scales = {values_(scales), others_(scales)};
  if (!AllAlike(of_values) || !AllAlike(of_scales)) return {};
  const int64_t neighbours = NeighboursOf(of_values[0]->dims(), of_scales[0]->dims());
  if (neighbours == 0) return {};
  double in_values = 0, in_scales = 0, in_products = 0, largest = 0;
  ForEachProduct(of_values, of_scales, neighbours, [&](double a, double b, double c, double d) {
    const double difference = Square(a * c - b * d);
    if (!std::isfinite(difference)) return;
    in_values += Square(a - b);
    in_scales += Square(c - d);
    in_products += difference;
    largest = std::max(largest, difference);
  });
  const double before =
      std::max(in_values / Square(Scale(values)), in_scales / Square(Scale(scales)));
  if (!(before > 0)) return {};
  return {std::sqrt(in_products / before) / Scale(output), std::sqrt(largest) / Scale(output)};
}

PairGrowth ValueGrowth::OfPairs(const OnnxGraph& graph, const OnnxNode& node) {
  const auto inputs = graph.Inputs(node);
  const auto outputs = graph.Outputs(node);
  if (!values_ || !others_ || inputs.empty() || outputs.empty()) return {};
  PairGrowth growth;
  if (node.op_type == "Mul" && inputs.size() == 2) {
    growth = ProductGrowth(inputs[0], inputs[1], outputs[0]);
    if (growth.largest == 0) growth = ProductGrowth(inputs[1], inputs[0], outputs[0]);
  }
  const Slope slope = node.op_type == "Softmax" ? nullptr : SlopeOf(node.op_type);
  if (slope != nullptr) growth = FunctionGrowth(slope, inputs[0], outputs[0]);
  if (!std::isfinite(growth.times) || !std::isfinite(growth.largest)) return {};
  growth.times = std::clamp(growth.times, 1.0, kMostGrowth);
  return growth;
}

}  // namespace vernier
