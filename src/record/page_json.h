// A record for the script of the HTML page.
#pragma once

#include <string>

#include "vernier/run_record.h"

namespace vernier {

/// What ToJson() writes, in one line and shorter: null, false and what is empty are left out; so
/// are the layers of `blame`, which are there as a pair with `by_layer`, and the two summaries by
/// names. Numbers have nine digits; whole ones beyond 2^53, which the script would round, are
/// texts.
std::string ToPageJson(const RunRecord& record);

}  // namespace vernier
