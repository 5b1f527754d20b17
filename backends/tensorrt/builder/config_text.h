// A builder configuration as it was really set, for the log and the record.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tensorrt/library/trt_library.h"

namespace vernier::trt {

/// Title and value of each setting: Polygraphy's in its order and words, then what it leaves out.
/// Settings that this release does not have are left out, and those of DLA where it is not used.
using ConfigRows = std::vector<std::pair<std::string, std::string>>;
ConfigRows ReadConfig(const nvinfer1::IBuilderConfig& config);

/// A line for each, aligned.
std::string FormatConfig(const ConfigRows& rows);

}  // namespace vernier::trt
