// Which options would have let a comparison pass.
#pragma once

#include <string>

#include "vernier/run_record.h"

namespace vernier {

/// " --atol 0.02 --l2-threshold 3": options with which every output of every pair would have
/// passed, with a blank before each. Of the two tolerances an output gets the smaller one that is
/// enough by itself, beside the other as it was; with automatic tolerances it gets both. Integers
/// need their absolute tolerance, as an integer; values go by output where outputs are of both
/// kinds, or have automatic tolerances. Of more than four by name, one absolute tolerance for all
/// is given, with the largest four of them behind it. Empty where nothing failed, and where what
/// failed has no such option: shapes that differ, texts, functions without a threshold, NaN, and
/// what --strict or --same-type rejects.
std::string AdviceToAccept(const RunRecord& record);

}  // namespace vernier
