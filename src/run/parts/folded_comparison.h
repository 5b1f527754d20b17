// A comparison of one iteration as a shard keeps it, and back: what PairRecorder folds is in both.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compare/functions/comparison.h"
#include "record/shards/shard_lines.h"
#include "vernier/row_record.h"
#include "vernier/run_record.h"
#include "vernier/status.h"

namespace vernier {

/// `rows` are those of the comparison's outputs. `folded` has the iteration as its last one, which
/// has this index: figures that it took from there are kept. `averaged`: so is what --check-average
/// needs.
ShardPair MakeShardPair(const IterationComparison& comparison, std::span<const OutputRow> rows,
                        const PairRecord& folded, int64_t index, bool averaged);

/// A comparison without tensors and measures that is folded like the one that was kept. kMalformed
/// for names and numbers that stand for nothing.
Result<IterationComparison> RestoreComparison(const ShardPair& kept);

}  // namespace vernier
