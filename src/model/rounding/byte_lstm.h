// ONNX Runtime's DynamicQuantizeLSTM, computed for both sides from the values that they have read.
//
// It rounds its input, and its own state before each step, to 256 steps between their extremes; the
// weights are kept in steps. Runtimes that compute it in floats leave out the former. How far these
// errors go depends on the weights and the gates: computing it shows that, and a rule does not.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "model/onnx/onnx_model.h"
#include "model/rounding/operand.h"

namespace vernier {

/// Which sides compute it in floats.
struct FloatsWithin {
  bool a = false, b = false;
};

/// Y, Y_h and Y_c, in the order of the operator's outputs.
using LstmOutputs = std::array<std::vector<float>, 3>;

struct LstmSides {
  LstmOutputs a, b;
};

/// nullopt where values are not known, attributes or inputs are given that are not computed here
/// (lengths of sequences, peepholes, clipping, other functions), or it would take too long.
std::optional<LstmSides> ComputeByteLstm(const OnnxModel& model, const OnnxNode& node,
                                         FloatsWithin floats, OperandFinder& operands);

}  // namespace vernier
