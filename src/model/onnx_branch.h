// The body of an If as a model of its own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/byte_pieces.h"
#include "model/onnx_islands.h"
#include "model/onnx_model.h"
#include "vernier/status.h"

namespace vernier {

struct BranchModel {
  BytePieces bytes;
  std::vector<std::string> inputs;  ///< what the body reads from the graph around it
};

/// `branch` is "then_branch" or "else_branch" of a node of the main graph. What the body captures
/// becomes inputs, apart from initializers, which come along; `lookup` tells their types and
/// shapes. kNotFound when the node has no such body or the body hands on a tensor that it does not
/// make; kUnimplemented as ModelComposer::Finish. `model` must outlive the result.
Result<BranchModel> CutBranch(const OnnxModel& model, uint32_t node, std::string_view branch,
                              const TensorLookup& lookup);

}  // namespace vernier
