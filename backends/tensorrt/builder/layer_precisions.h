// What TensorRT made of the precisions that were asked for: read back from the engine.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tensorrt/builder/network_edits.h"
#include "tensorrt/library/trt_library.h"
#include "vernier/layer_times.hpp"

namespace vernier::trt {

struct LayerPrecision {
  std::string name;
  std::string asked;  ///< empty: nothing was asked for this layer by name
  std::string got;
};

struct LayerPrecisions {
  std::vector<LayerPrecision> layers;
  std::string summary;  ///< "float16 (12 of 14 layers), float32 (2)"
  std::string table;    ///< a line for each layer
  /// Layers that compute in another precision than was asked for, one sentence each.
  std::vector<std::string> refused;
};

/// From the engine inspector, as far as the engine was built with detailed profiling. A layer of
/// the engine may be several of the network: its name has theirs. Of several optimization profiles
/// the context's is reported.
LayerPrecisions ReadLayerPrecisions(nvinfer1::ICudaEngine& engine,
                                    const nvinfer1::IExecutionContext& context,
                                    std::span<const AskedPrecision> asked);

/// Every layer of the engine by its name, without times. Engines that were built without detailed
/// profiling have names too.
std::vector<sdk::LayerTime> ReadLayerNames(nvinfer1::ICudaEngine& engine);

/// The type in the inspector's JSON of one layer: of its first output. Empty when it has none.
std::string_view PrecisionOfLayer(std::string_view json);

/// The layer's name there.
std::string_view NameOfLayer(std::string_view json);

}  // namespace vernier::trt
