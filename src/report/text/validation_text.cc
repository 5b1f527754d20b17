#include "report/text/validation_text.h"

#include "report/text/array_text.h"
#include "report/text/numpy_text.h"
#include "util/text/number_text.h"

namespace vernier {

namespace {

void LogNans(Logger& logger, const Tensor& tensor) {
  logger.Error("NaN Detected | One or more NaNs were encountered in this output");
  logger.Once(Severity::kInfo,
              "Note: Use -vv or set logging verbosity to EXTRA_VERBOSE to display locations of "
              "NaNs");
  if (!logger.Enabled(Severity::kExtraVerbose)) return;
  const Result<Tensor> nans = InvalidElements(tensor, ValidityTest::kNan);
  if (nans.ok()) {
    logger.Log(Severity::kExtraVerbose, "Note: NaNs at:\n" + FormatNumpyArray(*nans));
  }
}

void LogNonFinite(Logger& logger, const Tensor& tensor) {
  logger.Error("Inf Detected | One or more non-finite values were encountered in this output");
  logger.Once(Severity::kInfo,
              "Note: Use -vv or set logging verbosity to EXTRA_VERBOSE to display non-finite "
              "values");
  if (!logger.Enabled(Severity::kExtraVerbose)) return;
  const Result<Tensor> invalid = InvalidElements(tensor, ValidityTest::kNonFinite);
  if (invalid.ok()) {
    logger.Log(Severity::kExtraVerbose,
               "Note: non-finite values at:\n" + FormatNumpyArray(*invalid));
    std::vector<int64_t> places;
    const auto flags = invalid->As<uint8_t>();
    for (size_t i = 0; i < flags.size(); ++i) {
      if (flags[i] != 0) places.push_back(static_cast<int64_t>(i));
    }
    logger.Log(Severity::kExtraVerbose,
               "Note: non-finite values:\n" + FormatNumpySelection(tensor, places));
  }
}

}  // namespace

void ReportValidation(Logger& logger, const ValidatedOutput& validated) {
  const OutputStatistics& output = validated.output;
  const auto truth = [](bool value) { return std::string(value ? "True" : "False"); };
  const std::string iteration =
      validated.iteration ? "Iteration " + std::to_string(*validated.iteration) + " | " : "";
  logger.Start(PadRunner(validated.runner) + " | " + iteration +
               "Validating output: " + output.name + " (check_inf=" + truth(validated.check_inf) +
               ", check_nan=" + truth(validated.check_nan) + ")");
  LogIndent indent(logger);
  LogArray(logger,
           {"", output.statistics, output.tensor.dtype(), output.tensor.dims(), &output.tensor,
            output.histogram ? &*output.histogram : nullptr},
           Severity::kVerbose);
  if (validated.check_nan && validated.validation.nan_count > 0) LogNans(logger, output.tensor);
  if (validated.check_inf && validated.validation.non_finite_count > 0) {
    LogNonFinite(logger, output.tensor);
  }
  if (validated.validation.valid(validated.check_nan, validated.check_inf)) {
    logger.Finish("PASSED | Output: " + output.name + " is valid");
  } else {
    logger.Error("FAILED | Errors detected in output: " + output.name);
  }
}

void ReportValidationStart(Logger& logger, const std::vector<std::string>& runners) {
  logger.Start("Output Validation | Runners: " + FormatPythonList(runners));
}

void ReportValidationEnd(Logger& logger, bool passed) {
  LogIndent indent(logger);
  logger.Log(passed ? Severity::kFinish : Severity::kError,
             passed ? "PASSED | Output Validation" : "FAILED | Output Validation");
}

void ReportValidationAbort(Logger& logger, int64_t iteration) {
  logger.Critical("Output validation failed: iteration " + std::to_string(iteration) +
                  " contains invalid values (NaNs/Infs). See the errors above.");
}

}  // namespace vernier
