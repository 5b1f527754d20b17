// The options that this plug-in understands, made of options.def: what --tensorrt.OPTION takes,
// whether this release has it, and which of TensorRT's words it takes.
#pragma once

#include <span>
#include <string_view>

#include "vernier/backend_sdk.hpp"

namespace vernier::trt {

/// For vn_backend_api.option_at. Words of TensorRT's are those of this release, in small letters.
std::span<const vn_option_info> OptionTable();

/// kUnavailable: "--fp8 is not available in TensorRT 8.5.3".
Status NotInThisRelease(std::string_view option);

/// What an engine is for: options that only a build reads do not matter to one that exists.
enum class EngineSource : uint8_t { kBuilt, kRead };

/// NotInThisRelease of the first option that was given and is not in this release, or what LookUp
/// says of a word of TensorRT's enumerations. To be asked before a builder is made, which takes
/// seconds.
Status CheckOptions(const sdk::Options& options, EngineSource source);

}  // namespace vernier::trt
