// The trace that ONNX Runtime writes when it profiles.
#pragma once

#include <string>
#include <vector>

#include "vernier/layer_times.hpp"

namespace vernier::ort {

/// Mean times of the kernels in all runs but the first, which warms up.
/// Empty when the file cannot be read.
std::vector<sdk::LayerTime> ReadTrace(const std::string& path);

}  // namespace vernier::ort
