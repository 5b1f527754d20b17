#include "run/live/runner_replicas.h"

#include <memory>
#include <string>
#include <utility>

#include "util/log/no_log.h"

namespace vernier {

RunnerReplicas::RunnerReplicas(const RunPlan& plan, std::deque<RunnerSession>& runners,
                               RunnerOpener& opener, RunnerReports& reports)
    : plan_(plan),
      runners_(runners),
      opener_(opener),
      reports_(reports),
      lanes_(plan.execution.WorkersOfRunner()) {
  for (size_t lane = 1; lane < lanes_; ++lane) {
    for (size_t i = 0; i < runners_.size(); ++i) {
      RunnerSession& replica = replicas_.emplace_back(runners_[i].plan());
      if (plan_.lenient) replica.LeaveOutParts();
      if (!runners_[i].opened()) continue;
      Result<std::shared_ptr<Worker>> worker = opener_.WorkerFor(i, runners_[i].plan(), lane);
      if (worker.ok()) {
        replica.Attach(*std::move(worker), i);
      } else {
        Fail(lane, i, worker.status());
      }
    }
  }
}

Status RunnerReplicas::Open(const PythonFeeds& python) {
  for (size_t i = 0; i < runners_.size(); ++i) VERNIER_TRY(OpenOf(i, python));
  return {};
}

Status RunnerReplicas::OpenOf(size_t index, const PythonFeeds& python) {
  const RunnerSession& runner = runners_[index];
  if (!runner.opened()) return {};
  VERNIER_ASSIGN_OR_RETURN(const ModelPlan model, opener_.ModelAgain(runner.plan()));
  NoLog unheard;
  VERNIER_ASSIGN_OR_RETURN(const SessionParts parts,
                           opener_.Prepare(runner.plan(), model, python, unheard));
  for (size_t lane = 1; lane < lanes_ && runner.alive(); ++lane) {
    RunnerSession& replica = Of(lane, index);
    const Status status = replica.Open(*parts.model, parts.options, plan_.inputs.found_dims);
    if (status.code() == StatusCode::kInvalidArgument || status.code() == StatusCode::kCancelled) {
      return status;
    }
    if (!status.ok()) Fail(lane, index, status);
    if (status.ok()) NoteOtherDevice(lane, index);
    if (status.ok() && plan_.execution.hash_inputs) replica.HashInputs();
  }
  return {};
}

// Devices of one kind give the same bits.
void RunnerReplicas::NoteOtherDevice(size_t lane, size_t index) {
  const std::string& here = Of(lane, index).session().device;
  const std::string& first = runners_[index].session().device;
  if (here == first) return;
  reports_.NoteOnce(runners_[index].name() + ": worker " + std::to_string(lane + 1) +
                    " computes on " + here + ", and the first on " + first +
                    ": outputs may depend on which of them has an iteration");
}

void RunnerReplicas::Fail(size_t lane, size_t index, const Status& why) {
  const std::string which =
      "worker " + std::to_string(lane + 1) + " of " + std::to_string(lanes_) + ": ";
  reports_.Fail(runners_[index], Status(why.code(), which + why.message()),
                Of(lane, index).UnseenWords());
}

Status RunnerReplicas::Warm(size_t index, const TensorBlock& feed, int64_t iteration) {
  for (size_t lane = 1; lane < lanes_ && runners_[index].alive(); ++lane) {
    const Status status = Of(lane, index).InferOnly(feed, iteration).status();
    if (status.code() == StatusCode::kCancelled) return status;
    if (!status.ok()) Fail(lane, index, BackendError(status.message()));
  }
  return {};
}

Status RunnerReplicas::Close(size_t index) {
  Status first;
  for (size_t lane = 1; lane < lanes_; ++lane) {
    Status closed = Of(lane, index).Close();
    if (first.ok()) first = std::move(closed);
  }
  return first;
}

}  // namespace vernier
