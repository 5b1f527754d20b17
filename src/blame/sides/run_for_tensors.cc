#include "blame/sides/run_for_tensors.h"

#include <algorithm>

#include "blame/graph/tensor_sizes.h"
#include "blame/sides/blame_feeds.h"
#include "run/feeds/plan_feeds.h"
#include "util/log/no_log.h"

namespace vernier {

TensorReader::TensorReader(const RunPlan& plan, const std::atomic<int>& interrupted, Logger& logger)
    : plan_(plan),
      logger_(logger),
      quiet_(QuietLog(logger)),
      pool_(plan.execution, interrupted, quiet_),
      side_(plan.runners.front(), "", pool_, quiet_, clock_) {}

Result<std::unique_ptr<TensorReader>> TensorReader::Open(const RunPlan& plan,
                                                         const std::atomic<int>& interrupted,
                                                         Logger& logger) {
  std::unique_ptr<TensorReader> run(new TensorReader(plan, interrupted, logger));
  run->side_.Start();
  VERNIER_ASSIGN_OR_RETURN(run->model_, run->side_.ReadModel());
  VERNIER_ASSIGN_OR_RETURN(BlameGraph graph, BlameGraph::Make(run->model_));
  run->graph_.emplace(std::move(graph));
  return run;
}

Result<FoundSizes> TensorReader::SettleSizes() {
  const std::vector<TensorInfo> inputs = model_->RequiredInputs();
  if (!SizesAreGuessed(plan_, inputs)) return FoundSizes();
  NoLog unheard;
  const auto draw = [&](const RunPlan& sized) {
    return OpenFirstFeed(sized, inputs, pool_, unheard);
  };
  const Result<TensorMap> first = draw(plan_);
  if (!first.ok()) return FoundSizes();  // told where it is made in earnest
  VERNIER_ASSIGN_OR_RETURN(std::unique_ptr<RunnerSession> session, side_.OpenPlain());
  const auto infer = [&](const TensorMap& feed) -> Result<bool> {
    if (session->lost_worker()) return Unavailable("the worker is gone");
    return AllHaveElements(side_.Infer(*session, feed));
  };
  const std::string& name = side_.plan().name;
  Result<FoundSizes> found =
      FindSizes(plan_, inputs, {draw, {{name, infer, infer(*first)}}, logger_});
  ProbeSide::Close(session);
  if (found.ok() && !found->unsteady.ok()) return found->unsteady;
  return found;
}

Status TensorReader::MakeFeed(const std::vector<TensorInfo>& inputs) {
  if (feed_) return {};
  VERNIER_ASSIGN_OR_RETURN(feed_, OpenFirstFeed(plan_, inputs, pool_, logger_));
  return {};
}

Result<TensorMap> TensorReader::Run(const std::vector<std::string>& names) {
  std::vector<std::string> made;
  for (const std::string& name : names) {
    const bool there = std::find(made.begin(), made.end(), name) != made.end();
    if (graph_->IsMade(name) && !there) made.push_back(name);
  }
  TensorMap tensors;
  if (!made.empty() || !feed_) {
    VERNIER_ASSIGN_OR_RETURN(std::unique_ptr<RunnerSession> session,
                             made.empty() ? side_.OpenPlain() : side_.OpenMarked(made));
    VERNIER_TRY(
        MakeFeed(session->inputs_unknown() ? model_->RequiredInputs() : session->session().inputs));
    if (!made.empty()) {
      VERNIER_ASSIGN_OR_RETURN(tensors, side_.Infer(*session, *feed_));
    }
    ProbeSide::Close(session);
  }
  for (const NamedTensor& fed : *feed_) {
    if (std::find(names.begin(), names.end(), fed.name) != names.end()) tensors.push_back(fed);
  }
  return tensors;
}

Result<std::vector<std::vector<std::string>>> TensorReader::Split(
    const std::vector<std::string>& names, uint64_t bytes) {
  VERNIER_TRY(MakeFeed(model_->RequiredInputs()));
  const TensorSizes sizes(*graph_, DimsOfLargest({*feed_}));
  std::vector<std::vector<std::string>> parts;
  uint64_t sum = 0;
  for (const std::string& name : names) {
    const uint64_t size = graph_->IsMade(name) ? sizes.Of(name) : 0;  // inputs are there anyway
    if (parts.empty() || sum + size > bytes) {
      parts.emplace_back();
      sum = 0;
    }
    parts.back().push_back(name);
    sum += size;
  }
  return parts;
}

Result<TensorMap> RunForTensors(const RunPlan& plan, const std::vector<std::string>& names,
                                const std::atomic<int>& interrupted, Logger& logger) {
  VERNIER_ASSIGN_OR_RETURN(const std::unique_ptr<TensorReader> run,
                           TensorReader::Open(plan, interrupted, logger));
  return run->Run(names);
}

}  // namespace vernier
