// Operators whose results are not a function of their inputs.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "model/onnx/external_data.h"
#include "model/onnx/onnx_model.h"

namespace vernier {

/// A Dropout is not among them: most drop nothing.
bool IsRandomOperator(std::string_view op);

/// A random operator that the main graph's tensors `outputs` depend on, in bodies and functions
/// too; a Dropout, "Dropout in training mode", unless its training_mode is a constant false. Empty:
/// there is none.
std::string FindRandomOperator(const OnnxModel& model, std::span<const std::string_view> outputs,
                               const ExternalDataOptions& options);

}  // namespace vernier
