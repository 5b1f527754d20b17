// Options that this release does not have, and words that it does not know: told before a builder
// is made, which takes seconds.
#pragma once

#include <string_view>

#include "vernier/backend_sdk.hpp"

namespace vernier::trt {

/// kUnavailable: "--fp8 is not available in TensorRT 8.5.3".
Status NotInThisRelease(std::string_view option);

/// What an engine is for: options that only a build reads do not matter to one that exists.
enum class EngineSource : uint8_t { kBuilt, kRead };

/// NotInThisRelease of the first option that was given and is not in this release, or what LookUp
/// says of a word of TensorRT's enumerations.
Status CheckOptions(const sdk::Options& options, EngineSource source);

}  // namespace vernier::trt
