#include "run/lanes/inference_lanes.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace vernier {

void InferenceLanes::Add(int64_t iteration, std::vector<LaneTask> tasks) {
  Job* const job =
      jobs_.emplace_back(std::make_unique<Job>(Job{iteration, std::move(tasks)})).get();
  Lane& lane = lanes_[LaneOf(iteration)];
  {
    const std::scoped_lock lock(mutex_);
    lane.waiting.push_back(job);
    if (std::exchange(lane.running, true)) return;
  }
  // If no thread is available, get() does this synchronously.
  lane.run = std::async([this, &lane] { Run(lane); });
}

// Until nothing waits.
void InferenceLanes::Run(Lane& lane) {
  std::unique_lock lock(mutex_);
  while (!lane.waiting.empty()) {
    Job& job = *lane.waiting.front();
    lane.waiting.pop_front();
    lock.unlock();
    Infer(job, lane);
    lock.lock();
    job.done = true;
    done_.notify_all();
  }
  lane.running = false;
}

void InferenceLanes::Infer(Job& job, Lane& lane) {
  for (LaneTask& task : job.tasks) {
    // What its worker has been sent must be taken, or the next inference would be given it.
    if (dropping_.load() && !job.sent) return;
    RunnerSession& replica = *task.replica;
    replica.HoldLog();
    task.outcome.emplace(replica.InferOnly(*task.feed, job.iteration * task.batch, task.count, [&] {
      if (job.tasks.size() == 1) SendNext(&replica, lane);
    }));
    task.said = replica.TakeLog();
    if (!task.outcome->ok()) task.unseen_words = replica.UnseenWords();
  }
}

// A worker that finds its next feed when it has done does not wait for this process. With several
// runners that would have two of them infer at once in a lane.
void InferenceLanes::SendNext(const RunnerSession* replica, Lane& lane) {
  Job* next = nullptr;
  {
    const std::scoped_lock lock(mutex_);
    if (!lane.waiting.empty()) next = lane.waiting.front();
  }
  if (next == nullptr || next->tasks.size() != 1 || dropping_.load()) return;
  LaneTask& task = next->tasks.front();
  if (task.ahead && task.replica == replica) next->sent = task.replica->InferAhead(*task.feed);
}

bool InferenceLanes::IsDone(int64_t iteration) {
  const auto cut_short = [](const LaneTask& task) {
    return !task.outcome || task.outcome->status().code() == StatusCode::kCancelled;
  };
  const std::scoped_lock lock(mutex_);
  return std::ranges::any_of(jobs_, [&](const std::unique_ptr<Job>& job) {
    return job->iteration == iteration && job->done && std::ranges::none_of(job->tasks, cut_short);
  });
}

std::vector<LaneTask> InferenceLanes::Collect(int64_t iteration) {
  const auto found = std::ranges::find_if(
      jobs_, [&](const std::unique_ptr<Job>& job) { return job->iteration == iteration; });
  if (found == jobs_.end()) return {};
  const Lane& lane = lanes_[LaneOf(iteration)];
  if (IsDeferred(lane)) lane.run.wait();
  {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return (*found)->done; });
  }
  std::vector<LaneTask> tasks = std::move((*found)->tasks);
  jobs_.erase(found);
  return tasks;
}

bool InferenceLanes::IsDeferred(const Lane& lane) {
  return lane.run.valid() &&
         lane.run.wait_for(std::chrono::seconds(0)) == std::future_status::deferred;
}

void InferenceLanes::Wait() {
  for (const Lane& lane : lanes_) {
    if (lane.run.valid()) lane.run.wait();
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
