// The name of the option that makes a run one over steps.
#pragma once

#include <string_view>

#include "vernier/input_plan.h"

namespace vernier {

/// Of a plan whose steps are wanted.
inline std::string_view FlagOf(const StepPlan& steps) {
  if (steps.steps) return "--steps";
  if (steps.decodes()) return "--decode";
  if (!steps.feed_back.empty()) return "--feed-back";
  return steps.slices.empty() ? "--advance" : "--step-slice";
}

}  // namespace vernier
