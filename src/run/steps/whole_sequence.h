// What a runner makes of all steps of a sequence in one inference (--steps-axis).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "run/steps/step_timeline.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

class WholeSequence {
 public:
  /// `axis` is the one along which outputs have the steps.
  explicit WholeSequence(size_t axis) : axis_(axis) {}

  /// The outputs for all steps of the sequence at `position`. An output whose size along the axis
  /// is no multiple of the steps, a final state for example, belongs to no step: it goes, and its
  /// name is among those that are returned. kMalformed where that is so of all.
  Result<std::vector<std::string>> Keep(const StepPosition& position, IterationResult whole);

  /// Is a step of this sequence here?
  bool Has(const StepPosition& position) const { return position.sequence == sequence_; }
  /// The part of a step that is here; it has no time of its own. kInvalidArgument for types that
  /// cannot be taken apart; kInternal when memory cannot be had.
  Result<IterationResult> OfStep(const StepPosition& position) const;

 private:
  size_t axis_;
  int64_t sequence_ = -1;
  IterationResult whole_;
};

/// Such a part in the shape of what another runner gives for one step, where the two differ in axes
/// of length 1 alone; else as it is.
Tensor AsOfOneStep(const Tensor& part, const Dims& step);

}  // namespace vernier
