// The models of the conformance checks: every input goes through one Identity node.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vernier/tensor.h"

namespace vernier {

/// ONNX bytes of a model with these inputs; input `name` comes out as OutputName(name), unchanged.
/// A missing shape is left open in the file, too. The graph is the last field: every prefix of the
/// bytes is a broken model.
std::string WriteIdentityModel(const std::vector<TensorInfo>& inputs);

/// The same as a GraphDef of TensorFlow; the versions come first and the Identity nodes last.
std::string WriteIdentityGraphDef(const std::vector<TensorInfo>& inputs);

std::string OutputName(const std::string& input);

}  // namespace vernier
