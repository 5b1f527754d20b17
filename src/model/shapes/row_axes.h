// Whether the rows of a batch stay apart on their way through a model.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/onnx/onnx_model.h"

namespace vernier {

/// A value whose rows were made of several rows of the inputs.
struct MeetingRows {
  std::string name;
  std::string why;  ///< "node 'a' (LSTM) goes along the rows"
};

/// Follows the first dimension of these inputs from node to node, also into bodies and functions:
/// where a recurrence, a reduction, a window, a normalisation, a product or attention goes along
/// it, rows meet. Those of `names` that hold such values; the others stay apart, or no rule says.
std::vector<MeetingRows> FindMeetingRows(const OnnxModel& model,
                                         std::span<const std::string> inputs,
                                         std::span<const std::string> names);

}  // namespace vernier
