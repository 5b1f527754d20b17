// What a comparison with the first runner says of a runner that is profiled.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "run/live/inference_scheduler.h"
#include "run/live/lost_outputs.h"
#include "run/live/pair_error_bounds.h"
#include "run/outcome/exit_code.h"
#include "vernier/profile_record.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// A runner of the plan, whose outputs are compared with those of its first.
struct ProfiledRunner {
  size_t place = 0;                   ///< among the plan's runners, from 1
  bool marked = false;                ///< the command line marks tensors as outputs
  PairErrorBounds* bounds = nullptr;  ///< null: --tolerance auto is not asked for
  InferenceScheduler& live;           ///< in which it is alone
};

/// What the first runner made of the same inputs.
struct ProfiledReference {
  IterationResult result;
  std::vector<LostOutputs> lost;  ///< LostOutputsOf()
};

/// The verdict of `run` on one iteration of the two, in short.
struct ProfiledVerdict {
  ProfileAccuracy accuracy;
  RunFaults faults;
  std::vector<std::string> notes;
  std::vector<std::string> incomplete;  ///< why less was compared than was asked for
  std::vector<std::string> rejections;  ///< by --strict
};

/// Outputs that agree say nothing of those without a counterpart: unless these are expected, they
/// leave the runner without a comparison that passed, and so do outputs that could not be verified
/// or are no tensors on either side.
/// kInvalidArgument as ComparisonRun::Compare().
Result<ProfiledVerdict> JudgeProfiled(const RunPlan& plan, const ProfiledRunner& runner,
                                      const ProfiledReference& reference, IterationResult result);

}  // namespace vernier
