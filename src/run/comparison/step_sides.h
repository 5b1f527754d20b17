// Which outputs of a step take part in a comparison: those that are fed back are states, and sides
// that took all steps at once have other shapes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compare/functions/comparison.h"
#include "run/comparison/compared_pairs.h"
#include "run/maps/pair_matching.h"
#include "run/steps/step_states.h"
#include "vernier/run_plan.h"

namespace vernier {

class StepSides {
 public:
  /// Both must outlive it; without steps (null) all outputs take part. `by_script`: a script
  /// compares.
  StepSides(const RunPlan& plan, const StepStates* steps, bool by_script)
      : plan_(&plan), steps_(steps), by_script_(by_script) {}

  /// What was cut from the outputs for all steps has another rank where these have no axis for what
  /// an output of one step has.
  void FitWholeSequences(const ComparedPair& pair, MatchedSides& sides) const;

  /// Leaves the pairs of states in the place of `sides` that are not compared at this step, and
  /// takes them out of `sides`. If each side has its own, a wrong state shows at later steps; an
  /// error of a state that is not fed back shows nowhere else.
  std::vector<OutputPair> TakeStates(const ComparedPair& pair, int64_t iteration,
                                     MatchedSides& sides) const;

  /// What is fed back matters to no user of the model, unless it is named or there is nothing
  /// else.
  void LeaveOutStates(const ComparedPair& pair, MatchedSides& sides) const;

  /// What is fed back is no distribution over classes, unless it is named: takes those away that
  /// only --compare logits would look at, and returns their names.
  std::vector<std::string> TakeNoLogits(const ComparedPair& pair, MatchedSides& sides) const;
  /// Of those that other functions look at, too, drops what --compare logits found.
  void DropNoLogits(const ComparedPair& pair, const std::vector<std::string>& taken,
                    IterationComparison& comparison) const;

  /// Is either output of a pair fed back?
  bool IsState(const ComparedPair& pair, const std::string& first, const std::string& second) const;

 private:
  bool MayBeLogits(const ComparedPair& pair, const std::string& first,
                   const std::string& second) const;

  const RunPlan* plan_;
  const StepStates* steps_;
  bool by_script_;
};

}  // namespace vernier
