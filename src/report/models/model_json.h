// Models and saved tensors as JSON, for programs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "io/json/json_writer.h"
#include "model/onnx/onnx_model.h"
#include "vernier/tensor.h"

namespace vernier {

/// The structure of a model as one JSON object: model, ir_version, opsets, graph with name, inputs,
/// outputs, initializers and nodes (name, op, inputs, outputs; the bodies of control flow in
/// graphs). A size that is open is its symbol or null, a shape that is not known null. With
/// `attributes` nodes have them too, tensors as their type and shape. `unbounded`: names of tensors
/// whose sizes nothing bounds; nullptr leaves the field out.
std::string FormatModelJson(const OnnxModel& model, bool attributes,
                            const std::vector<std::string_view>* unbounded);

/// One iteration's tensors with their statistics, as an array of objects. What is not finite is the
/// string "nan", "inf" or "-inf".
void WriteTensorsJson(const TensorMap& tensors, JsonWriter& writer);

}  // namespace vernier
