// Which tensor of one ONNX graph is which of another's by what their nodes do, where names mislead:
// exporters that count tensors name all others anew when one node is added.
#pragma once

#include <string_view>
#include <unordered_map>

#include "model/onnx/onnx_model.h"

namespace vernier {

/// Tensors that nodes make, by names of the second graph; views into the models.
using StructuralPairs = std::unordered_map<std::string_view, std::string_view>;

/// Nodes of both graphs are aligned in order by their operators, the constants that they read,
/// their attributes and names. Equal names count as pairs, and an alignment that contradicts them
/// replaces them only if more nodes then read what belongs together: a node that was planted or
/// wired wrongly leaves names as they are. Outputs of the graphs keep their names. Empty: names
/// need no correction. Where they do, the pairs are all that there are, those by name included.
StructuralPairs PairByStructure(const OnnxModel& first, const OnnxModel& second);

}  // namespace vernier
