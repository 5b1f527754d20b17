// How many bytes the tensors of a graph take, before anything has run.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>

#include "blame/graph/blame_graph.h"
#include "model/shapes/onnx_shapes.h"

namespace vernier {

class TensorSizes {
 public:
  /// With inputs of these sizes. Where no rule says what a node makes of them, its declaration does
  /// if it names dimensions of the inputs. `graph` must outlive it.
  TensorSizes(const BlameGraph& graph, std::span<const InputDims> feed);

  /// Of a tensor whose shape does not follow from the inputs: as the largest one that does and that
  /// is computed from them, not from constants alone.
  uint64_t Of(std::string_view name) const;

 private:
  ShapeTracker shapes_;
  std::unordered_map<std::string_view, uint64_t> known_;
  uint64_t largest_ = 0;
};

}  // namespace vernier
