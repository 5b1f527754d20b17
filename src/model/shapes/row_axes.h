// Whether the rows of a batch stay apart on their way through a model.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "model/onnx/onnx_model.h"

namespace vernier {

/// A value whose rows were made of several rows of the inputs.
struct MeetingRows {
  std::string name;
  std::string why;        ///< "node 'a' (LSTM) goes along the rows"
  bool by_scale = false;  ///< they share the scale of a dynamic quantisation, and nothing else
  bool picked = false;    ///< an input says which rows to take, as the beams of a search do
};

/// An input with rows of a batch, and along which axis it has them.
struct BatchedInput {
  std::string name;
  size_t axis = 0;
};

/// Follows that dimension of these inputs from node to node, also into bodies and functions:
/// where a recurrence, a reduction, a window, a normalisation, a product or attention goes along
/// it, rows meet. Those of `names` that hold such values; the others stay apart, or no rule says.
std::vector<MeetingRows> FindMeetingRows(const OnnxModel& model,
                                         std::span<const BatchedInput> inputs,
                                         std::span<const std::string> names);

}  // namespace vernier
