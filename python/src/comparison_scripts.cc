#include "comparison_scripts.h"

#include "backend/script_client.h"
#include "run/live/worker_pool.h"

namespace vernier::python {

struct ComparisonScripts::State {
  WorkerPool pool;
  std::unique_ptr<ScriptClient> comparison;
  std::unique_ptr<ScriptClient> postprocessing;

  Status Open(const ScriptFunction& script, ScriptRole role, std::unique_ptr<ScriptClient>& out) {
    if (!script.given()) return {};
    VERNIER_ASSIGN_OR_RETURN(const std::shared_ptr<Worker> worker, pool.GetForScripts());
    VERNIER_ASSIGN_OR_RETURN(out, ScriptClient::Open(worker, static_cast<uint64_t>(role), role,
                                                     {script.path, script.function}));
    return {};
  }
};

ComparisonScripts::ComparisonScripts(const RunPlan& plan, const OwnThread& thread, Logger& logger,
                                     const CallerObjects& objects)
    : state_(new State{{plan.execution, thread.interrupted(), logger, &objects}, {}, {}}) {}

ComparisonScripts::~ComparisonScripts() = default;

Result<ComparisonParts::Scripts> ComparisonScripts::Open(const RunPlan& plan) {
  VERNIER_TRY(state_->Open(plan.compare_script, ScriptRole::kComparison, state_->comparison));
  VERNIER_TRY(
      state_->Open(plan.postprocess_script, ScriptRole::kPostprocessing, state_->postprocessing));
  return ComparisonParts::Scripts{state_->comparison.get(), state_->postprocessing.get()};
}

}  // namespace vernier::python
