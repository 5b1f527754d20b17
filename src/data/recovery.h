// What an interrupted run had saved, as a file: `data recover`.
#pragma once

#include <optional>
#include <string>

#include "util/log/log.h"
#include "vernier/status.h"

namespace vernier {

struct DataRecoveryPlan {
  std::string path;                   ///< NAME.partial, or the NAME that the run was to write
  std::optional<std::string> output;  ///< none: NAME
  bool overwrite = false;             ///< replace an `output` that is there
};

/// Makes a file of all iterations that are whole, and removes the parts. kIo where something that
/// was promised is not in it, saying what; the parts then stay. kInvalidArgument for an output that
/// is there or cannot be written in its format; kMalformed for no folder of parts.
Status RecoverData(const DataRecoveryPlan& plan, Logger& log);

}  // namespace vernier
