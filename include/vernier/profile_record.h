// How fast runners are, as measured one at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace vernier {

/// Seconds of single inferences, without the copies to and from the runner.
struct LatencyStatistics {
  int64_t count = 0;
  double mean = 0, std_dev = 0;
  double min = 0, max = 0;
  double median = 0, p90 = 0, p95 = 0, p99 = 0;  ///< each a measured value, not interpolated
  /// Half of the width in which the median lies with 95 % confidence, relative to it: the noise.
  double median_noise = 0;
  /// The median of the second half of the measurements relative to that of the first, less 1.
  double drift = 0;
};

struct LayerTime {
  std::string name;
  std::string kind;    ///< what the runtime calls the operation
  double seconds = 0;  ///< mean of an inference
};

/// How the outputs agree with those of the first runner, on the same inputs.
struct ProfileAccuracy {
  bool compared = false;  ///< false: see `why`
  bool passed = false;
  std::string why;
  int64_t outputs = 0;  ///< compared
  int64_t failed = 0;
  int64_t elements = 0;             ///< of the outputs compared
  int64_t vacuous = 0;              ///< outputs whose agreement shows nothing
  double times_over_tolerance = 0;  ///< of the worst output
  std::string worst_output;
  std::vector<std::string> retyped = {};  ///< "x (float32 against float64)", the reference first
  double max_absolute_error = 0;
};

/// One runner with one set of input shapes.
struct ProfilePoint {
  std::string runner;
  std::string shapes;            ///< "X:[1,3,224,224]"; of several inputs separated by blanks
  std::optional<int64_t> batch;  ///< the first dimension, where all inputs have the same
  std::string failure;           ///< empty: it was measured
  int64_t warm_ups = 0;
  double first_seconds = 0;    ///< of the first inference of all
  double warm_up_seconds = 0;  ///< of all inferences that were not measured
  LatencyStatistics latency;
  double per_second = 0;                ///< inferences a second, times the batch where there is one
  std::optional<uint64_t> peak_memory;  ///< bytes of the runner's process at its largest
  std::vector<LayerTime> layers;        ///< longest first; empty: the backend has none
  std::string layers_missing;           ///< why there are none
  ProfileAccuracy accuracy;
};

struct ProfileRunner {
  std::string name, backend, framework_version, device, precision;
  double load_seconds = 0;
};

struct ProfileRecord {
  std::vector<ProfileRunner> runners;
  std::vector<ProfilePoint> points;  ///< shapes by shapes, runners in their order
};

}  // namespace vernier
