// A runner in a process of its own that runs the same thing under different conditions.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "run/workers/embedder.h"
#include "run/workers/model_source.h"
#include "run/workers/runner_session.h"
#include "run/workers/worker_pool.h"
#include "vernier/run_plan.h"

namespace vernier {

/// What is different about a probe.
struct Circumstances {
  std::vector<std::pair<std::string, std::string>> settings = {};  ///< session options to replace
  std::vector<std::string> environment = {};                       ///< "NAME=value"
};

class Probe {
 public:
  /// What every probe of a check shares; all of it must outlive them.
  struct Shared {
    const ExecutionPlan& execution;
    const std::atomic<int>& interrupted;
    Logger& logger;
    const Embedder* caller = nullptr;          ///< where workers come from others; may be null
    std::span<const std::string> resets = {};  ///< the words of --reset, checked
    bool with_parts = false;                   ///< of outputs that are no tensors
  };

  /// Where the backend has a plug-in and can be served by Python, too, Python comes second, as in a
  /// run. Errors are the backend's.
  static Result<std::unique_ptr<Probe>> Open(const Shared& shared, const RunnerPlan& runner,
                                             const ModelSource& model,
                                             const Circumstances& circumstances = {});

  /// What feeds are made for: the inputs that the runner says it takes, or else those that
  /// --input-shapes describes; none where they are loaded or a script makes them. kInvalidArgument
  /// where they are not known.
  Result<std::vector<TensorInfo>> InputsToFeed(const InputPlan& inputs) const;

  /// The feed in the runner's own names and types; unchanged if it does not declare its inputs.
  Result<TensorMap> Coerce(const TensorMap& feed, Logger& logger) const;

  /// One inference with such a feed.
  Result<TensorMap> Infer(const TensorMap& feed);

  /// The same in the state in which the runner was left, or opened: it is not reset before.
  Result<TensorMap> InferUnreset(const TensorMap& feed);

  /// Further inferences with this feed, each in the state that the one before has left: at most
  /// `count`, all before the first that fails.
  struct Continuation {
    std::vector<TensorMap> outputs;
    Status failure = {};
  };
  Continuation GoOn(const TensorMap& feed, int64_t count);

  /// The same in unusual circumstances.
  Result<Worker::TrialOutcome> TryInfer(const TensorMap& feed, const TrialRequest& request);

  const RunnerSession& runner() const { return runner_; }
  Status Close() { return runner_.Close(); }

 private:
  Probe(const Shared& shared, RunnerPlan runner, const Circumstances& circumstances);
  Status OpenAt(RunnerPlace place, const ModelSource& model);

  RunnerPlan plan_;
  const std::string reset_;  // the method that --reset names; may be empty
  ExecutionPlan execution_;
  WorkerPool pool_;
  RunnerSession runner_;
  int64_t runs_ = 0;
};

/// A runner that any number of probes are opened of. All of it must outlive them.
struct ProbedRunner {
  const Probe::Shared& shared;
  const RunnerPlan& plan;
  const ModelSource& model;

  Result<std::unique_ptr<Probe>> Open(const Circumstances& circumstances = {}) const {
    return Probe::Open(shared, plan, model, circumstances);
  }
};

}  // namespace vernier
