// Float inputs that a model makes steps of: ids that arrive as floats, masks, values to compare.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "model/onnx/onnx_model.h"

namespace vernier {

/// What reads an input's values, through nodes that move, choose or turn them and do not round.
enum class InputSteps : uint8_t {
  kNone,   ///< arithmetic, which rounds
  kSome,   ///< arithmetic, and steps beside it
  kAlone,  ///< steps alone: what comes behind has integers or truths, and no rounding of the input
};

/// A name that is absent reads as kNone.
using SteppedInputs = std::map<std::string, InputSteps>;

inline InputSteps StepsOf(const SteppedInputs& inputs, const std::string& name) {
  const auto found = inputs.find(name);
  return found == inputs.end() ? InputSteps::kNone : found->second;
}

/// Of the graph's inputs, in bodies and functions too, those that are not kNone.
SteppedInputs FindSteppedInputs(const OnnxModel& model);

/// Whether a node reads its input number `input` with a step: Cast to integers, Floor, Equal, ...
bool IsStep(const OnnxModel& model, const OnnxNode& node, size_t input);

}  // namespace vernier
