#include "run/phases/feeding.h"

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "run/live/live_sizes.h"
#include "run/live/made_with.h"
#include "run/phases/step_feeds.h"
#include "run/saved/result_origin.h"
#include "util/log/no_log.h"

namespace vernier {
namespace {

// The numbers of a new process begin anew.
Status CheckGoesOn(const InferenceScheduler& live, const std::string& place) {
  if (live.opener().random_numbers().empty()) return {};
  return Malformed("--resume: " + live.opener().random_numbers() + ": iterations after those in '" +
                   place +
                   "' would not be those of an uninterrupted run; move it away to start over");
}

Status OpenSavers(const RunContext& run, InferenceScheduler& live, LiveResults& made) {
  const RunPlan& plan = run.plan;
  const PartialOrigin origin = plan.save.outputs.empty() ? PartialOrigin() : OriginOf(plan);
  if (plan.save.resume) {
    VERNIER_ASSIGN_OR_RETURN(made.progress,
                             SavedProgress::Find(plan, live.names(), origin, run.logger));
    if (made.progress != nullptr) VERNIER_TRY(CheckGoesOn(live, made.progress->place()));
  }
  VERNIER_ASSIGN_OR_RETURN(
      OutputSavers savers,
      OutputSavers::Create(plan, live.names(), origin, made.progress.get(), run.logger));
  const StepStates* const steps = live.steps();
  if (steps != nullptr && steps->given_tokens() != nullptr) {
    savers.MixIntoMark(steps->given_tokens()->Hash());
  }
  made.savers.emplace(std::move(savers));
  if (plan.save.outputs.empty()) return {};
  std::vector<JournalSource> sources = FindMadeWith(live);
  sources.push_back(SettingsOf(plan));
  return made.savers->NoteMadeWith(sources);
}

// Before the model is said to fail with sizes that were not given.
Result<FoundSizes> SettleFeedSizes(const LiveSide& side, std::span<const TensorInfo> inputs,
                                   SavedProgress* progress, Logger& logger) {
  const auto draw = [&](RunPlan sized) -> Result<TensorMap> {
    NoLog unheard;
    sized.shard = {};  // sizes are those of the whole run's first feed
    VERNIER_ASSIGN_OR_RETURN(const auto feeds,
                             OpenStepFeeds(sized, inputs, side.python, side.runs.steps(), unheard));
    VERNIER_ASSIGN_OR_RETURN(std::optional<TensorMap> feed, feeds->Next());
    if (!feed) return Malformed("there is nothing to run");
    return *std::move(feed);
  };
  const RunPlan& plan = side.runs.plan();
  const int64_t iteration = plan.execution.warm_up > 0 ? -1 : 0;
  return SettleSizes(plan, inputs, {side.runs, logger, iteration, draw, progress});
}

// Were the feeds used for them?
Result<bool> RunWarmUps(const LiveSide& side, size_t index, FeedStream& feeds, Logger& logger) {
  RunnerSession& runner = side.runs[index];
  const int64_t count = side.runs.plan().execution.warm_up;
  if (count <= 0 || !runner.alive()) return false;
  const std::string runs = std::to_string(count) + " warm-up run(s)";
  logger.Start(PadName(runner.name()) + " | Running " + runs);
  VERNIER_ASSIGN_OR_RETURN(const std::optional<TensorMap> feed, feeds.Next());
  if (!feed) {
    logger.Warning(runs +
                   " were requested, but data loader did not supply any data. Skipping warm-up "
                   "run(s)");
  }
  for (int64_t i = 0; feed && i < count; ++i) {
    VERNIER_ASSIGN_OR_RETURN(const auto ignored, side.runs.Infer(index, *feed, -1 - i));
    if (!ignored) return true;
    VERNIER_TRY(side.runs.WarmReplicas(index, *feed, -1 - i));
  }
  runner.ForgetTimes();
  logger.Finish(PadName(runner.name()) + " | Finished " + runs);
  return true;
}

bool AnyOpened(const InferenceScheduler& live) {
  for (size_t i = 0; i < live.size(); ++i) {
    if (live[i].opened()) return true;
  }
  return false;
}

}  // namespace

Status BeginFeeds(const RunContext& run, const LiveSide& side, LiveResults& made) {
  InferenceScheduler& live = side.runs;
  const auto open = [&](std::span<const TensorInfo> inputs) {
    return OpenStepFeeds(live.plan(), inputs, side.python, live.steps(), run.logger);
  };
  made.feeds.reset();
  VERNIER_ASSIGN_OR_RETURN(
      const std::vector<TensorInfo> inputs,
      live.feeds().InputsToFeed(side.python.script != nullptr, run.plan.inputs.shape_words));
  VERNIER_ASSIGN_OR_RETURN(made.feeds, open(inputs));
  if (made.savers) return {};
  VERNIER_TRY(OpenSavers(run, live, made));
  VERNIER_ASSIGN_OR_RETURN(const FoundSizes found,
                           SettleFeedSizes(side, inputs, made.progress.get(), run.logger));
  if (made.progress != nullptr) made.progress->Expect(made.feeds->expected());
  if (found.some_refused && run.plan.strict) made.refused_sizes = found.note;
  if (found.dims.empty()) return {};
  VERNIER_ASSIGN_OR_RETURN(made.feeds, open(inputs));
  return {};
}

Status WarmUp(const RunContext& run, const LiveSide& side, size_t index, LiveResults& made) {
  VERNIER_ASSIGN_OR_RETURN(const bool used, RunWarmUps(side, index, *made.feeds, run.logger));
  // A warm-up must not use a feed up, also where it killed its runner.
  return used && AnyOpened(side.runs) ? BeginFeeds(run, side, made) : Status();
}

}  // namespace vernier
