// The steps of saved outputs that are compared without a runner.
#pragma once

#include <memory>

#include "run/saved/saved_runs.h"
#include "run/steps/step_states.h"
#include "util/log/log.h"
#include "vernier/run_plan.h"

namespace vernier {

/// A plan with what the files say of their steps, and these.
class SavedSteps {
 public:
  /// Null where there are runners, where no file says which steps it holds, and with --lenient.
  /// `logger` must outlive the object.
  static std::unique_ptr<SavedSteps> Find(const RunPlan& plan, const SavedRuns& loaded,
                                          Logger& logger);

  SavedSteps(const SavedSteps&) = delete;
  SavedSteps& operator=(const SavedSteps&) = delete;

  const RunPlan& plan() const { return plan_; }
  StepStates* states() { return &*states_; }

 private:
  explicit SavedSteps(const RunPlan& plan) : plan_(plan) {}

  RunPlan plan_;
  std::optional<StepStates> states_;
};

}  // namespace vernier
