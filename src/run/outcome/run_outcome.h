// The outcome of a run: its record, its faults, and what a search continues with.
#pragma once

#include <cstdint>
#include <vector>

#include "run/outcome/exit_code.h"
#include "vernier/run_record.h"
#include "vernier/tensor.h"

namespace vernier {

/// Inputs in memory of their own, with the iterations that they are of.
struct FlipInputs {
  std::vector<int64_t> iterations;
  std::vector<TensorMap> feeds;
};

struct RunOutcome {
  RunRecord record;
  RunFaults faults;
  FlipInputs flips = {};  ///< with --on-flips: those to search with, the worst first
};

}  // namespace vernier
