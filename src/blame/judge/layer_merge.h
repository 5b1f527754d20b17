// Layers over several iterations.
#pragma once

#include <span>
#include <vector>

#include "vernier/blame_record.h"

namespace vernier {

/// Keeps of each layer, known by its first output, the iteration with the largest error: what is
/// worse in `more` replaces what `into` has, and layers that it has not are added. Every layer has
/// an output.
void MergeWorst(std::span<const BlameLayerRecord> more, std::vector<BlameLayerRecord>& into);

}  // namespace vernier
