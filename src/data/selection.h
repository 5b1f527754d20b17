// Part of a file of saved tensors: `data select`.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>
#include <vector>

#include "util/log/log.h"
#include "vernier/status.h"

namespace vernier {

struct IterationRange {
  size_t first = 0;
  size_t last = 0;  ///< included
};

/// An empty list keeps everything.
struct DataSelectionPlan {
  std::string path;
  std::string output;
  std::vector<IterationRange> iterations;
  std::vector<std::string> tensors;  ///< names or patterns (* ? [ ])
  std::vector<std::string> runners;  ///< the same, also of the short names of summaries
  bool may_replace = false;          ///< `output` may be `path`
};

/// Writes what is selected, one iteration in memory at a time. kInvalidArgument, naming the flag,
/// for an iteration, tensor or runner that the file does not have; kMalformed, kIo, kCancelled.
Status SelectData(const DataSelectionPlan& plan, const std::atomic<int>& interrupted, Logger& log);

}  // namespace vernier
