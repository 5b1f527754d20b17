#include "blame/judge/within_bounds.h"

#include <algorithm>

#include "util/text/number_text.h"

namespace vernier {
namespace {

double MadeByItself(const BlameLayerRecord& layer) {
  return std::max({layer.own_error.value_or(0), layer.in_place_error.value_or(0),
                   layer.fused_error.value_or(0)});
}

std::string WhatToDo(const FailedRun& failed, const std::string& unseen) {
  if (!unseen.empty()) return "; " + unseen + ", so the layer that produces it may be to blame.";
  if (!failed.non_finite.empty()) {
    return "; no layer makes " +
           (failed.non_finite == "NaN" ? "a NaN" : std::string("an infinite value")) +
           " when it is fed with this step again, so that side does not repeat itself, or keeps a "
           "state that --feed-back does not show.";
  }
  if (failed.by_bounds) {
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

std::string DescribeWithinBounds(const FailedRun& failed, const std::string& bodies,
                                 const std::string& unseen, const BlameRecord& record) {
  const std::string largest = LargestOwnError(record.layers);
  return "No layer by itself exceeds its error bound, but " + failed.what +
         (largest.empty() ? "; no layer makes an error by itself"
                          : "; the largest error of a layer by itself is " + largest) +
         bodies + WhatToDo(failed, unseen);
}

}  // namespace vernier
