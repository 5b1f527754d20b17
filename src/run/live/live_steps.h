// The steps of a run's runners: the state that each is fed back, states inside of a runner, and
// sequences of which a runner made all steps at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "backend/wire/tensor_block.h"
#include "run/feeds/fed_tokens.h"
#include "run/live/runner_reports.h"
#include "run/steps/step_states.h"
#include "run/steps/whole_sequence.h"
#include "run/workers/device_outputs.h"
#include "run/workers/runner_session.h"
#include "util/log/log.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

struct Embedder;

/// Runners are given by their index; iterations below 0 belong to no sequence.
class LiveSteps {
 public:
  /// All must outlive it; `caller` may be null. `runners` are those of the plan, as soon as
  /// anything else is asked.
  LiveSteps(const RunPlan& plan, std::deque<RunnerSession>& runners, RunnerReports& reports,
            const DeviceOutputs& devices, Logger& logger, const Embedder* caller);

  /// Errors as StepStates::Create.
  Status status() const { return states_.status(); }
  /// Null without steps.
  StepStates* states() { return states_.ok() && *states_ ? &**states_ : nullptr; }
  const StepStates* states() const { return states_.ok() && *states_ ? &**states_ : nullptr; }

  /// Finds what an opened runner is fed back. kInvalidArgument where it cannot do what the plan
  /// says; errors as StepStates::Pair.
  Status Pair(size_t index);
  /// Does the runner, within sequences of steps, keep a state that no feed and no result holds?
  bool StateIsInside(size_t index) const;

  /// Before each inference: a runner that keeps its state inside begins anew with each feed, or
  /// each sequence of steps. kBackend where it has not made the step before this one.
  Status Begin(size_t index, int64_t iteration);
  /// What is inside of the runner is no state of the last step.
  void ForgetInside(size_t index) { inside_.erase(index); }

  /// May states stay in workers? Then tensors of feeds and outputs may be held there.
  bool may_stay() const { return may_stay_; }
  /// The outputs that stay in the runner's worker, which the next step is fed with. Ids that the
  /// model looks up come here, to be compared with the rows of its table.
  std::vector<std::string> Staying(size_t index, int64_t iteration) const;
  /// The tables of the plan's models.
  const FedTokens& tokens() const { return tokens_; }
  /// The feed of a step to come for the worker of a lone runner, which will know the state. nullopt
  /// where more than its outputs is fed back, or something of its own.
  std::optional<TensorBlock> EncodeAhead(size_t index, const TensorMap& feed) const;

  /// False: the state that the runner is to be fed with is lost, and with it the rest of the
  /// sequence, which was reported; or the runner has failed.
  bool HasState(size_t index);
  /// It gives nothing more of the sequence that is at hand, which is reported. The state begins
  /// anew with the next one, and so does the runner, which has another worker.
  void LoseSequence(size_t index, const Status& why);
  /// A step of a sequence that was lost: an iteration without a result.
  std::optional<IterationResult> Miss(size_t index);
  /// The iterations that a runner has made, and those that it missed.
  int64_t IterationsOf(size_t index) const;

  /// What a runner gave, for its next step. One that lacks what that is fed with is out of the run,
  /// but not of this step. Other errors as StepStates::Remember.
  Status Remember(size_t index, const TensorMap& outputs);
  /// The same of a step that was made again.
  Status RememberAgain(size_t index, const TensorMap& outputs);

  /// Of a runner that takes all steps at once: is this one among what it has given already?
  bool Has(size_t index, int64_t iteration) const;
  Result<IterationResult> Take(size_t index, int64_t iteration);
  /// The step of this iteration of what such a runner gave, where outputs of no step are noted; of
  /// any other runner what it gave.
  Result<IterationResult> Keep(size_t index, int64_t iteration, IterationResult whole);

 private:
  bool HasLostSequence(size_t index) const;
  // kBackend where the state that the runner is to be fed with went with its worker.
  Status CheckState(size_t index) const;
  Status FailWithoutState(size_t index, Status remembered);
  std::vector<std::string> MayStay(size_t index) const;
  Status CheckTensorsFedBack(size_t index, const Status& paired) const;

  const RunPlan& plan_;
  std::deque<RunnerSession>& runners_;
  RunnerReports& reports_;
  const DeviceOutputs& devices_;
  Logger& logger_;
  Result<std::optional<StepStates>> states_;
  const bool may_stay_;
  const FedTokens tokens_;
  std::map<size_t, std::vector<std::string>> staying_;
  std::map<size_t, WholeSequence> whole_;  // of runners that take all steps at once
  std::map<size_t, StepPosition> inside_;  // the step that a runner's state comes from
  std::map<size_t, int64_t> lost_;         // the last sequence that a runner could not end
  std::map<size_t, int64_t> missed_;       // iterations
};

}  // namespace vernier
