// --gpu-memory-fraction, --allow-growth, --xla, threads and optimisation as TensorFlow's
// ConfigProto.
#pragma once

#include "loaded_graph.h"
#include "vernier/backend_sdk.hpp"

namespace vernier::tf {

/// kInvalidArgument for a share outside of 0 to 1 and for words that are no option's.
Result<SessionConfig> ConfigFrom(const sdk::Options& options);

}  // namespace vernier::tf
