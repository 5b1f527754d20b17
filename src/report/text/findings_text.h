// What was found out about outputs that did not match, after Polygraphy's lines.
#pragma once

#include <string>

#include "vernier/run_record.h"

namespace vernier {

/// A block of lines for each output that did not pass, up to a few: how many elements are out of
/// tolerance, the worst of them, distances, NaNs and infinities. With `all_outputs` a block for
/// every output. Empty when there is nothing to report.
std::string FormatFindings(const RunRecord& record, bool all_outputs);

}  // namespace vernier
