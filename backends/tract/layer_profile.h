// What tract's profiler says of the nodes of a model, which it writes as JSON.
#pragma once

#include <string_view>
#include <vector>

#include "vernier/layer_times.hpp"

namespace vernier::tract {

/// The nodes that take time. Of text that is not the profiler's: none.
std::vector<sdk::LayerTime> LayersOfProfile(std::string_view json);

}  // namespace vernier::tract
