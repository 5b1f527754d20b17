#include "check/runners/first_feed.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "inputs/shape_spec.h"
#include "run/feeds/plan_feeds.h"

namespace vernier {

Result<TensorMap> MakeFirstFeed(const RunPlan& plan, std::span<const TensorInfo> inputs,
                                const Probe::Shared& shared, Logger& logger) {
  WorkerPool pool(shared.execution, shared.interrupted, logger, shared.caller);
  VERNIER_ASSIGN_OR_RETURN(const PlanFeeds opened, OpenFeeds(plan, inputs, pool, logger));
  VERNIER_ASSIGN_OR_RETURN(std::optional<TensorMap> feed, opened.stream->Next());
  if (!feed) return Malformed("the inputs hold no iteration");
  if (opened.stream->HasMoreLoaded()) {
    logger.Info("Only the first iteration of the loaded inputs is used");
  }
  return *std::move(feed);
}

Result<TensorMap> MakeSecondFeed(const RunPlan& plan, std::span<const TensorInfo> inputs,
                                 const Probe::Shared& shared, Logger& logger) {
  RunPlan more = plan;
  const bool loaded = !plan.inputs.load_paths.empty() || plan.inputs.script.given();
  if (!loaded) more.inputs.iterations = 2;
  WorkerPool pool(shared.execution, shared.interrupted, logger, shared.caller);
  VERNIER_ASSIGN_OR_RETURN(const PlanFeeds opened, OpenFeeds(more, inputs, pool, logger));
  VERNIER_TRY(opened.stream->Next().status());
  VERNIER_ASSIGN_OR_RETURN(std::optional<TensorMap> feed, opened.stream->Next());
  return feed ? Result<TensorMap>(*std::move(feed)) : Malformed("the inputs hold one iteration");
}

Result<std::vector<TensorMap>> MakeGivenFeeds(const RunPlan& plan,
                                              std::span<const TensorInfo> inputs,
                                              const Probe::Shared& shared, Logger& logger) {
  VERNIER_ASSIGN_OR_RETURN(const std::vector<ShapeSpec> shapes,
                           ParseShapeSpecs(plan.inputs.shape_words, Strictness::kPolygraphy));
  std::map<std::string, int64_t> times;
  int64_t most = 1;
  for (const ShapeSpec& shape : shapes) most = std::max(most, ++times[shape.name]);
  RunPlan turns = plan;
  turns.inputs.iterations = most;
  WorkerPool pool(shared.execution, shared.interrupted, logger, shared.caller);
  VERNIER_ASSIGN_OR_RETURN(const PlanFeeds opened, OpenFeeds(turns, inputs, pool, logger));
  std::vector<TensorMap> feeds;
  while (static_cast<int64_t>(feeds.size()) < most) {
    VERNIER_ASSIGN_OR_RETURN(std::optional<TensorMap> feed, opened.stream->Next());
    if (!feed) break;
    feeds.push_back(*std::move(feed));
  }
  return feeds;
}

}  // namespace vernier
