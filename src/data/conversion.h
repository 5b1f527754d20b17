// A file of saved tensors in another format: `data convert`.
#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "io/results/saved_tensors.h"
#include "util/log/log.h"
#include "vernier/status.h"

namespace vernier {

struct DataConversionPlan {
  std::string path;
  std::string output;
  std::string format;                 ///< "npz", "npy", "pb", ...; empty: by the name of `output`
  std::optional<SavedKind> kind;      ///< what is written; none: what is read
  std::optional<std::string> runner;  ///< the one whose outputs are written, or its new name
  bool may_replace = false;           ///< `output` may be `path`, as in Polygraphy
};

/// Writes the file anew, one iteration in memory at a time. kInvalidArgument, naming the flag, for
/// a name whose format is not known, a runner that is not there, and what the format cannot hold;
/// kMalformed, kIo, kCancelled.
Status ConvertData(const DataConversionPlan& plan, const std::atomic<int>& interrupted,
                   Logger& log);

}  // namespace vernier
