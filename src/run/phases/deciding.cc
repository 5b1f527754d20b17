#include "run/phases/deciding.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "run/comparison/comparison_run.h"
#include "run/feeds/run_scripts.h"
#include "run/phases/step_feeds.h"
#include "util/log/no_log.h"

namespace vernier {
namespace {

using StreamNames = std::set<std::string>;

// What a stream calls its outputs; nullopt where that is not known before it has made some.
Result<std::optional<StreamNames>> NamesOfStream(const InferenceScheduler& live,
                                                 SavedStreams& loaded, size_t stream) {
  StreamNames names;
  if (stream < live.size()) {
    const SessionDescription& session = live[stream].session();
    if (session.outputs.empty() || !session.nested_outputs.empty())
      return std::optional<StreamNames>();
    for (const TensorInfo& output : session.outputs) names.insert(output.name);
    return std::optional(std::move(names));
  }
  const size_t place = stream - live.size();
  const SavedRuns::Run& saved = loaded.runs()[place];
  if (saved.iterations == 0 || saved.positional) return std::optional<StreamNames>();
  VERNIER_ASSIGN_OR_RETURN(const IterationResult first, loaded.Peek(place));
  for (const NamedTensor& output : first.outputs) names.insert(output.name);
  return std::optional(std::move(names));
}

Result<bool> MayPairByValue(const InferenceScheduler& live, const Comparing& comparing) {
  for (const ComparedPair& pair : comparing.comparisons.pairs()) {
    VERNIER_ASSIGN_OR_RETURN(const auto first, NamesOfStream(live, comparing.loaded, pair.first));
    VERNIER_ASSIGN_OR_RETURN(const auto second, NamesOfStream(live, comparing.loaded, pair.second));
    if (first && second && *first != *second) return true;
  }
  return false;
}

bool AllHave(const SavedStreams& loaded, int64_t iteration) {
  return std::ranges::all_of(loaded.runs(),
                             [&](const SavedRuns::Run& run) { return iteration < run.iterations; });
}

// `infer` gives what live runners make of an iteration, nullopt where there is no more of it.
using InferToDecide = std::function<Result<std::optional<IterationOutputs>>(int64_t iteration)>;
Status LookAhead(const RunContext& run, const Comparing& comparing, const InferToDecide& infer) {
  bool settled = false;
  for (int64_t i = 0; !settled && AllHave(comparing.loaded, i); ++i) {
    VERNIER_TRY(run.CheckInterrupted());
    VERNIER_ASSIGN_OR_RETURN(std::optional<IterationOutputs> outputs, infer(i));
    if (!outputs) break;
    VERNIER_TRY(comparing.loaded.Append(i, *outputs).status());
    VERNIER_ASSIGN_OR_RETURN(settled, comparing.comparisons.LookAhead(*outputs));
  }
  return {};
}

}  // namespace

Status DecideOnWhole(const RunContext& run, const LiveSide& side, const Comparing& comparing,
                     const FeedStream& own, FeedInference& inference) {
  InferenceScheduler& live = side.runs;
  if (!run.plan.shard.wanted() || live.plan().execution.batch_feeds > 1) return {};
  if (!run.plan.noise_floor && !BoundsNearTies(run.plan)) {
    if (own.passes_over()) return {};
    VERNIER_ASSIGN_OR_RETURN(const bool by_value, MayPairByValue(live, comparing));
    if (!by_value) return {};
  }
  RunPlan whole = live.plan();
  whole.shard = {};
  NoLog unheard;
  VERNIER_ASSIGN_OR_RETURN(
      const std::vector<TensorInfo> inputs,
      live.feeds().InputsToFeed(side.python.script != nullptr, whole.inputs.shape_words));
  VERNIER_ASSIGN_OR_RETURN(const std::unique_ptr<FeedStream> feeds,
                           OpenStepFeeds(whole, inputs, side.python, live.steps(), unheard));
  const auto infer = [&](int64_t i) -> Result<std::optional<IterationOutputs>> {
    const std::optional<IterationOutputs> no_more;
    VERNIER_ASSIGN_OR_RETURN(const std::optional<TensorMap> feed, feeds->Next());
    if (!feed) return no_more;
    VERNIER_ASSIGN_OR_RETURN(IterationOutputs outputs, inference.InferToDecide(*feed, i));
    // The main loop reports the failure.
    const bool all =
        std::ranges::all_of(outputs, [](const auto& made) { return made.has_value(); });
    return all ? std::optional(std::move(outputs)) : no_more;
  };
  return LookAhead(run, comparing, infer);
}

Status DecideOnSaved(const RunContext& run, const Comparing& comparing) {
  if (!run.plan.shard.wanted()) return {};
  const auto infer = [](int64_t) -> Result<std::optional<IterationOutputs>> {
    return std::optional(IterationOutputs());
  };
  return LookAhead(run, comparing, infer);
}

}  // namespace vernier
