// Which thresholds of functions other than `simple` would have let everything pass.
#pragma once

#include <string>

#include "vernier/run_record.h"

namespace vernier {

/// " --l2-threshold 0.02 --psnr-threshold 17": the option for every function with a threshold that
/// some output failed, with a blank before each; empty when there is none. Values are rounded to
/// two digits, to the side that lets pass.
std::string ThresholdAdvice(const RunRecord& record);

}  // namespace vernier
