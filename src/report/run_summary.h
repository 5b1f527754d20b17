// The lines that every run ends with, after the peer's: the runners, the worst outputs, what was
// and what was not compared, and what to type next.
#pragma once

#include <string>

#include "record/run_record.h"

namespace vernier {

/// Several lines of text. Latencies are labelled as interleaved when more than one runner was open.
std::string FormatRunSummary(const RunRecord& record, bool interleaved);

}  // namespace vernier
