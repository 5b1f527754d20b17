// The results of the models of a batch.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "record/schema/record_digest.h"
#include "run/outcome/exit_code.h"

namespace vernier {

struct BatchResult {
  std::string model;
  std::string command;   ///< that does this run again
  int exit_code = 0;     ///< 128 and more: it was ended by a signal
  bool started = false;  ///< false: the batch was interrupted before
  double seconds = 0;
  RecordDigest digest;
  std::vector<std::string> messages;  ///< its errors, as it printed them
};

/// "passed", "mismatch", "unreadable", ...: what the exit code says. Of a run that ended well
/// without a comparison "ran" where it had one side alone, else "nothing compared".
std::string BatchVerdict(const BatchResult& result);

/// What all results together mean for the exit code of the batch.
RunFaults FaultsOf(std::span<const BatchResult> results);

/// The table, one line a model, and a line with the sums.
std::string FormatBatch(std::span<const BatchResult> results);

}  // namespace vernier
