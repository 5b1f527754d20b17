// A record as JUnit's XML, which test machinery reads.
#pragma once

#include <string>

#include "record/run_record.h"

namespace vernier {

/// A suite for the runners, one for each pair with an output a test case, and one for what was
/// asked for and not done. What could not be compared is an error, never a pass. Names of suites
/// and cases stay from run to run: they lack the time that runners' own names end in.
std::string FormatJunit(const RunRecord& record);

}  // namespace vernier
