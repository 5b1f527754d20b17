// Computes chosen tensors of a model with the first runner of a plan.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "blame/graph/blame_graph.h"
#include "blame/sides/probe_side.h"
#include "run/live/size_search.h"
#include "run/workers/worker_pool.h"
#include "util/log/forwarding_log.h"
#include "util/log/log.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// The plan's first runner, used repeatedly: its worker, the graph and the feed stay.
class TensorReader {
 public:
  /// Starts the worker and reads the model. All of them outlive it; `interrupted` is set by a
  /// signal handler. Errors are those of ProbeSide::ReadModel and BlameGraph::Make.
  static Result<std::unique_ptr<TensorReader>> Open(const RunPlan& plan,
                                                    const std::atomic<int>& interrupted,
                                                    Logger& logger);

  /// What it computes, from the plan's first feed, for these tensors of its ONNX model's main
  /// graph; inputs of the graph are as fed. A tensor that is not available is missing. Errors are
  /// those of opening the session, of making the feed and of running; kCancelled after a signal.
  Result<TensorMap> Run(const std::vector<std::string>& names);

  /// The names in their order, in as few parts as have at most `bytes` each, as far as sizes follow
  /// from the feed; one whose tensor is larger is a part by itself. Errors of making the feed.
  Result<std::vector<std::vector<std::string>>> Split(const std::vector<std::string>& names,
                                                      uint64_t bytes);

  /// Sizes that it runs with, where the plan guesses them and it does not run with those of 1; none
  /// are found where there is no need. Before a feed is made: the plan may then be given them.
  /// kCancelled, and errors of opening the session.
  Result<FoundSizes> SettleSizes();

 private:
  TensorReader(const RunPlan& plan, const std::atomic<int>& interrupted, Logger& logger);
  Status MakeFeed(const std::vector<TensorInfo>& inputs);

  const RunPlan& plan_;
  Logger& logger_;
  ForwardingLog quiet_;
  RuntimeClock clock_;
  WorkerPool pool_;
  ProbeSide side_;
  std::shared_ptr<const OnnxModel> model_;
  std::optional<BlameGraph> graph_;
  std::optional<TensorMap> feed_;  // made for the first that needs it: a session may say of what
};

/// TensorReader::Run, once.
Result<TensorMap> RunForTensors(const RunPlan& plan, const std::vector<std::string>& names,
                                const std::atomic<int>& interrupted, Logger& logger);

}  // namespace vernier
