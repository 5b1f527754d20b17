// Changing an ONNX model's outputs by editing bytes.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "model/onnx/onnx_model.h"
#include "model/onnx/wire_patch.h"

namespace vernier {

struct OutputEdit {
  std::vector<WirePatch> patches;
  /// Outputs of unknown type: only their name is written, which runtimes accept and onnx.checker
  /// does not. Views into the model.
  std::vector<std::string_view> untyped;
  /// Outputs whose type is known but not their rank; onnx.checker refuses these too.
  std::vector<std::string_view> unranked;
};

/// The patches that make `names` the outputs of the main graph, in this order. Each is declared as
/// the model declares it (outputs, value_info, inputs, initializers), else with the type and rank
/// that InferTypes finds. No patch when the outputs are these already. The names must exist in the
/// model; see SelectOnnxOutputs.
OutputEdit EditOutputs(const OnnxModel& model, std::span<const std::string_view> names);

}  // namespace vernier
