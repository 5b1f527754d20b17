// The task of `blame`: the plan of a run, and how to search.
#pragma once

#include <string>
#include <vector>

#include "vernier/run_plan.h"
#include "vernier/tensor.h"

namespace vernier {

struct BlamePlan : BlameOptions {
  RunPlan run;
  bool charts = false;           ///< of every tensor, for a page
  std::vector<TensorMap> feeds;  ///< instead of those that the run's plan asks for; empty: those
  /// What a run before found out of its tolerance, for a sentence: "output 'y' is 3 times over the
  /// tolerance of the run"; empty: nothing, or there was no run.
  std::string failed = {};
  /// That is NaN, or "infinite", of one side alone; empty: it is not.
  std::string failed_by = {};
  bool all_positions = false;  ///< those that a mask excludes count, too
  /// Outputs of either side that the next step is fed with: all their positions count.
  std::vector<std::string> fed_back = {};
};

}  // namespace vernier
