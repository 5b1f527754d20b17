// The program's lines and pictures of a comparison, apart from what is compared.
#pragma once

#include <memory>

#include "run/outcome/run_observer.h"
#include "util/log/log.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

class RunReporter;

namespace python {

class ComparisonReport {
 public:
  /// Both must outlive it.
  ComparisonReport(Logger& logger, const RunPlan& plan);
  ~ComparisonReport();

  RunObserver& observer();

  /// Writes what was asked for; the first error. `well`: nothing else went wrong.
  Status Finish(bool well);

 private:
  std::unique_ptr<RunReporter> reporter_;
};

}  // namespace python
}  // namespace vernier
