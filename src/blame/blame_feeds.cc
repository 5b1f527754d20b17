#include "blame/blame_feeds.h"

#include <memory>
#include <optional>
#include <utility>

#include "run/feed_stream.h"
#include "run/run_scripts.h"

namespace vernier {

Result<std::vector<TensorMap>> CollectFeeds(const RunPlan& plan, std::span<const TensorInfo> inputs,
                                            WorkerPool& pool, Logger& logger) {
  RunScripts scripts;
  if (RunScripts::Wanted(plan)) {
    VERNIER_ASSIGN_OR_RETURN(const std::shared_ptr<Worker> worker, pool.GetForScripts());
    VERNIER_ASSIGN_OR_RETURN(scripts, RunScripts::Open(plan, worker, logger));
  }
  VERNIER_ASSIGN_OR_RETURN(
      const std::unique_ptr<FeedStream> stream,
      FeedStream::Open(plan, inputs, {scripts.feeds(), scripts.draws()}, logger));
  std::vector<TensorMap> feeds;
  while (true) {
    VERNIER_ASSIGN_OR_RETURN(std::optional<TensorMap> feed, stream->Next());
    if (!feed) break;
    feeds.push_back(*std::move(feed));
  }
  if (feeds.empty()) return InvalidArgument("there are no inputs to run the model with");
  return feeds;
}

}  // namespace vernier
