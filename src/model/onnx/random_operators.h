// Operators whose results are not a function of their inputs.
#pragma once

#include <string_view>

#include "model/onnx/onnx_model.h"

namespace vernier {

/// A Dropout is not among them: most drop nothing.
bool IsRandomOperator(std::string_view op);

/// The first random operator in the file's graphs and functions; empty: there is none.
std::string_view FindRandomOperator(const OnnxModel& model);

}  // namespace vernier
