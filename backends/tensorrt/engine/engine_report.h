// What an engine says of itself and how it was built, for the host: `inspect model` prints it, and
// a run's record keeps it.
#pragma once

#include <string>
#include <vector>

#include "tensorrt/builder/config_text.h"
#include "tensorrt/builder/layer_precisions.h"
#include "tensorrt/library/trt_library.h"

namespace vernier::trt {

/// What only the build knows; empty for an engine from a file.
struct BuildFacts {
  ConfigRows config;
};

/// Writes JSON to the file that the session option "engine_report" names. A file that cannot be
/// written is left out: the host then knows nothing, and says so.
void WriteEngineReport(const std::string& path, nvinfer1::ICudaEngine& engine,
                       const nvinfer1::IExecutionContext& context, const BuildFacts& build,
                       const LayerPrecisions& precisions);

}  // namespace vernier::trt
