// A record as JUnit's XML, which test machinery reads.
#pragma once

#include <span>
#include <string>

#include "vernier/run_record.h"

namespace vernier {

/// A suite for the runners, one for each pair with an output a test case, and one for what was
/// requested and not done. What could not be compared is an error, never a pass. Names of suites
/// and cases stay from run to run: they lack the time that runners' own names end in, and a loaded
/// file whose runner has such a name is called by the file's.
std::string FormatJunit(const RunRecord& record);

/// One of several runs.
struct NamedRecord {
  std::string name;  ///< of its model: comes before the names of its suites
  RunRecord record;
};

/// All of them as one document.
std::string FormatJunit(std::span<const NamedRecord> records);

}  // namespace vernier
