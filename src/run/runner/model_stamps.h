// Whether the model files of a run are still those that they were when it began.
#pragma once

#include <cstdint>
#include <vector>

#include "vernier/run_plan.h"

namespace vernier {

/// What the system says of a file at its path; all 0 where there is no regular file. For this
/// process alone: other hosts, and a later mount, number files otherwise.
struct ModelStamp {
  uint64_t device = 0, inode = 0, size = 0;
  int64_t written_s = 0, written_ns = 0;
  int64_t changed_s = 0, changed_ns = 0;  ///< by renaming or linking it, too

  bool operator==(const ModelStamp&) const = default;
};

/// Of the model of each runner.
std::vector<ModelStamp> StampModels(const RunPlan& plan);

/// Whether a file was written to, or another took its place. Not where only its owner, mode or
/// links are others, nor where there is none now.
bool WasReplaced(const ModelStamp& before, const ModelStamp& now);

}  // namespace vernier
