// Engines and timing caches on disk.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "tensorrt/builder/builder_config.h"
#include "tensorrt/library/trt_library.h"
#include "tensorrt/library/trt_logger.h"
#include "vernier/backend_sdk.hpp"

namespace vernier::trt {

/// kMalformed when the file cannot be read.
Result<std::string> ReadWhole(const std::string& path);

/// A file that appears whole or not at all. kIo names it.
Status SaveFile(const std::string& path, std::span<const std::byte> bytes);

/// Holds the lock file "PATH.lock", which Polygraphy takes too, as long as it lives. A lock that
/// cannot be taken is none: a read-only folder is no reason to fail.
class FileLock {
 public:
  explicit FileLock(const std::string& path);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int file_ = -1;
};

/// --save-engine.
Status SaveEngine(const nvinfer1::IHostMemory& plan, const sdk::Options& options, Logger& logger);

/// The file that --timing-cache-dir has for this release of TensorRT and this device, or that the
/// builds of one command share; empty: neither.
std::string SharedTimings(const sdk::Options& options, std::string_view version,
                          std::string_view device);

inline constexpr std::string_view kTimingCacheDir = "--timing-cache-dir";

/// Adds the timings that a file holds to a cache, where there is such a file. A warning where they
/// cannot be merged; kMalformed where it cannot be read. The caller has its lock. `option`: who
/// names the file.
Status MergeTimings(const std::string& path, std::string_view option,
                    const nvinfer1::IBuilderConfig& config, nvinfer1::ITimingCache& cache,
                    Logger& logger);

/// The files of --save-timing-cache and of SharedTimings(): what each holds is merged into the
/// build's cache, under its lock, and the whole is written. Timings that go on from an earlier
/// build hold that already, unless someone else has written the file since.
Status SaveTimingCache(const BuildConfig& build, const sdk::Options& options, Logger& logger);

}  // namespace vernier::trt
