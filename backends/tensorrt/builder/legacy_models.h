// UFF and Caffe models, which TensorRT 8's libnvparsers reads.
#pragma once

#include <memory>
#include <string_view>

#include "tensorrt/library/trt_library.h"
#include "tensorrt/library/trt_logger.h"
#include "vernier/backend_sdk.hpp"

namespace vernier::trt {

/// Is a model of this --model-type read here?
bool IsLegacyModel(std::string_view model_type);

/// Fills a network, and gives what must live until it has been built. Caffe: the weights of
/// NAME.prototxt are those that the option "model_extra" names, or in NAME.caffemodel beside it;
/// outputs are the tensors that no layer reads. UFF: inputs come from the shapes of the first
/// profile (--input-shapes), outputs from --trt-outputs. kUnavailable where the release, or the
/// headers that this was built with, have no such parser.
Result<std::shared_ptr<void>> ParseLegacyModel(const Library& library, const vn_model& model,
                                               const sdk::Options& options,
                                               nvinfer1::INetworkDefinition& network,
                                               Logger& logger);

}  // namespace vernier::trt
