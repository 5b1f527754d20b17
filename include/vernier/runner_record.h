// What a record says about runners, and about the shards that they were in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace vernier {

/// Seconds; nothing when the runner made no inference.
struct LatencyRecord {
  double first = 0;
  double median = 0;
  double p95 = 0;
};

/// The bytes of its inputs that a runner really received, as its own process saw them.
struct ReceivedRecord {
  int64_t iterations = 0;
  std::string all;  ///< XXH3 (64 bits, hexadecimal) of the hashes of all of them in order
  std::vector<std::pair<std::string, std::string>>
      first;  ///< input, XXH3 of its bytes; iteration 0
};

/// A layer of an engine that was built: what it computes in.
struct LayerPrecisionRecord {
  std::string layer;
  std::string asked;  ///< empty: nothing was requested for this layer by name
  std::string got;
};

/// How an engine was built, where the backend builds one (TensorRT).
struct EngineBuildRecord {
  std::vector<std::pair<std::string, std::string>> config;  ///< setting, value; as really set
  std::vector<LayerPrecisionRecord> layers;                 ///< as read back from the engine
};

struct RunnerRecord {
  std::string name;
  std::string backend;
  std::string framework_version;
  std::string framework_path;
  std::string model;
  std::string device;
  std::string precision;
  double load_seconds = 0;
  std::optional<LatencyRecord> latency;
  int64_t iterations = 0;
  std::string failure;  ///< empty: it did everything requested
  std::vector<std::pair<std::string, std::string>> skipped_outputs;  ///< name, why
  std::optional<ReceivedRecord> received;  ///< where it was asked for and the worker supports it
  /// Inputs that --map-inputs mapped, and what of the feed they were; tensors that it left out.
  std::vector<std::pair<std::string, std::string>> mapped_inputs = {};
  std::vector<std::string> left_out_inputs = {};
  std::optional<EngineBuildRecord> engine;
};

/// A runner in one shard of a run.
struct ShardRunnerRecord {
  std::string name;
  double load_seconds = 0;
  std::optional<LatencyRecord> latency = {};
};

/// The process that ran a shard: what depends on how and where a run was divided.
struct ShardRecord {
  int64_t number = 0;
  std::string host;
  int64_t process = 0;
  std::string started;  ///< in UTC, as that of OriginRecord
  double seconds = 0;
  std::vector<ShardRunnerRecord> runners;
};

}  // namespace vernier
