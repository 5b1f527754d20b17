#include "run/feeds/plan_feeds.h"

#include <optional>
#include <utility>

namespace vernier {

Result<PlanFeeds> OpenFeeds(const RunPlan& plan, std::span<const TensorInfo> inputs,
                            WorkerPool& pool, Logger& logger) {
  PlanFeeds feeds;
  if (RunScripts::Wanted(plan)) {
    VERNIER_ASSIGN_OR_RETURN(const std::shared_ptr<Worker> worker, pool.GetForScripts());
    VERNIER_ASSIGN_OR_RETURN(feeds.scripts, RunScripts::Open(plan, worker, logger));
  }
  VERNIER_ASSIGN_OR_RETURN(
      feeds.stream,
      FeedStream::Open(plan, inputs, {feeds.scripts.feeds(), feeds.scripts.draws()}, logger));
  return feeds;
}

Result<TensorMap> OpenFirstFeed(const RunPlan& plan, std::span<const TensorInfo> inputs,
                                WorkerPool& pool, Logger& logger) {
  VERNIER_ASSIGN_OR_RETURN(const PlanFeeds opened, OpenFeeds(plan, inputs, pool, logger));
  VERNIER_ASSIGN_OR_RETURN(std::optional<TensorMap> feed, opened.stream->Next());
  if (!feed) return Malformed("the inputs hold no iteration");
  return *std::move(feed);
}

}  // namespace vernier
