// The description of a TensorRT engine, as its plug-in writes it
// (backends/tensorrt/engine/engine_report.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "vernier/run_record.h"
#include "vernier/status.h"

namespace vernier {

struct EngineTensor {
  std::string name;
  bool input = false;
  std::string dtype;
  std::vector<int64_t> shape;  ///< -1 for a dynamic dimension
};

/// Of an output all are empty.
struct EngineShapes {
  std::vector<int64_t> min, opt, max;
};

struct EngineProfile {
  std::vector<EngineShapes> shapes;  ///< one for each tensor of the engine
};

struct EngineLayerTensor {
  std::string name;
  std::string dtype;  ///< empty: not known
  std::vector<int64_t> shape;
  std::string format;  ///< TensorRT's words
};

/// What is not known is "Unknown", as Polygraphy says.
struct EngineLayer {
  std::string name, type, origin, tactic;
  std::vector<EngineLayerTensor> inputs, outputs;
};

struct EngineRecord {
  std::string name;
  bool refittable = false;
  int64_t device_memory_bytes = 0;
  std::vector<EngineTensor> tensors;  ///< inputs and outputs, in the engine's order
  std::vector<EngineProfile> profiles;
  bool layers_repeat = false;  ///< `layers` has those of the first profile, then of the second ...
  bool detailed = false;       ///< layers are more than names
  std::vector<EngineLayer> layers;
  EngineBuildRecord build;  ///< its config is empty for an engine from a file
};

/// kMalformed.
Result<EngineRecord> EngineFromReport(std::string_view json);

}  // namespace vernier
