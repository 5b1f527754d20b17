// What `blame` is asked to do, on top of the plan of a run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vernier/run_plan.h"
#include "vernier/tensor.h"

namespace vernier {

struct BlamePlan {
  RunPlan run;
  std::string reference;        ///< --reference; empty: the first in the order of kinds
  uint64_t max_host_bytes = 0;  ///< of all processes; 0: half of what is free besides
  uint64_t max_gpu_bytes = 0;   ///< 0: no limit is known
  std::string version;          ///< of the program, for records
  std::string save;             ///< --save-blame; empty: not saved, like the next two
  std::string bundle;
  std::string resume;
  bool charts = false;           ///< of every tensor, for a page
  std::vector<TensorMap> feeds;  ///< instead of those that the run's plan asks for; empty: those
  /// For --bundle, runner by runner: the words of a command line that run it on another model.
  std::vector<std::string> runner_words;
};

}  // namespace vernier
