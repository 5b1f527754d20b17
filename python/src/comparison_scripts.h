// Functions of the Python program that judge or change outputs, where no run opens them.
#pragma once

#include <memory>

#include "own_thread.h"
#include "run/comparison/comparison_run.h"
#include "run/workers/embedder.h"
#include "util/log/log.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier::python {

class ComparisonScripts {
 public:
  /// All must outlive it.
  ComparisonScripts(const RunPlan& plan, const OwnThread& thread, Logger& logger,
                    const Embedder& objects);
  ~ComparisonScripts();

  /// Opens what the plan names. What is returned must not outlive this.
  Result<ComparisonParts::Scripts> Open(const RunPlan& plan);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace vernier::python
