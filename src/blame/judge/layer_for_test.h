// A layer of a record, for the tests of this folder.
#pragma once

#include <optional>
#include <string>

#include "vernier/blame_record.h"

namespace vernier {

/// With one output, NAME_out, that has the layer's errors and bounds of 1e-6.
inline BlameLayerRecord LayerForTest(const std::string& name, const std::string& input,
                                     double total, std::optional<double> own) {
  BlameLayerRecord layer;
  layer.node = name;
  layer.op_type = "MatMul";
  layer.inputs = {input};
  layer.total_error = total;
  layer.own_error = own;
  BlameTensorRecord tensor;
  tensor.name = name + "_out";
  tensor.total_error = total;
  tensor.own_error = own;
  tensor.total_bound = tensor.own_bound = 1e-6;
  layer.outputs.push_back(tensor);
  return layer;
}

}  // namespace vernier
