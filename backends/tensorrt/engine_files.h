// Engines and timing caches on disk.
#pragma once

#include <span>
#include <string>

#include "trt_library.h"
#include "trt_logger.h"
#include "vernier/backend_sdk.hpp"

namespace vernier::trt {

/// kMalformed when the file cannot be read.
Result<std::string> ReadWhole(const std::string& path);

/// --save-engine and --save-timing-cache. A file appears whole or not at all; kIo names it.
Status SaveEngineFiles(const nvinfer1::IHostMemory& plan, std::span<const std::byte> timing_cache,
                       const sdk::Options& options, Logger& logger);

}  // namespace vernier::trt
