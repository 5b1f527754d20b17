#include "blame/tensor_run.h"

#include <algorithm>
#include <memory>

#include "blame/blame_graph.h"
#include "blame/probe_side.h"
#include "blame/quiet_logger.h"
#include "run/scripted_feeds.h"
#include "run/worker_pool.h"

namespace vernier {

Result<TensorMap> RunForTensors(const RunPlan& plan, const std::vector<std::string>& names,
                                const std::atomic<int>& interrupted, Logger& logger) {
  QuietLogger quiet(logger);
  RuntimeClock clock;
  WorkerPool pool(plan.execution, interrupted, quiet);
  ProbeSide side(plan.runners.front(), "", pool, quiet, clock);
  side.Start();
  VERNIER_ASSIGN_OR_RETURN(const std::shared_ptr<const OnnxModel> model, side.ReadModel());
  VERNIER_ASSIGN_OR_RETURN(const BlameGraph graph, BlameGraph::Make(model));
  std::vector<std::string> made;
  for (const std::string& name : names) {
    const bool there = std::find(made.begin(), made.end(), name) != made.end();
    if (graph.IsMade(name) && !there) made.push_back(name);
  }
  VERNIER_ASSIGN_OR_RETURN(std::unique_ptr<LiveRunner> session,
                           made.empty() ? side.OpenPlain() : side.OpenMarked(made));
  const std::vector<TensorInfo> inputs =
      session->inputs_unknown() ? model->RequiredInputs() : session->session().inputs;
  VERNIER_ASSIGN_OR_RETURN(const TensorMap feed, OpenFirstFeed(plan, inputs, pool, logger));
  TensorMap tensors;
  if (!made.empty()) {
    VERNIER_ASSIGN_OR_RETURN(tensors, side.Infer(*session, feed));
  }
  ProbeSide::Close(session);
  for (const NamedTensor& fed : feed) {
    if (std::find(names.begin(), names.end(), fed.name) != names.end()) tensors.push_back(fed);
  }
  return tensors;
}

}  // namespace vernier
