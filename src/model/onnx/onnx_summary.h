// A model in a few lines, for people.
#pragma once

#include <string>

#include "model/onnx/onnx_model.h"

namespace vernier {

/// Name, operator sets, inputs, outputs, operators by number, constants and their size.
std::string SummariseOnnx(const OnnxModel& model);

}  // namespace vernier
