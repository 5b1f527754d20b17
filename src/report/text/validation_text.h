// --validate in Polygraphy's words. Data in, log lines out.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compare/functions/comparison.h"
#include "compare/outputs/validate.h"
#include "util/log/log.h"

namespace vernier {

/// One output under --validate.
struct ValidatedOutput {
  std::string runner;
  std::optional<int64_t> iteration;  ///< printed in streaming mode only
  bool check_nan = true;
  bool check_inf = true;
  OutputStatistics output;
  Validation validation;
};

/// The lines about one output: its statistics, what is wrong with it, and the verdict.
void ReportValidation(Logger& logger, const ValidatedOutput& output);

/// "Output Validation | Runners: [...]" and, at the end, "PASSED | Output Validation".
void ReportValidationStart(Logger& logger, const std::vector<std::string>& runners);
void ReportValidationEnd(Logger& logger, bool passed);

/// The critical message with which streaming mode stops.
void ReportValidationAbort(Logger& logger, int64_t iteration);

}  // namespace vernier
