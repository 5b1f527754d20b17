// A model's graph for the record.
#pragma once

#include <string>

#include "record/graph_record.h"
#include "vernier/status.h"

namespace vernier {

/// The nodes of the ONNX file's main graph in an order in which they can run, without weights and
/// without what sub-graphs hold inside. kMalformed when the file cannot be read.
Result<GraphRecord> ReadModelGraph(const std::string& path);

}  // namespace vernier
