// ONNX models as bytes with all weights inside. tract reads external weights only beside a model
// that it opens by path.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "vernier/status.h"

namespace vernier::tract {

/// `model` with the external weights of `folder` in it; kMalformed if it is not an ONNX model or a
/// file of weights cannot be read.
Result<std::string> WithWeightsInside(std::string_view model, const std::filesystem::path& folder);

}  // namespace vernier::tract
