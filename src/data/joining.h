// Files of saved tensors as one: `data concat` and `data merge`.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "util/log/log.h"
#include "vernier/status.h"

namespace vernier {

struct DataJoinPlan {
  std::vector<std::string> paths;  ///< at least one, in any of the formats
  std::string output;              ///< one file; JSON unless the extension says otherwise
  /// As in Polygraphy `output` may be one of `paths`, and names of shards mean nothing.
  bool may_replace = false;
  bool lenient = false;  ///< as in Polygraphy files need not have the same runners
};

/// Writes the iterations of all files one after another (of shards by stride in turn), one in
/// memory at a time; outputs by the names of their runners, with the marks of what they were made
/// from, unless the files differ in how the steps of a runner were fed: then a warning. Another for
/// an iteration with other names than the first. kInvalidArgument for inputs
/// beside outputs, for files with other runners, after which iterations of one number would not
/// belong together, where `output` is read, and as CheckShardsInOrder(); kMalformed, kIo,
/// kCancelled. Without success no file is left.
Status ConcatenateData(const DataJoinPlan& plan, const std::atomic<int>& interrupted, Logger& log);

/// Writes inputs, each iteration of which has the tensors that all files and runners have for it;
/// of equal names the later file's, with a warning. Iterations that some files lack are incomplete,
/// with a warning. Errors as ConcatenateData().
Status MergeData(const DataJoinPlan& plan, const std::atomic<int>& interrupted, Logger& log);

}  // namespace vernier
