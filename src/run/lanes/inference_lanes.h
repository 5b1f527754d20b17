// Iterations that are inferred at the same time (--workers-per-runner): one in each lane, which has
// a worker of every runner.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "backend/wire/tensor_block.h"
#include "backend/worker/worker.h"
#include "run/workers/runner_session.h"
#include "vernier/status.h"

namespace vernier {

/// One inference of one runner, and its result. With --batch-feeds it is of `count` iterations, and
/// what is called an iteration below is such an inference: number i begins with iteration i *
/// `batch` of the run.
struct LaneTask {
  size_t runner = 0;                 ///< its place in the plan
  RunnerSession* replica = nullptr;  ///< the runner's of this lane
  std::shared_ptr<const TensorBlock> feed;
  bool shared = false;  ///< the feed went to several runners as it is
  bool ahead = false;   ///< may be sent to the worker before it has finished the previous one
  int64_t batch = 1;    ///< iterations that are one inference (--batch-feeds)
  int64_t count = 1;    ///< of these: fewer at the end
  int64_t rows = 0;     ///< with --batch-feeds: those of each iteration
  std::optional<Result<Worker::Outcome>> outcome = {};
  HeldLines said = {};            ///< what the framework logged meanwhile
  std::string unseen_words = {};  ///< Worker::UnseenWords, of an inference that failed
};

/// Iteration i goes to lane i modulo the number of lanes. A lane infers with one runner after
/// another, on a thread of its own, and continues with its next iteration at once. For one thread;
/// runners must outlive this, and those with a task may be used by no one else until Wait() has
/// returned.
class InferenceLanes {
 public:
  explicit InferenceLanes(size_t count) : lanes_(count) {}
  /// Drop().
  ~InferenceLanes() { Drop(); }
  InferenceLanes(const InferenceLanes&) = delete;
  InferenceLanes& operator=(const InferenceLanes&) = delete;

  size_t LaneOf(int64_t iteration) const { return static_cast<size_t>(iteration) % lanes_.size(); }

  /// Infers an iteration, later than all that were added before, as soon as its lane is free.
  void Add(int64_t iteration, std::vector<LaneTask> tasks);

  /// Whether all runners have inferred an iteration that was added: Collect() would not wait for
  /// it, and no signal has cut it short.
  bool IsDone(int64_t iteration);

  /// Waits for an iteration and returns its tasks, done; none where it was not added.
  std::vector<LaneTask> Collect(int64_t iteration);

  /// Returns when all that was added has been inferred. It stays for Collect().
  void Wait();

  /// Releases all that was not collected. What is being inferred is waited for, ten seconds in all
  /// at most; a worker that dies or hangs meanwhile is no failure of its runner.
  void Drop();

 private:
  struct Job {
    int64_t iteration;
    std::vector<LaneTask> tasks;
    bool sent = false;  // to its worker, ahead
    bool done = false;
  };
  struct Lane {
    std::deque<Job*> waiting;  // in the order of iterations
    bool running = false;
    std::future<void> run;
  };
  void Run(Lane& lane);
  void Infer(Job& job, Lane& lane);
  void SendNext(const RunnerSession* replica, Lane& lane);
  static bool IsDeferred(const Lane& lane);

  std::atomic<bool> dropping_ = false;
  std::deque<std::unique_ptr<Job>> jobs_;  // in the order of iterations; of the caller's thread
  std::mutex mutex_;                       // of Lane::waiting and running, and Job::done
  std::condition_variable done_;
  std::vector<Lane> lanes_;
};

}  // namespace vernier
