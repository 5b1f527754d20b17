#include "check/first_feed.h"

#include <optional>
#include <utility>

#include "run/scripted_feeds.h"

namespace vernier {

Result<TensorMap> MakeFirstFeed(const RunPlan& plan, std::span<const TensorInfo> inputs,
                                const Probe::Shared& shared, Logger& logger) {
  WorkerPool pool(shared.execution, shared.interrupted, logger);
  VERNIER_ASSIGN_OR_RETURN(const ScriptedFeeds opened, OpenFeeds(plan, inputs, pool, logger));
  VERNIER_ASSIGN_OR_RETURN(std::optional<TensorMap> feed, opened.stream->Next());
  if (!feed) return Malformed("the inputs hold no iteration");
  if (opened.stream->HasMoreLoaded()) {
    logger.Info("Of the loaded inputs the first iteration alone is used");
  }
  return *std::move(feed);
}

}  // namespace vernier
