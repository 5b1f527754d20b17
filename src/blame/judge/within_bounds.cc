#include "blame/judge/within_bounds.h"

#include <algorithm>

#include "util/number_text.h"

namespace vernier {
namespace {

double MadeByItself(const BlameLayerRecord& layer) {
  return std::max({layer.own_error.value_or(0), layer.in_place_error.value_or(0),
                   layer.fused_error.value_or(0)});
}

std::string WhatToDo(const std::string& unseen, bool by_bounds) {
  if (!unseen.empty()) return "; " + unseen + ", so the layer that produces it may be to blame.";
  if (by_bounds) {
    return "; small errors of many layers may add up to it, which no single layer shows.";
  }
  return "; to accept the differences of correct runners, judge the outputs by error bounds too:"
         " --tolerance auto.";
}

}  // namespace

std::string LargestOwnError(std::span<const BlameLayerRecord> layers) {
  const auto largest = std::max_element(
      layers.begin(), layers.end(),
      [](const auto& a, const auto& b) { return MadeByItself(a) < MadeByItself(b); });
  if (largest == layers.end() || MadeByItself(*largest) == 0) return "";
  return FormatG(MadeByItself(*largest), 3) + " times its error bound, of '" + largest->node +
         "' (" + largest->op_type + ")";
}

std::string DescribeWithinBounds(const std::string& failed, const std::string& bodies,
                                 const std::string& unseen, bool by_bounds,
                                 const BlameRecord& record) {
  const std::string largest = LargestOwnError(record.layers);
  return "No layer by itself exceeds its error bound, but " + failed +
         (largest.empty() ? "; no layer makes an error by itself"
                          : "; the largest error of a layer by itself is " + largest) +
         bodies + WhatToDo(unseen, by_bounds);
}

}  // namespace vernier
