// What the runners of a run are fed: encoded once for all, and sent ahead where that is worth it.
#include <algorithm>
#include <utility>

#include "run/live/live_runs.h"

namespace vernier {

// A script may keep what it was given.
bool LiveRuns::MayLendFeeds() const {
  return std::all_of(runners_.begin(), runners_.end(), [](const LiveRunner& runner) {
    return !runner.alive() || runner.in_plugin();
  });
}

// Alone: two that infer at once would disturb each other.
bool LiveRuns::MayInferAhead(size_t index) const {
  if (runners_.size() != 1 || may_be_asked_between_) return false;
  if (steps() != nullptr && !steps_.may_stay()) return false;
  return MaySendAhead(plan_.execution, runners_[index]) && last_was_light_;
}

bool LiveRuns::InferAhead(size_t index, const TensorMap& feed, int64_t iteration) {
  if (!MayInferAhead(index)) return false;
  // What there is to say of the feed is said when its turn comes.
  const Result<CoercedFeed> coerced = feeds_.Coerce(index, feed);
  if (coerced.ok() && steps() != nullptr) return InferStepAhead(index, coerced->tensors, iteration);
  if (!coerced.ok() || !SameTensors(coerced->tensors, feed)) return false;
  const TensorBlock* const block = blocks_.EncodeAhead(feed, iteration);
  return block != nullptr && runners_[index].InferAhead(*block);
}

// The feed of the next step, whose state the worker knows before this program does.
bool LiveRuns::InferStepAhead(size_t index, const TensorMap& coerced, int64_t iteration) {
  const OutputsToKeep kept{OutputPlace::kHost, steps_.Staying(index, runners_[index], iteration)};
  if (kept.names.empty()) return false;
  std::optional<TensorBlock> block = steps_.EncodeAhead(index, coerced);
  if (!block) return false;
  return runners_[index].InferAhead(*blocks_.KeepAhead(*std::move(block), iteration), kept);
}

Result<LiveRuns::RunnerFeed> LiveRuns::FeedFor(size_t index, const TensorMap& feed,
                                               int64_t iteration) {
  const LiveRunner& runner = runners_[index];
  VERNIER_ASSIGN_OR_RETURN(const CoercedFeed coerced, feeds_.CoerceAndNote(index, feed, iteration));
  RunnerFeed own;
  // A step that was sent ahead.
  if (runners_.size() == 1 && steps_.may_stay()) own.shared = blocks_.Find(iteration);
  if (own.shared != nullptr) return own;
  if (steps_.may_stay()) {
    VERNIER_ASSIGN_OR_RETURN(own.own, runner.EncodeKept(coerced.tensors, devices_));
    if (own.own) return own;
  }
  if (!SameTensors(coerced.tensors, feed)) {
    VERNIER_ASSIGN_OR_RETURN(TensorBlock encoded, EncodeTensors(coerced.tensors));
    own.own = std::move(encoded);
    return own;
  }
  own.shared = blocks_.Find(iteration);
  if (own.shared != nullptr) return own;
  VERNIER_ASSIGN_OR_RETURN(own.shared, blocks_.Encode(feed, iteration, MayLendFeeds()));
  return own;
}

}  // namespace vernier
