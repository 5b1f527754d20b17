// Which thresholds of functions other than `simple` would have let everything pass.
#pragma once

#include <string>
#include <vector>

#include "vernier/run_record.h"

namespace vernier {

/// " --l2-threshold 0.02 --psnr-threshold 17": the option for every function with a threshold that
/// some output failed, with a blank before each and "=" before a negative value; empty when there
/// is none. Values are rounded to two digits, to the side that lets pass.
std::string ThresholdAdvice(const RunRecord& record);

/// What the output failed in any iteration, with the worst value; with --check-average what it
/// failed on average. Of records that do not say, what it failed in its worst iteration.
std::vector<GateRecord> FailedGates(const PairRecord& pair, const OutputRecord& output);

/// Is there such an option for the function, with a value that can be written?
bool HasThreshold(const GateRecord& gate);

/// A finite number with two digits, no less than `value`; with `at_least` no more than it.
std::string RoundedToPass(double value, bool at_least);

}  // namespace vernier
