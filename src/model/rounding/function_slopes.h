// The slopes of functions of one value, by which they pass errors on.
#pragma once

#include <algorithm>
#include <cmath>
#include <string_view>

namespace vernier {

/// |f'| at a value y of the output.
using Slope = double (*)(double y);

struct SlopeRule {
  std::string_view op;
  Slope slope;
};
inline constexpr SlopeRule kSlopes[] = {
    {"Reciprocal", [](double y) { return y * y; }},
    {"Sqrt", [](double y) { return 0.5 / y; }},
    {"Exp", [](double y) { return y; }},
    {"Log", [](double y) { return std::exp(-y); }},
    {"Sigmoid", [](double y) { return y * (1 - y); }},
    {"Softmax", [](double y) { return y * (1 - y); }},  // of its own value alone
    {"Tanh", [](double y) { return 1 - y * y; }},
    {"Sin", [](double y) { return std::sqrt(std::max(1 - y * y, 0.0)); }},
    {"Cos", [](double y) { return std::sqrt(std::max(1 - y * y, 0.0)); }},
};

/// Null for an operator that is not in the table.
inline Slope SlopeOf(std::string_view op_type) {
  const auto* rule = std::ranges::find(kSlopes, op_type, &SlopeRule::op);
  return rule == std::end(kSlopes) ? nullptr : rule->slope;
}

}  // namespace vernier
