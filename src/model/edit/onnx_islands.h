// Many small parts of a graph in one model, each with inputs of its own: what a runtime computes
// for single nodes from given tensors, in one compile and one inference.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/onnx/byte_pieces.h"
#include "model/onnx/onnx_model.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// Nodes of the main graph that are run as one, in topological order, and the tensors of theirs
/// that are wanted.
struct Island {
  std::vector<uint32_t> nodes;
  std::vector<std::string_view> outputs;
};

struct IslandsModel {
  BytePieces bytes;
  /// What is fed: tensors of the graph that the islands read, by their names there. Several islands
  /// may read the same.
  std::vector<std::string> inputs;
  /// Names of the wanted tensors in this model, island by island.
  std::vector<std::vector<std::string>> outputs;
  /// What the nodes make, by its name in this model: its name in the graph.
  std::unordered_map<std::string, std::string> made;
};

/// Gives dtype and shape of a tensor as it will be fed; undefined where nothing is known.
using TensorLookup = std::function<TensorInfo(std::string_view)>;

/// The same without sizes: of every shape only the number of dimensions is left.
TensorLookup WithFreeSizes(TensorLookup lookup);

/// Outputs are renamed, so that what one island makes can be fed to another. A node may be in
/// several islands. kUnimplemented as ModelComposer::Finish. `model` must outlive the result.
Result<IslandsModel> BuildIslands(const OnnxModel& model, std::span<const Island> islands,
                                  const TensorLookup& lookup);

}  // namespace vernier
