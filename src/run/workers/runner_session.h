// A runner while it runs: its session in a worker, what it said of itself, and how long it took.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backend/worker/worker.h"
#include "run/workers/device_outputs.h"
#include "run/workers/inference_times.h"
#include "run/workers/model_source.h"
#include "run/workers/opened_model.h"
#include "run/workers/received_inputs.h"
#include "run/workers/skipped_outputs.h"
#include "vernier/dim_size.h"
#include "vernier/run_record.h"
#include "vernier/runner_plan.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// What stays in a worker, and who has it there: outputs on a device, if another runner of the same
/// worker may have its own there, or those that are named. Null: nothing does.
struct OutputsThatStay {
  DeviceOutputs* held = nullptr;
  std::vector<std::string> names = {};
};

class RunnerSession {
 public:
  /// What is called while a model is opened: with the seconds that it has taken so far, and with
  /// nothing once that is over.
  using Waiting = std::function<void(std::optional<double>)>;
  explicit RunnerSession(const RunnerPlan& plan, Waiting waiting = {})
      : plan_(plan), waiting_(std::move(waiting)) {}

  const std::string& name() const { return plan_.name; }
  const RunnerPlan& plan() const { return plan_; }

  /// Gives the runner its worker, which may still be loading.
  void Attach(std::shared_ptr<Worker> worker, uint64_t session_id) {
    worker_ = std::move(worker);
    served_by_ = worker_;
    session_id_ = session_id;
  }

  /// Has its worker ended after the framework was loaded? Another worker may then serve it.
  bool lost_worker() const;
  /// Is or was the worker that it was given last the same?
  bool shared_worker_with(const RunnerSession& other) const {
    return !served_by_.owner_before(other.served_by_) && !other.served_by_.owner_before(served_by_);
  }

  /// Waits for the framework; backend() has what it says from then on.
  Status AwaitBackend();
  /// Waits for the framework and opens the model, with `more` options. `found` are sizes that feeds
  /// will have, for profiles of TensorRT.
  Status Open(const ModelSource& model, const MoreOptions& more = {},
              std::span<const DimSize> found = {});

  /// One inference; outputs are in the signature's order, each name once. `meanwhile`: see
  /// Worker::Run.
  Result<IterationResult> Infer(const TensorBlock& feed, int64_t iteration,
                                const OutputsThatStay& stay = {},
                                const std::function<void()>& meanwhile = {});
  /// See DeviceOutputs::Encode.
  Result<std::optional<TensorBlock>> EncodeKept(const TensorMap& feed, DeviceOutputs& held) const {
    return held.Encode(feed, *worker_);
  }

  /// Does the model keep state inside, from one inference to the next, which can be reset?
  bool keeps_state() const { return session().keeps_state || opens_again_; }
  /// From now on it counts as such a model, which its worker resets by opening it again.
  void OpenAgainToReset() { opens_again_ = true; }
  /// Whether further inferences go on with the state of the one before. If not, which is so at
  /// first, it is reset before each; not before those of TryInfer().
  void GoOn(bool goes_on) { goes_on_ = goes_on; }

  /// From now on inferences leave out sequences, maps and optionals, as outputs that are no
  /// tensors. For callers that judge outputs as the model declares them, and for Polygraphy's
  /// behaviour.
  void LeaveOutParts() { without_parts_ = true; }

  /// The two halves of Infer(), outputs on the host: the inference, which may be another thread's
  /// and another session of the same runner's, and what is made of it and counted here.
  Result<Worker::Outcome> InferOnly(const TensorBlock& feed, int64_t iteration) {
    return RunSession(feed, iteration, {});
  }
  /// The first half for the feeds of `count` iterations, put together.
  Result<Worker::Outcome> InferOnly(const TensorBlock& feed, int64_t first, int64_t count,
                                    const std::function<void()>& meanwhile = {}) {
    return RunSession(feed, first, {}, meanwhile, count);
  }
  Result<IterationResult> Take(Worker::Outcome outcome, int64_t iteration,
                               DeviceOutputs* devices = nullptr);

  /// Infer() once more, for outputs that were lost or for other inputs: on the host, and neither
  /// counted nor timed.
  Result<IterationResult> InferAgain(const TensorBlock& feed, int64_t iteration);

  /// See Worker::RunAhead.
  bool InferAhead(const TensorBlock& feed, const OutputsToKeep& kept = {}) {
    return !keeps_state() && worker_->RunAhead(session_id_, feed, kept);
  }
  size_t runs_ahead() const { return worker_ == nullptr ? 0 : worker_->runs_ahead(); }
  /// See Worker::serves_plugin.
  bool in_plugin() const { return worker_ != nullptr && worker_->serves_plugin(); }

  /// From now on Infer() learns what the framework's process received. A worker that cannot do so
  /// is no failure.
  void HashInputs() { received_.Count(worker_->HashInputs(session_id_).ok()); }
  const ReceivedInputs& received() const { return received_; }

  /// Infer() in unusual circumstances; `request` need not name the session.
  Result<Worker::TrialOutcome> TryInfer(const TensorBlock& feed, TrialRequest request);

  /// An inference whose result was there already, and how long it took.
  void TakeOver(std::optional<double> seconds) { times_.Add(seconds); }
  /// Before that: it was made from inputs with these hashes, which received() then gives.
  void TakeOverInputs(InputHashes hashes) { received_.TakeOver(std::move(hashes)); }

  /// Between these, what the framework says waits: for inferences on several threads.
  void HoldLog() { worker_->HoldLog(); }
  void ReleaseLog() { worker_->ReleaseLog(); }
  HeldLines TakeLog() { return worker_->TakeLog(); }

  /// See Worker::SetUnwanted. Afterwards a worker that did not survive it is no failure.
  void SetUnwanted(bool unwanted) {
    if (worker_ != nullptr) worker_->SetUnwanted(unwanted);
  }
  void LeaveDeadWorker() {
    if (worker_ != nullptr && !worker_->death().ok()) worker_ = nullptr;
  }

  /// Ends the session, and the worker if this was its last runner. A framework that dies or hangs
  /// even now is an error, though everything it computed has been delivered.
  Status Close();

  /// See Worker::UnseenWords; what HoldWords() has kept is in its place.
  std::string UnseenWords();
  /// Before each of the trials that are not to be logged: keeps the words of the inference before
  /// them, and drops theirs.
  void HoldWords();
  /// After the last of them.
  void DropTrialWords() {
    if (held_words_) HoldWords();
  }

  /// Puts the runner out of the run for good.
  void Fail(Status why) { failure_ = std::move(why); }
  bool alive() const { return failure_.ok(); }
  bool opened() const { return opened_ && alive(); }
  const Status& failure() const { return failure_; }

  /// Neither scripts nor TorchScript files need say what they take: such a runner is given feeds
  /// as they are. Of inputs that it has names for, types are kUndefined.
  bool inputs_unknown() const;

  const BackendInfo& backend() const { return backend_; }
  const OpenedModel& model() const { return model_; }
  const SessionDescription& session() const { return model_.session; }
  const SkippedOutputs& skipped() const { return skipped_; }

  /// What is known of it once it was opened; not how fast it was, and not how it failed.
  RunnerRecord Describe() const;

  const InferenceTimes& times() const { return times_; }
  int64_t iterations() const { return times_.count(); }
  void ForgetTimes() { times_ = {}; }

  /// Nothing that was inferred so far counts: neither times nor what was received.
  void ForgetInferences();

  /// See Worker::TakePeakMemory.
  std::optional<uint64_t> TakePeakMemory() {
    return worker_ ? worker_->TakePeakMemory() : std::nullopt;
  }

 private:
  Status OpenSession(const ModelSource& model, const MoreOptions& more,
                     std::span<const DimSize> found);
  Result<Worker::Outcome> RunSession(const TensorBlock& feed, int64_t iteration,
                                     const OutputsToKeep& kept,
                                     const std::function<void()>& meanwhile = {},
                                     int64_t count = 1);
  Result<IterationResult> ResultOf(Worker::Outcome& outcome) const;
  std::vector<SkippedOutput> DropParts(TensorMap& outputs) const;

  const RunnerPlan& plan_;
  const Waiting waiting_;
  std::shared_ptr<Worker> worker_;
  std::optional<std::string> held_words_;
  std::weak_ptr<Worker> served_by_;  // distinguishes workers even when they are gone
  uint64_t session_id_ = 0;
  Status failure_;
  BackendInfo backend_;
  OpenedModel model_;
  bool opened_ = false;
  InferenceTimes times_;
  ReceivedInputs received_;
  SkippedOutputs skipped_;
  bool goes_on_ = false;
  bool opens_again_ = false;
  bool without_parts_ = false;
};

}  // namespace vernier
