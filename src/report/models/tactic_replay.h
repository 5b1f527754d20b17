// Polygraphy's tactic replay files (TacticReplayData, as JSON), which --save-tactics writes: which
// algorithm TensorRT chose for each layer.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "vernier/status.h"

namespace vernier {

struct TacticOfLayer {
  std::string layer;
  std::string algorithm;  ///< in Polygraphy's words; equal algorithms have equal words
};

/// In the file's order. kMalformed, naming the path, when the file is missing, not JSON, or no
/// tactic replay.
Result<std::vector<TacticOfLayer>> ReadTacticReplay(const std::string& path);

/// The algorithms of some replays, by layers in the order in which they first occur.
using TacticsByLayer = std::vector<std::pair<std::string, std::vector<std::string>>>;

struct LoadedReplays {
  TacticsByLayer tactics;
  std::vector<std::string> read, skipped;  ///< paths
};

/// Reads a file, or every replay at any depth of a folder; other files are skipped. What is not
/// there counts as an empty folder, as for Polygraphy.
LoadedReplays LoadTacticReplays(const std::string& path);

/// What the layers of `bad` used that the same layers of `good` never did; layers without such left
/// out.
TacticsByLayer OnlyInBad(const TacticsByLayer& good, const TacticsByLayer& bad);

}  // namespace vernier
