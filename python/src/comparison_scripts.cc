#include "comparison_scripts.h"

#include <memory>
#include <vector>

#include "backend/worker/script_client.h"
#include "run/feeds/run_scripts.h"
#include "run/workers/worker_pool.h"

namespace vernier::python {

struct ComparisonScripts::State {
  WorkerPool pool;
  std::unique_ptr<ScriptClient> comparison;
  std::unique_ptr<ScriptClient> postprocessing;
  std::vector<std::unique_ptr<ScriptClient>> decisions = {};

  Status Open(const ScriptFunction& script, ScriptRole role, std::unique_ptr<ScriptClient>& out) {
    if (!script.given()) return {};
    VERNIER_ASSIGN_OR_RETURN(const std::shared_ptr<Worker> worker, pool.GetForScripts());
    VERNIER_ASSIGN_OR_RETURN(out, ScriptClient::Open(worker, static_cast<uint64_t>(role), role,
                                                     {script.path, script.function}));
    return {};
  }
};

ComparisonScripts::ComparisonScripts(const RunPlan& plan, const OwnThread& thread, Logger& logger,
                                     const Embedder& objects)
    : state_(new State{{plan.execution, thread.interrupted(), logger, &objects}, {}, {}}) {}

ComparisonScripts::~ComparisonScripts() = default;

Result<ComparisonParts::Scripts> ComparisonScripts::Open(const RunPlan& plan) {
  VERNIER_TRY(state_->Open(plan.compare_script, ScriptRole::kComparison, state_->comparison));
  VERNIER_TRY(
      state_->Open(plan.postprocess_script, ScriptRole::kPostprocessing, state_->postprocessing));
  ComparisonParts::Scripts scripts{state_->comparison.get(), state_->postprocessing.get()};
  if (!WantsDecisions(plan)) return scripts;
  VERNIER_ASSIGN_OR_RETURN(const std::shared_ptr<Worker> worker, state_->pool.GetForScripts());
  VERNIER_ASSIGN_OR_RETURN(state_->decisions, OpenDecisions(plan, worker));
  for (const auto& client : state_->decisions) scripts.decisions.push_back(client.get());
  return scripts;
}

}  // namespace vernier::python
