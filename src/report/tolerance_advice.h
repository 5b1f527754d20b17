// Which options would have let a comparison pass.
#pragma once

#include <string>

#include "vernier/run_record.h"

namespace vernier {

/// " --atol 0.02 --rtol 0.02 --l2-threshold 3": options with which every output of every pair would
/// have passed, with a blank before each. Integers need their absolute tolerance alone, as an
/// integer; values go by output where outputs need different ones, or have automatic tolerances.
/// Empty where nothing failed, and where something did that no such option is for: shapes that
/// differ, texts, functions without a threshold, NaN.
std::string AdviceToAccept(const RunRecord& record);

}  // namespace vernier
