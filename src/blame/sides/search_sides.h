// The two sides of a search: which runners they are, what they run, and what runs them.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "blame/graph/blame_graph.h"
#include "blame/graph/blame_plan.h"
#include "blame/sides/foreign_reference.h"
#include "blame/sides/probe_side.h"
#include "blame/sides/reference_choice.h"
#include "blame/sides/runtime_clock.h"
#include "model/onnx/onnx_model.h"
#include "run/runner/model_conversion.h"
#include "run/saved/saved_runs.h"
#include "run/workers/worker_pool.h"
#include "util/log/log.h"
#include "vernier/status.h"

namespace vernier {

/// What every step of a search works with. All of it outlives the search.
struct SearchContext {
  Logger& logger;
  Logger& quiet;                        ///< for what is noise within a search; for any thread
  const std::atomic<int>& interrupted;  ///< the number of a signal; 0: none came
  WorkerPool& pool;
  RuntimeClock& clock;

  /// kCancelled after a signal.
  Status CheckInterrupted() const;
};

/// Sessions of these keep references to them: they stay where they are once a session is open.
struct SearchSides {
  Sides places;  ///< in the plan
  SavedRuns saved;
  std::optional<ProbeSide> reference;  ///< nullopt: it is saved
  ProbeSide candidate;
  ProbeSide alone;                                     ///< the candidate once more, for islands
  std::shared_ptr<ModelConversions> conversions = {};  ///< holds the reference's model, if any

  const std::string& ReferenceName() const;

  /// The reference runs a model in another format than ONNX.
  bool HasForeignReference() const { return reference && IsForeign(reference->plan()); }

  /// Starts all workers, which load their frameworks in the meantime; lets them go.
  void Start();
  void End();
};

/// Reads which runs were saved, and asks the runners' backends for their ranks where that decides.
/// Errors of CheckSides, SavedRuns::Open, ChooseSides and WithInnerTensors.
Result<SearchSides> OpenSides(const BlamePlan& plan, const SearchContext& context);

struct SearchModels {
  BlameGraph candidate;
  /// Null: the reference is saved, or in another format. The candidate's where both sides run one
  /// file.
  std::shared_ptr<const OnnxModel> reference;

  bool AreTwo() const { return reference != nullptr && reference.get() != &candidate.model(); }
};

/// Errors of ProbeSide::ReadModel and BlameGraph::Make.
Result<SearchModels> ReadModels(const SearchSides& sides);

}  // namespace vernier
