// What processes that were killed have left beside files that are whole now.
#pragma once

#include <string>

#include "vernier/run_plan.h"

namespace vernier {

/// Removes the folder of parts at `path`, and the folder of iterations that they are of, where that
/// was to replace `target`.
void RemoveParts(const std::string& path, const std::string& target);

/// Of a shard that has done all of its share, and so has made all of that again: rows, inputs and
/// outputs. What is in use stays, and everything where a file system knows no locks.
void RemoveLeftOfShard(const SavePlan& save);

}  // namespace vernier
