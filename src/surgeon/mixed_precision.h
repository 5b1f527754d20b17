// A model in float16 in which some nodes stay float32, between casts.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "model/float16/float16_edit.h"
#include "model/onnx/onnx_model.h"
#include "surgeon/editable_model.h"
#include "vernier/status.h"

namespace vernier {

/// A node that computes with float32 and could do so with float16.
struct LowerableNode {
  const OnnxNode* node;    ///< of the model
  const OnnxGraph* graph;  ///< that it is in: the model's, or a body
  size_t owner;            ///< its index in the model's graph; of a node in a body, that around it
};

/// In the order of the file, nodes of bodies before the node that holds them; of that it is what
/// goes into the bodies and comes out of them. Left out are nodes that call functions, and those
/// that ConvertToFloat16 leaves in float32 anyway.
std::vector<LowerableNode> FindLowerable(const OnnxModel& model);

/// Writes model.now() in float16 but for `kept` and what KeepFusedTransposes() adds, with 65504 for
/// weights beyond that, and reads it again: kInternal, naming a node, when it has another type than
/// it was given. `untyped` gets the names of values that no cast could be placed for. Errors of
/// ConvertToFloat16 and of EditableModel::Save.
Status SaveMixed(const EditableModel& model, const Float16Kept& kept, const std::string& path,
                 SaveOnnxOptions options, std::vector<std::string>* untyped = nullptr);

/// Whether in `made`, which is `model` in float16, exactly the nodes of `kept` and those that
/// float16 leaves alone have float32 tensors. Types that are not known are not judged. kInternal.
Status CheckProducedTypes(const OnnxModel& model, const OnnxModel& made, const Float16Kept& kept);

}  // namespace vernier
