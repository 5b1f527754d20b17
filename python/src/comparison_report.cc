#include "comparison_report.h"

#include "report/run/run_reporter.h"

namespace vernier::python {

ComparisonReport::ComparisonReport(Logger& logger, const RunPlan& plan)
    : reporter_(std::make_unique<RunReporter>(logger, plan, true)) {}

ComparisonReport::~ComparisonReport() = default;

RunObserver& ComparisonReport::observer() { return *reporter_; }

Status ComparisonReport::Finish(bool well) {
  const Status saved = reporter_->SaveAccuracy();
  const Status drawn = reporter_->FinishPictures(well && saved.ok());
  return saved.ok() ? drawn : saved;
}

}  // namespace vernier::python
