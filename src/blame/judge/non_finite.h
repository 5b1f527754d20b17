// NaN and infinities: which layer makes them.
#pragma once

#include <optional>

#include "blame/graph/blame_graph.h"
#include "blame/sides/island_bench.h"
#include "vernier/blame_record.h"

namespace vernier {

class PaddedTensors;

/// The tensors of both sides, by the candidate's names.
struct SideSources {
  TensorSource reference;
  TensorSource candidate;
  /// Tensors of the candidate that came from another session than the rest; null: none.
  const NameSet* apart = nullptr;
  /// Of the feed at hand; null: all positions count.
  PaddedTensors* padded = nullptr;
};

/// The non-finite value that a layer produces although everything that its island reads on that
/// side is finite; absent if there is none, or if it is inherited. Constants of its own that
/// are not finite are among the operands. `layer.outputs` are the island's, with their
/// magnitudes.
std::optional<NonFiniteRecord> MadeNonFinite(const BlameLayerRecord& layer, const BlameGraph& graph,
                                             const Island& island, const SideSources& sides);

}  // namespace vernier
