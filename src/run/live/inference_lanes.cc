#include "run/live/inference_lanes.h"

#include <algorithm>
#include <utility>

namespace vernier {
namespace {

void InferTasks(std::vector<LaneTask>& tasks, int64_t iteration,
                const std::atomic<bool>& dropping) {
  for (LaneTask& task : tasks) {
    if (dropping.load()) return;
    LiveRunner& replica = *task.replica;
    replica.HoldLog();
    task.outcome.emplace(replica.InferOnly(*task.feed, iteration * task.batch, task.count));
    task.said = replica.TakeLog();
    if (!task.outcome->ok()) task.unseen_words = replica.UnseenWords();
  }
}

}  // namespace

void InferenceLanes::Add(int64_t iteration, std::vector<LaneTask> tasks) {
  jobs_.push_back(std::make_unique<Job>(Job{iteration, std::move(tasks), {}}));
  Launch(LaneOf(iteration));
}

// Starts the first job of the lane, unless it has been started.
void InferenceLanes::Launch(size_t lane) {
  const auto found = std::ranges::find_if(
      jobs_, [&](const std::unique_ptr<Job>& job) { return LaneOf(job->iteration) == lane; });
  if (found == jobs_.end() || (*found)->done.valid()) return;
  Job& job = **found;
  // Where no thread can be had, it infers when it is waited for.
  job.done = std::async([this, &job] { InferTasks(job.tasks, job.iteration, dropping_); });
}

std::vector<LaneTask> InferenceLanes::Collect(int64_t iteration) {
  const auto found = std::ranges::find_if(
      jobs_, [&](const std::unique_ptr<Job>& job) { return job->iteration == iteration; });
  if (found == jobs_.end()) return {};
  if ((*found)->done.valid()) (*found)->done.wait();
  std::vector<LaneTask> tasks = std::move((*found)->tasks);
  jobs_.erase(found);
  Launch(LaneOf(iteration));
  return tasks;
}

void InferenceLanes::Wait() {
  for (const std::unique_ptr<Job>& job : jobs_) {
    if (job->done.valid()) job->done.wait();
  }
}

void InferenceLanes::Drop() {
  const auto set_unwanted = [this](bool unwanted) {
    for (const std::unique_ptr<Job>& job : jobs_) {
      for (const LaneTask& task : job->tasks) task.replica->SetUnwanted(unwanted);
    }
  };
  // Else a lane would go on with its next runner, and each would be waited for.
  dropping_ = true;
  set_unwanted(true);
  Wait();
  set_unwanted(false);
  dropping_ = false;
  for (const std::unique_ptr<Job>& job : jobs_) {
    for (const LaneTask& task : job->tasks) {
      if (task.outcome && !task.outcome->ok()) task.replica->LeaveDeadWorker();
    }
  }
  jobs_.clear();
}

}  // namespace vernier
