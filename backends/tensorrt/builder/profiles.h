// Optimization profiles: the shapes that an engine with dynamic inputs is built for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tensorrt/library/trt_library.h"
#include "tensorrt/library/trt_logger.h"
#include "vernier/backend_sdk.hpp"

namespace vernier::trt {

/// One line of the option "profile": "INDEX<TAB>min|opt|max<TAB>NAME<TAB>1,3,224". The host has
/// filled in what the command line leaves out; NAME may be a pattern.
struct ProfileEntry {
  int64_t index = 0;
  std::string which;
  std::string name;
  std::vector<int64_t> dims;
};
Result<ProfileEntry> ParseProfileEntry(const std::string& text);

/// Adds the profiles of the options, or one with the network's own shapes (dynamic dimensions 1)
/// when it has dynamic inputs and no option says more; inputs that no entry names get their
/// defaults with a warning. kInvalidArgument for an entry that names no input, or shapes that do
/// not fit.
Status AddProfiles(nvinfer1::IBuilder& builder, const nvinfer1::INetworkDefinition& network,
                   nvinfer1::IBuilderConfig& config, const sdk::Options& options, Logger& logger);

std::string FormatShape(const nvinfer1::Dims& dims);

}  // namespace vernier::trt
