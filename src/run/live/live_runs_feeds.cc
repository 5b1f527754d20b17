// What the runners of a run are fed: encoded once for all, and sent ahead where that is worth it.
#include <algorithm>
<<<<<<< HEAD
=======
#include <deque>
#include <iterator>
>>>>>>> refs/box/B
#include <utility>

#include "run/live/live_runs.h"

namespace vernier {
<<<<<<< HEAD
=======
namespace {

std::string FormatSignature(std::span<const TensorInfo> inputs) {
  std::string text = "{";
  for (const TensorInfo& input : inputs) {
    if (text.size() > 1) text += ",\n ";
    text += input.name + " [dtype=" + PolygraphyDTypeName(input.dtype);
    if (input.shape) text += ", shape=" + FormatUserShape(*input.shape);
    text += "]";
  }
  return text + "}";
}

// A feed without what inputs that are no tensors take of it.
struct SplitFeed {
  TensorMap tensors, parts;
};

Result<SplitFeed> SplitParts(const TensorMap& feed, std::span<const std::string> nested) {
  SplitFeed split;
  std::vector<bool> found(nested.size(), false);
  for (const NamedTensor& tensor : feed) {
    const auto whole = std::ranges::find_if(
        nested, [&](const std::string& name) { return BelongsTo(tensor.name, name); });
    if (whole != nested.end()) found[static_cast<size_t>(whole - nested.begin())] = true;
    (whole != nested.end() ? split.parts : split.tensors).push_back(tensor);
  }
  const auto missing = std::ranges::find(found, false);
  if (missing == found.end()) return split;
  const std::string& name = nested[static_cast<size_t>(missing - found.begin())];
  return Malformed("input '" + name + "' is a sequence, a map or optional, for which nothing is " +
                   "drawn: load its parts with --load-inputs, as '" + ElementName(name, 0) +
                   "', '" + ElementName(name, 1) + "' of a sequence, '" + ValueName(name, "KEY") +
                   "' of a map, '" + PresenceName(name) + "' of an optional");
}

// Does an inference leave a file behind, as timelines of TensorFlow are?
bool SavesFiles(const RunnerPlan& runner) {
  return std::any_of(runner.session_options.begin(), runner.session_options.end(),
                     [](const auto& option) { return option.first.starts_with("save_"); });
}

// Some runtimes leave out the inputs that no output depends on, and others of the same model ask
// for them.
std::vector<TensorInfo> WithInputsOfOthers(const LiveRunner& first,
                                           const std::deque<LiveRunner>& runners) {
  std::vector<TensorInfo> inputs = first.session().inputs;
  const std::string& path = first.plan().model.path;
  for (const LiveRunner& other : runners) {
    if (path.empty() || !other.opened() || other.plan().model.path != path) continue;
    for (const TensorInfo& input : other.session().inputs) {
      const bool known = std::ranges::find(inputs, input.name, &TensorInfo::name) != inputs.end();
      if (!known && !other.inputs_unknown()) inputs.push_back(input);
    }
  }
  return inputs;
}

}  // namespace

Result<std::vector<TensorInfo>> LiveRuns::InputsToFeed(
    bool supplied, std::span<const std::string> shape_words) const {
  const LiveRunner* silent = nullptr;
  for (size_t i = 0; i < runners_.size(); ++i) {
    const LiveRunner& runner = runners_[i];
    // A feed is a step, or a sequence in the shapes of steps.
    const bool takes_all_steps = steps() != nullptr && steps()->axis(i);
    if (!runner.opened() || takes_all_steps) continue;
    if (!runner.inputs_unknown()) return WithInputsOfOthers(runner, runners_);
    if (silent == nullptr) silent = &runner;
  }
  if (supplied || !plan_.inputs.load_paths.empty()) return std::vector<TensorInfo>();
  return DescribedInputs(shape_words, silent);
}
>>>>>>> refs/box/B

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
