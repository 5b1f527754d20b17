// What the options change in a parsed network: its outputs, precisions and types.
#pragma once

#include <vector>

#include <string>
#include <vector>

#include "tensorrt/library/trt_library.h"
#include "tensorrt/library/trt_logger.h"
#include "vernier/backend_sdk.hpp"

namespace vernier::trt {

/// In Polygraphy's order: --trt-outputs, --trt-outputs-by-type, --trt-exclude-outputs,
/// --layer-precisions, --tensor-dtypes. kNotFound for a tensor that the network does not have, with
/// those that it has.
Status EditNetwork(nvinfer1::INetworkDefinition& network, const sdk::Options& options,
                   Logger& logger);

/// The layers whose precision was asked for by name.
struct AskedPrecision {
  std::string layer;
  std::string precision;  ///< "float16"
};
std::vector<AskedPrecision> AskedPrecisions(const nvinfer1::INetworkDefinition& network);

}  // namespace vernier::trt
