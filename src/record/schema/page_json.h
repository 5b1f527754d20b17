// A record for the script of the HTML page.
#pragma once

#include <string>

#include "vernier/run_record.h"

namespace vernier {

/// What ToJson() writes, in one line and shorter: null, false and what is empty are left out; so
/// are the layers of `blame`, which are there as a pair with `by_layer`, and the two summaries by
/// names. Numbers have nine digits; whole ones beyond 2^53, which the script would round, are
/// texts. Keys are there once: the text is {"value": V, "keys": [[KEY, ...], ...]}, and each object
/// in V is {"N": [VALUE, ...]}, with the keys of the N-th list in the order of its values.
std::string ToPageJson(const RunRecord& record);

}  // namespace vernier
