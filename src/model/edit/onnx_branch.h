// The body of an If, a Loop or a Scan as a model of its own.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/edit/onnx_islands.h"
#include "model/onnx/byte_pieces.h"
#include "model/onnx/onnx_model.h"
#include "vernier/status.h"

namespace vernier {

struct BranchModel {
  BytePieces bytes;
  std::vector<std::string> inputs;  ///< what the body reads
};

/// `branch` is "then_branch", "else_branch" or "body" of a node of the main graph. Its own inputs
/// that it reads, and what it captures, become inputs, apart from initializers, which come along,
/// and from what `constants` make, nodes of the main graph that come along in this order and need
/// no input; `lookup` gives their types and shapes. Outputs that it hands on without making them
/// are left out. kNotFound when the node has no such body or nothing is left; kUnimplemented as
/// ModelComposer::Finish. `model` must outlive the result.
Result<BranchModel> CutBranch(const OnnxModel& model, uint32_t node, std::string_view branch,
                              std::span<const uint32_t> constants, const TensorLookup& lookup);

}  // namespace vernier
