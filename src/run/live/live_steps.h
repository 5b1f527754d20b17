// The steps of a run's runners: the state that each is fed back, states inside of a runner, and
// sequences of which a runner made all steps at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "backend/tensor_block.h"
#include "run/steps/step_states.h"
#include "run/steps/whole_sequence.h"
#include "run/workers/device_outputs.h"
#include "run/workers/live_runner.h"
#include "util/log.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

struct Embedder;

/// Runners are given by their index; iterations below 0 belong to no sequence.
class LiveSteps {
 public:
  /// `plan` and `logger` must outlive it; `caller` may be null.
  LiveSteps(const RunPlan& plan, std::vector<std::string> runners, Logger& logger,
            const Embedder* caller);

  /// Errors as StepStates::Create.
  Status status() const { return states_.status(); }
  /// Null without steps.
  StepStates* states() { return states_.ok() && *states_ ? &**states_ : nullptr; }
  const StepStates* states() const { return states_.ok() && *states_ ? &**states_ : nullptr; }

  /// Before each inference: a runner that keeps its state inside begins anew with each feed, or
  /// each sequence of steps. kBackend where it has not made the step before this one.
  Status Begin(size_t index, LiveRunner& runner, int64_t iteration);
  /// What is inside of the runner is no state of the last step.
  void ForgetInside(size_t index) { inside_.erase(index); }

  /// May states stay in workers? Then tensors of feeds and outputs may be held there.
  bool may_stay() const { return may_stay_; }
  /// The outputs that stay in the runner's worker, which the next step is fed with.
  std::vector<std::string> Staying(size_t index, const LiveRunner& runner, int64_t iteration) const;
  /// The feed of a step to come for the worker of a lone runner, which will know the state. nullopt
  /// where more than its outputs is fed back, or something of its own.
  std::optional<TensorBlock> EncodeAhead(size_t index, const TensorMap& feed) const;
  /// kBackend where the state that the runner is to be fed with went with its worker.
  Status CheckState(size_t index, const DeviceOutputs& outputs) const;
  /// It gives nothing more of the sequence that is at hand.
  void LoseSequence(size_t index) { lost_.insert_or_assign(index, states()->position().sequence); }
  bool HasLostSequence(size_t index) const {
    const auto lost = lost_.find(index);
    return lost != lost_.end() && lost->second == states()->position().sequence;
  }

  /// Of a runner that takes all steps at once: is this one among what it has given already?
  bool Has(size_t index, int64_t iteration) const;
  Result<IterationResult> Take(size_t index, int64_t iteration) const;
  /// The step of this iteration of what such a runner gave; of any other runner what it gave.
  /// `left` are outputs of no step.
  Result<IterationResult> Keep(size_t index, int64_t iteration, IterationResult whole,
                               std::vector<std::string>& left);

 private:
  Result<std::optional<StepStates>> states_;
  const bool may_stay_;
  std::map<size_t, WholeSequence> whole_;  // of runners that take all steps at once
  std::map<size_t, StepPosition> inside_;  // the step that a runner's state comes from
  std::map<size_t, int64_t> lost_;         // the last sequence that a runner could not end
};

}  // namespace vernier
