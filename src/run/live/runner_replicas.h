// The runners of a run once more in each further worker that the plan gives them
// (--workers-per-runner, --devices).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "backend/wire/tensor_block.h"
#include "run/feeds/feed_stream.h"
#include "run/live/runner_opener.h"
#include "run/live/runner_reports.h"
#include "run/workers/runner_session.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

/// A lane has a worker of every runner; the first is that of the runners themselves. What fails in
/// another one puts its runner out of the run.
class RunnerReplicas {
 public:
  /// Starts workers for the `runners` that are open: all of them before the first is opened, so
  /// that they load their frameworks side by side. All must outlive it.
  RunnerReplicas(const RunPlan& plan, std::deque<RunnerSession>& runners, RunnerOpener& opener,
                 RunnerReports& reports);

  /// Opens the models there. `python` and errors as in RunnerOpener::Open.
  Status Open(const PythonFeeds& python);

  size_t lanes() const { return lanes_; }
  RunnerSession& Of(size_t lane, size_t index) {
    return lane == 0 ? runners_[index] : replicas_[(lane - 1) * runners_.size() + index];
  }
  std::deque<RunnerSession>& runners() { return runners_; }

  /// One inference in each further worker of a runner, of which nothing is kept. kCancelled.
  Status Warm(size_t index, const TensorBlock& feed, int64_t iteration);

  /// Ends the further workers of a runner: the first error.
  Status Close(size_t index);

 private:
  Status OpenOf(size_t index, const PythonFeeds& python);
  void NoteOtherDevice(size_t lane, size_t index);
  void Fail(size_t lane, size_t index, const Status& why);

  const RunPlan& plan_;
  std::deque<RunnerSession>& runners_;
  RunnerOpener& opener_;
  RunnerReports& reports_;
  const size_t lanes_;
  std::deque<RunnerSession> replicas_;  // one of each runner for each lane but the first
};

}  // namespace vernier
