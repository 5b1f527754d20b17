// --gpu-memory-fraction, --allow-growth and --xla as TensorFlow's ConfigProto.
#pragma once

#include "loaded_graph.h"
#include "vernier/backend_sdk.hpp"

namespace vernier::tf {

/// kInvalidArgument for a share outside of 0 to 1.
Result<SessionConfig> ConfigFrom(const sdk::Options& options);

}  // namespace vernier::tf
