// Parts of shards to the record of the undivided run: everything is folded from their rows, in the
// order of indices, as one process would have done it.
#pragma once

#include <string>
#include <vector>

#include "run/outcome/run_outcome.h"
#include "util/log/log.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

struct MergePlan {
  std::vector<std::string> parts;
  std::string output;        ///< of the record, or, with `partial`, of the part
  std::string rows;          ///< --save-rows; empty: not saved
  bool partial = false;      ///< parts of some shards to one part, for another merge
  bool only_status = false;  ///< nothing is merged
  bool mixed = false;        ///< runners of other versions and devices may have made the parts
};

struct MergeOutcome {
  RunOutcome outcome;
  RunPlan plan;         ///< of the undivided run; nothing is saved by it
  bool merged = false;  ///< false: parts are missing or do not belong together, as a fault says
};

/// Errors are critical lines of the log, and faults: kMalformed for parts that do not belong
/// together, or of which two hold other results of an iteration. Parts that are missing are
/// `incomplete`, with the command that makes them. Nothing is written then. The record is not
/// saved here.
MergeOutcome MergeShards(const MergePlan& merge, Logger& logger);

/// Whether all shards' parts at `paths` would merge, as far as that is seen without folding them:
/// errors as MergeShards().
Status CheckMerge(const std::vector<std::string>& paths, bool mixed);

}  // namespace vernier
