#include "session/blame/run_before_search.h"

#include "core/version.h"

namespace vernier {

Status WhyNoSearch(const RunOutcome& ran) {
  if (ran.faults.signal != 0) return Cancelled("interrupted");
  if (!ran.record.error.empty()) return InvalidArgument(ran.record.error);
  for (const RunnerRecord& runner : ran.record.runners) {
    if (!runner.failure.empty()) return BackendError(runner.name + " failed: " + runner.failure);
  }
  return {};
}

BlameOutcome EndedBy(const BlamePlan& plan, const RunOutcome& ran, const Status& why,
                     Logger& logger) {
  if (why.code() != StatusCode::kCancelled) logger.Critical(why.message());
  BlameOutcome outcome;
  outcome.record.command = plan.run.command;
  outcome.record.version = kVersion;
  outcome.record.error = why.message();
  outcome.faults = ran.faults;
  outcome.faults.mismatch = false;
  if (!outcome.faults.any()) outcome.faults.Add(why);
  return outcome;
}

}  // namespace vernier
