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
  return MaySendAhead(plan_.execution, runners_[index]);
}

// By halves: what is sent at once need not be waited for one by one.
void LiveRuns::InferAhead(size_t index, int64_t iteration, const Work& meanwhile) {
  size_t sent = runners_[index].runs_ahead();
  if (!meanwhile.next_feed || 2 * sent > most_ahead_ || !MayInferAhead(index)) return;
  for (; sent < most_ahead_; ++sent) {
    const TensorMap* const next = meanwhile.next_feed(sent);
    const int64_t number = iteration + 1 + static_cast<int64_t>(sent);
    if (next == nullptr || !InferOneAhead(index, *next, number)) return;
    meanwhile.when_sent();
  }
}

bool LiveRuns::InferOneAhead(size_t index, const TensorMap& feed, int64_t iteration) {
  // What there is to say of the feed is said when its turn comes.
  const Result<CoercedFeed> coerced = feeds_.Coerce(index, feed);
  if (coerced.ok() && steps() != nullptr) return InferStepAhead(index, coerced->tensors, iteration);
  if (!coerced.ok() || !SameTensors(coerced->tensors, feed)) return false;
  const TensorBlock* const block = blocks_.EncodeAhead(feed, iteration);
  return block != nullptr && runners_[index].InferAhead(*block);
}

// The feed of a step to come, whose state the worker knows before this program does.
bool LiveRuns::InferStepAhead(size_t index, const TensorMap& coerced, int64_t iteration) {
  const OutputsToKeep kept{OutputPlace::kHost, steps_.Staying(index, runners_[index], iteration)};
  if (kept.names.empty()) return false;
  const std::optional<TensorBlock> block = steps_.EncodeAhead(index, coerced);
  return block && runners_[index].InferAhead(*block, kept);
}

Result<LiveRuns::RunnerFeed> LiveRuns::FeedFor(size_t index, const TensorMap& feed,
                                               int64_t iteration) {
  const LiveRunner& runner = runners_[index];
  VERNIER_ASSIGN_OR_RETURN(const CoercedFeed coerced, feeds_.CoerceAndNote(index, feed, iteration));
  RunnerFeed own;
  if (steps() != nullptr && runner.runs_ahead() > 0) {
    own.own.emplace();  // it was sent
    return own;
  }
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
