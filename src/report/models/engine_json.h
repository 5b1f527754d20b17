// A TensorRT engine, and what TensorRT chose for layers, as JSON for programs.
#pragma once

#include <string>
#include <vector>

#include "record/schema/engine_record.h"
#include "report/models/engine_text.h"
#include "report/models/tactic_replay.h"

namespace vernier {

/// One object: name, refittable, device_memory_bytes, tensors, profiles and, as the options ask for
/// them, layers with origins and tactics. A size that is open is -1, what an engine does not report
/// null; without details layers are names.
std::string FormatEngineJson(const EngineRecord& engine, const EngineTextOptions& options);

/// An array of objects with layer and algorithm.
std::string FormatTacticsJson(const std::vector<TacticOfLayer>& tactics);

/// The paths of all replays that were read, and the layers with what only bad ones used.
std::string FormatTacticDifferenceJson(const LoadedReplays& good, const LoadedReplays& bad,
                                       const TacticsByLayer& only_in_bad);

}  // namespace vernier
