#include "blame/sides/blame_feeds.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "run/feeds/plan_feeds.h"

namespace vernier {

Result<std::vector<TensorMap>> CollectFeeds(const RunPlan& plan, std::span<const TensorInfo> inputs,
                                            WorkerPool& pool, Logger& logger) {
  VERNIER_ASSIGN_OR_RETURN(const PlanFeeds opened, OpenFeeds(plan, inputs, pool, logger));
  std::vector<TensorMap> feeds;
  while (true) {
    VERNIER_ASSIGN_OR_RETURN(std::optional<TensorMap> feed, opened.stream->Next());
    if (!feed) break;
    feeds.push_back(*std::move(feed));
  }
  if (feeds.empty()) return InvalidArgument("there are no inputs to run the model with");
  return feeds;
}

std::vector<InputDims> DimsOfLargest(const std::vector<TensorMap>& feeds) {
  const auto bytes = [](const TensorMap& feed) {
    size_t sum = 0;
    for (const NamedTensor& input : feed) sum += input.tensor.bytes().size();
    return sum;
  };
  const auto largest =
      std::max_element(feeds.begin(), feeds.end(),
                       [&](const auto& a, const auto& b) { return bytes(a) < bytes(b); });
  std::vector<InputDims> dims;
  for (const NamedTensor& input : *largest) dims.push_back({input.name, input.tensor.dims()});
  return dims;
}

}  // namespace vernier
