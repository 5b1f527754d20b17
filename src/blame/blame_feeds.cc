#include "blame/blame_feeds.h"

#include <optional>
#include <utility>

#include "run/scripted_feeds.h"

namespace vernier {

Result<std::vector<TensorMap>> CollectFeeds(const RunPlan& plan, std::span<const TensorInfo> inputs,
                                            WorkerPool& pool, Logger& logger) {
  VERNIER_ASSIGN_OR_RETURN(const ScriptedFeeds opened, OpenFeeds(plan, inputs, pool, logger));
  std::vector<TensorMap> feeds;
  while (true) {
    VERNIER_ASSIGN_OR_RETURN(std::optional<TensorMap> feed, opened.stream->Next());
    if (!feed) break;
    feeds.push_back(*std::move(feed));
  }
  if (feeds.empty()) return InvalidArgument("there are no inputs to run the model with");
  return feeds;
}

}  // namespace vernier
