#include "run/scripted_feeds.h"

namespace vernier {

Result<ScriptedFeeds> OpenFeeds(const RunPlan& plan, std::span<const TensorInfo> inputs,
                                WorkerPool& pool, Logger& logger) {
  ScriptedFeeds feeds;
  if (RunScripts::Wanted(plan)) {
    VERNIER_ASSIGN_OR_RETURN(const std::shared_ptr<Worker> worker, pool.GetForScripts());
    VERNIER_ASSIGN_OR_RETURN(feeds.scripts, RunScripts::Open(plan, worker, logger));
  }
  VERNIER_ASSIGN_OR_RETURN(
      feeds.stream,
      FeedStream::Open(plan, inputs, {feeds.scripts.feeds(), feeds.scripts.draws()}, logger));
  return feeds;
}

}  // namespace vernier
