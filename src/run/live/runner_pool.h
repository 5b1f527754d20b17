// The runners of a run that infer live: opens them, brings them back when another one has ended
// their worker, and closes them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "run/live/live_steps.h"
#include "run/live/runner_feeds.h"
#include "run/live/runner_opener.h"
#include "run/live/runner_reports.h"
#include "run/workers/device_outputs.h"
#include "run/workers/runner_session.h"
#include "util/log/log.h"
#include "vernier/dim_size.h"
#include "vernier/run_plan.h"
#include "vernier/run_record.h"
#include "vernier/status.h"

namespace vernier {

/// Start() and Open() for each, then Close() for each. Runners are identified by their place in the
/// plan.
class RunnerPool {
 public:
  /// All must outlive it; `caller` may be null. `waiting` is what runners are opened with
  /// (RunnerSession::Waiting).
  RunnerPool(const RunPlan& plan, const std::atomic<int>& interrupted, Logger& logger,
             const Embedder* caller = nullptr, const RunnerSession::Waiting& waiting = {});

  /// What is carried out, with the sizes that ReopenFor() was given.
  const RunPlan& plan() const { return plan_; }
  bool interrupted() const { return interrupted_.load() != 0; }

  size_t size() const { return runners_.size(); }
  RunnerSession& operator[](size_t index) { return runners_[index]; }
  const RunnerSession& operator[](size_t index) const { return runners_[index]; }
  std::deque<RunnerSession>& all() { return runners_; }
  bool any_alive() const;
  bool any_failed() const;
  /// True if a runner that the caller requires is unavailable (kUnavailable).
  bool lacks_needed() const;
  /// Of their models: with outputs that are marked or chosen.
  bool any_marked() const;
  std::vector<std::string> names() const;

  /// The iterations that a runner has made, and those that it could not as its state was lost.
  int64_t IterationsOf(size_t index) const { return steps_.IterationsOf(index); }
  /// Iterations finished by every live runner; the largest int64 if none is alive.
  size_t CommonIterations() const;

  /// What they are fed.
  RunnerFeeds& feeds() { return feeds_; }
  const RunnerFeeds& feeds() const { return feeds_; }
  /// What was reported about them.
  RunnerReports& reports() { return reports_; }
  const RunnerReports& reports() const { return reports_; }
  /// Their workers, and those of the run's scripts.
  RunnerOpener& opener() { return opener_; }
  const RunnerOpener& opener() const { return opener_; }
  /// The outputs that stayed in workers. Tensors of this run must not outlive it.
  DeviceOutputs& devices() { return devices_; }
  /// What they make of steps.
  LiveSteps& sequences() { return steps_; }
  const LiveSteps& sequences() const { return steps_; }
  /// State that is fed back between steps; null without steps.
  StepStates* steps() { return steps_.states(); }
  const StepStates* steps() const { return steps_.states(); }

  /// Starts the workers of all runners, side by side.
  void Start();
  void StartOne(size_t index) { opener_.Start(index, runners_[index]); }

  /// Opens one runner. `python` is what feeds come from where a script makes or draws them, for
  /// runners that are calibrated; it must outlive this. A failure puts the runner out of the run; a
  /// model or a name that is wrong is returned, since it is not the backend's fault.
  Status Open(size_t index, PythonFeeds python = {});
  /// That of the last Open(), for sessions that are opened anew.
  const PythonFeeds& python_feeds() const { return python_feeds_; }

  /// Opens a runner again, in another worker, where another one has ended the worker that they
  /// shared. Errors as Open().
  Status BringBack(size_t index);

  /// Feeds will have these sizes, which no runner was opened for: the plan has them from now on,
  /// and those whose sessions take certain sizes alone are opened anew. Errors as Open().
  Status ReopenFor(std::span<const DimSize> found);

  /// Ends a runner, and then what `others` ends, which may be empty: its further workers. One that
  /// fails even there is out of the run like any other.
  void Close(size_t index, const std::function<Status()>& others = {});

  std::vector<RunnerRecord> Records() const;

 private:
  const RunnerSession* WhoEndedWorkerOf(const RunnerSession& runner) const;
  Status OpenModel(size_t index, const ModelPlan& plan, Logger& logger);

  RunPlan plan_;
  Logger& logger_;
  const std::atomic<int>& interrupted_;
  const bool needs_every_runner_;
  RunnerReports reports_;
  RunnerOpener opener_;
  DeviceOutputs devices_;
  std::deque<RunnerSession> runners_;
  LiveSteps steps_;  // an error is Open()'s
  RunnerFeeds feeds_;
  PythonFeeds python_feeds_;
};

}  // namespace vernier
