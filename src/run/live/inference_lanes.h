// Iterations that are inferred at the same time (--workers-per-runner): one in each lane, which has
// a worker of every runner.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/tensor_block.h"
#include "backend/worker.h"
#include "run/live/live_runner.h"
#include "vernier/status.h"

namespace vernier {

/// One inference of one runner, and what came of it. With --batch-feeds it is of `count`
/// iterations, and what is called an iteration below is such an inference: number i begins with
/// iteration i * `batch` of the run.
struct LaneTask {
  size_t runner = 0;              ///< its place in the plan
  LiveRunner* replica = nullptr;  ///< the runner's of this lane
  std::shared_ptr<const TensorBlock> feed;
  bool shared = false;  ///< the feed went to several runners as it is
  int64_t batch = 1;    ///< iterations that are one inference (--batch-feeds)
  int64_t count = 1;    ///< of these: fewer at the end
  int64_t rows = 0;     ///< with --batch-feeds: those of each iteration
  std::optional<Result<Worker::Outcome>> outcome = {};
  Worker::HeldLines said = {};    ///< what the framework logged meanwhile
  std::string unseen_words = {};  ///< Worker::UnseenWords, of an inference that failed
};

/// Iteration i goes to lane i modulo the number of lanes. A lane infers with one runner after
/// another, on a thread of its own. For one thread; runners must outlive this, and those with a
/// task may be used by no one else until Wait() has returned.
class InferenceLanes {
 public:
  explicit InferenceLanes(size_t count) : count_(count) {}
  /// Drop().
  ~InferenceLanes() { Drop(); }
  InferenceLanes(const InferenceLanes&) = delete;
  InferenceLanes& operator=(const InferenceLanes&) = delete;

  size_t LaneOf(int64_t iteration) const { return static_cast<size_t>(iteration) % count_; }

  /// Infers an iteration, later than all that were added before, as soon as its lane is free.
  void Add(int64_t iteration, std::vector<LaneTask> tasks);

  /// Waits for an iteration and returns its tasks, done; none where it was not added. Its lane goes
  /// on with the next one.
  std::vector<LaneTask> Collect(int64_t iteration);

  /// Returns when nothing is being inferred. What was made stays for Collect().
  void Wait();

  /// Lets go of all that was not collected. What is being inferred is waited for, ten seconds in
  /// all at most; a worker that dies or hangs meanwhile is no failure of its runner.
  void Drop();

 private:
  struct Job {
    int64_t iteration;
    std::vector<LaneTask> tasks;
    std::future<void> done;  // not valid: it waits for its lane
  };
  void Launch(size_t lane);

  const size_t count_;
  std::atomic<bool> dropping_ = false;
  std::deque<std::unique_ptr<Job>> jobs_;  // in the order of iterations
};

}  // namespace vernier
