// What a profile says of the feed that it measures with.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "vernier/tensor.h"

namespace vernier {

/// "X:[1,3,224,224] ids:[1,16]"
std::string ShapesOf(const TensorMap& feed);

/// The first dimension of all inputs that have one; nullopt where they differ, or none has.
std::optional<int64_t> BatchOf(const TensorMap& feed);

}  // namespace vernier
