// What is kept of the iterations with the worst flips: inputs and outputs for --save-flips and
// --on-flips, and pictures.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "compare/outputs/device_measure.h"
#include "record/shards/shard_decisions.h"
#include "run/comparison/compared_pairs.h"
#include "run/feeds/streams.h"
#include "run/parts/shard_writer.h"
#include "run/saved/flip_feeds.h"
#include "run/saved/flip_pictures.h"
#include "vernier/run_plan.h"
#include "vernier/run_record.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// The iterations that are among the worst flips of a pair so far, pair by pair.
std::vector<int64_t> WorstIterationsOf(const std::vector<ComparedPair>& pairs);

class FlipKeeper {
 public:
  struct Scope {
    std::vector<std::string> streams = {};  ///< their names
    ShardWriter* shard = nullptr;           ///< keeps the pictures of each iteration
    bool copies = false;  ///< the bytes of outputs are not there any more after Keep()
  };
  /// `plan` and the shard must outlive it.
  FlipKeeper(const RunPlan& plan, Scope scope);

  /// Before Keep(): what the iteration is made from, as far as that is kept or shown.
  void SetFeed(const TensorMap& feed);
  /// The same for an iteration that waits for the next ones.
  const TensorMap& feed() const { return feed_; }
  void RestoreFeed(TensorMap feed) { feed_ = std::move(feed); }

  /// After the pairs of an iteration were folded: keeps what is among the worst flips, and releases
  /// the feed and what no longer is. `device` (may be null) as for FlipFeeds::Keep. Errors as
  /// FlipFeeds::Keep and FlipPictures::DrawnOf.
  Status Keep(int64_t iteration, const IterationOutputs& outputs,
              const std::vector<ComparedPair>& pairs, DeviceMeasure* device);

  /// The same with what a shard kept: the pictures of an iteration, and what --save-flips wrote.
  void TakePictures(int64_t iteration, std::vector<ShardPicture> pictures,
                    const std::vector<ComparedPair>& pairs);
  void Take(int64_t iteration, TensorMap feed, IterationOutputs outputs) {
    flips_.Put(iteration, std::move(feed), std::move(outputs));
  }

  /// Of --save-flips: the iterations that are kept, ascending.
  std::vector<int64_t> iterations() const { return flips_.iterations(); }

  /// Drops inputs and outputs.
  void Forget() { flips_ = {}; }

  /// Once the record has its pairs: adds pictures to it, writes the files of --save-flips and adds
  /// them to `run.saved`; where nothing flips, a note. kIo; kInternal when memory runs out.
  Status Save(RunRecord& run) const;

  /// For --on-flips: the inputs of the worst flips that `run` has, a few of them; without the flag
  /// none. Errors as FlipFeeds::Copy.
  Result<FlipInputs> InputsToSearch(const RunRecord& run) const;

 private:
  bool KeepsFeeds() const;
  Status KeepPictures(int64_t iteration, const TensorMap& feed,
                      const std::vector<ComparedPair>& pairs);
  std::vector<int64_t> InOrder(const RunRecord& run) const;
  Status SaveFiles(RunRecord& run) const;

  const RunPlan* plan_;
  Scope scope_;
  TensorMap feed_;  // of the iteration at hand
  FlipFeeds flips_;
  FlipPictures pictures_;
};

}  // namespace vernier
