#include "run/live/sent_feeds.h"

#include <algorithm>
#include <utility>

#include "run/live/lane_inference.h"
#include "run/live/pair_error_bounds.h"

namespace vernier {
namespace {

size_t BytesOf(const TensorMap& tensors) {
  size_t bytes = 0;
  for (const NamedTensor& tensor : tensors) bytes += tensor.tensor.bytes().size();
  return bytes;
}

// How many iterations it is worth while to have begin before this one is looked at: what that gains
// are microseconds, and what it costs is the memory of as many results, and the time of some that
// may not be wanted. Of steps the worker keeps the states of all.
size_t MostAhead(const TensorMap& feed, const IterationResult& result, bool is_step) {
  constexpr double kShortSeconds = 10e-3;
  constexpr size_t kFewBytes = size_t{8} << 20, kFewBytesOfSteps = size_t{1} << 20;
  constexpr size_t kMostSteps = 16;
  const double seconds = result.runtime_s.value_or(0);
  const size_t bytes = BytesOf(result.outputs);
  if (seconds >= kShortSeconds || bytes > kFewBytes) return 0;
  if (!is_step) return 1;
  const size_t by_bytes = kFewBytesOfSteps / std::max<size_t>(bytes + BytesOf(feed), 1);
  const bool many_fit = seconds * kMostSteps < kShortSeconds;
  const size_t by_time = many_fit ? kMostSteps : static_cast<size_t>(kShortSeconds / seconds);
  return std::clamp<size_t>(std::min(by_bytes, by_time), 1, kMostSteps);
}

}  // namespace

SentFeeds::SentFeeds(const RunPlan& plan, std::deque<RunnerSession>& runners, RunnerFeeds& feeds,
                     const LiveSteps& steps, DeviceOutputs& devices)
    : plan_(plan),
      runners_(runners),
      feeds_(feeds),
      steps_(steps),
      devices_(devices),
      may_be_asked_between_(plan.noise_floor || PairErrorBounds(plan.compare).wanted()) {}

bool SentFeeds::MayLend() const {
  return std::all_of(runners_.begin(), runners_.end(), [](const RunnerSession& runner) {
    return !runner.alive() || runner.in_plugin();
  });
}

// Alone: two that infer at once would disturb each other.
bool SentFeeds::MaySend(size_t index) const {
  if (runners_.size() != 1 || may_be_asked_between_) return false;
  if (steps_.states() != nullptr && !steps_.may_stay()) return false;
  return MaySendAhead(plan_.execution, runners_[index]);
}

// By halves: what is sent at once need not be waited for one by one.
void SentFeeds::SendAhead(size_t index, int64_t iteration, const WorkMeanwhile& meanwhile) {
  size_t sent = runners_[index].runs_ahead();
  if (!meanwhile.next_feed || 2 * sent > most_ahead_ || !MaySend(index)) return;
  for (; sent < most_ahead_; ++sent) {
    const TensorMap* const next = meanwhile.next_feed(sent);
    const int64_t number = iteration + 1 + static_cast<int64_t>(sent);
    if (next == nullptr || !SendOneAhead(index, *next, number)) return;
    meanwhile.when_sent();
  }
}

bool SentFeeds::SendOneAhead(size_t index, const TensorMap& feed, int64_t iteration) {
  // What there is to say of the feed is said when its turn comes.
  const Result<CoercedFeed> coerced = feeds_.Coerce(index, feed);
  if (coerced.ok() && steps_.states() != nullptr)
    return SendStepAhead(index, coerced->tensors, iteration);
  if (!coerced.ok() || !SameTensors(coerced->tensors, feed)) return false;
  const TensorBlock* const block = blocks_.EncodeAhead(feed, iteration);
  return block != nullptr && runners_[index].InferAhead(*block);
}

// The feed of a step to come, whose state the worker knows before this program does.
bool SentFeeds::SendStepAhead(size_t index, const TensorMap& coerced, int64_t iteration) {
  const OutputsToKeep kept{OutputPlace::kHost, steps_.Staying(index, iteration)};
  if (kept.names.empty()) return false;
  const std::optional<TensorBlock> block = steps_.EncodeAhead(index, coerced);
  return block && runners_[index].InferAhead(*block, kept);
}

void SentFeeds::LookAt(const TensorMap& feed, const Result<IterationResult>& made) {
  most_ahead_ = made.ok() ? MostAhead(feed, *made, steps_.states() != nullptr) : 0;
}

Result<SentFeed> SentFeeds::For(size_t index, const TensorMap& feed, int64_t iteration) {
  const RunnerSession& runner = runners_[index];
  VERNIER_ASSIGN_OR_RETURN(const CoercedFeed coerced, feeds_.CoerceAndNote(index, feed, iteration));
  SentFeed own;
  if (steps_.states() != nullptr && runner.runs_ahead() > 0) {
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
  VERNIER_ASSIGN_OR_RETURN(own.shared, blocks_.Encode(feed, iteration, MayLend()));
  return own;
}

}  // namespace vernier
