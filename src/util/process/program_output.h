// What another program says: run to its end, or to a limit.
#pragma once

#include <string>
#include <vector>

#include "vernier/status.h"

namespace vernier {

struct ProgramOutput {
  int exit_code = 0;  ///< or 128 and the number of the signal that ended it
  std::string out;
  std::string err;
};

/// Runs `words`, the program's path first, with nothing to read and in a process group of its own.
/// kInternal when it cannot be started; kBackend when it has not ended within `seconds`: then it is
/// killed.
Result<ProgramOutput> RunProgram(const std::vector<std::string>& words, double seconds);

}  // namespace vernier
