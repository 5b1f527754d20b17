// Which folder of parts `data recover` takes where several stand beside each other.
#pragma once

#include <string>
#include <vector>

#include "vernier/status.h"

namespace vernier {

struct PartsToRecover {
  std::string folder;
  std::vector<std::string> notes;  ///< sentences about the folders that are not taken
};

/// `named`, or one of the parts of `name` (NAME.partial, NAME.partial.<n>) that holds more
/// iterations of the same runners for the same target, of which the first are the same: what a
/// --resume or an earlier recovery left that was killed itself. The notes name all others, so that
/// nothing that is on the disk goes without a word. kMalformed when `named` cannot be read.
Result<PartsToRecover> ChooseParts(const std::string& named, const std::string& name);

}  // namespace vernier
