// A new node between tensors that a model has.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/onnx/onnx_model.h"
#include "util/text/cast_grammar.h"
#include "vernier/status.h"

namespace vernier {

struct NewNode {
  std::string op, name;
  std::vector<std::string> inputs, outputs;  ///< tensors of the main graph
  /// Integers, floats, text, or lists of one of these.
  std::vector<KeyedValue> attributes;
};

/// The model with the node, which makes its outputs in the place of the nodes that made them;
/// what is no longer needed is gone. Where an output is an input too, the node reads the tensor
/// and all who read it before read what the node makes: a new tensor NAME + kInsertedSuffix, or,
/// of a graph output, NAME itself, and then what the node reads has the suffix. As in Polygraphy.
/// kNotFound for a tensor that the model does not have; kInvalidArgument for an attribute that is
/// none and where an input of the model would have to be another tensor; kMalformed when the node
/// would wait for itself.
Result<OnnxModel> WithNode(const OnnxModel& model, const NewNode& node);

inline constexpr std::string_view kInsertedSuffix = "_polygraphy_surgeon_insert_output";

}  // namespace vernier
