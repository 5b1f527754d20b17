#include "check/first_feed.h"

#include <memory>
#include <optional>
#include <utility>

#include "run/feed_stream.h"
#include "run/run_scripts.h"

namespace vernier {

Result<TensorMap> MakeFirstFeed(const RunPlan& plan, std::span<const TensorInfo> inputs,
                                const Probe::Shared& shared, Logger& logger) {
  WorkerPool pool(shared.execution, shared.interrupted, logger);
  RunScripts scripts;
  if (RunScripts::Wanted(plan)) {
    VERNIER_ASSIGN_OR_RETURN(const std::shared_ptr<Worker> worker, pool.GetForScripts());
    VERNIER_ASSIGN_OR_RETURN(scripts, RunScripts::Open(plan, worker, logger));
  }
  VERNIER_ASSIGN_OR_RETURN(
      const std::unique_ptr<FeedStream> stream,
      FeedStream::Open(plan, inputs, {scripts.feeds(), scripts.draws()}, logger));
  VERNIER_ASSIGN_OR_RETURN(std::optional<TensorMap> feed, stream->Next());
  if (!feed) return Malformed("the inputs hold no iteration");
  if (stream->HasMoreLoaded()) {
    logger.Info("Of the loaded inputs the first iteration alone is used");
  }
  return *std::move(feed);
}

}  // namespace vernier
