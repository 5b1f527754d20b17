// The files that a shard reads beside models, as its part names them: shards that have read others
// do not merge.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "record/shards/shard_lines.h"
#include "vernier/run_plan.h"

namespace vernier {

/// What the plan names, in its order: scripts and the like by their content; inputs, saved outputs
/// and external weights by name, size and content, of which some 64 KiB blocks do where there is
/// much; of many files most by name and size alone, several to an entry of very many. What is not
/// there or cannot be read has no hash: whoever reads it reports that. Of what scripts import,
/// those of FindImportedModules().
std::vector<ShardSource> FindShardSources(const RunPlan& plan);

/// Of what the runners compute with: models, scripts with what they import, external weights and
/// the files of TensorFlow's folders (of these some blocks where there is much), whatever they are
/// called.
uint64_t HashOfRunners(const RunPlan& plan);

/// Of a file, of which some blocks do where there is much. Empty: it cannot be read.
std::string HashOfSource(const std::string& path);

/// The first source in which two lists differ, with both values, as a sentence without its full
/// stop; `where` says where the two have been seen, as in "in 'a.json'". Empty: none differs.
std::string DifferenceOfSources(const std::vector<ShardSource>& a,
                                const std::vector<ShardSource>& b,
                                const std::pair<std::string, std::string>& where);

}  // namespace vernier
