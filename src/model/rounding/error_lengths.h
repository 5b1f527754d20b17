// How many terms the sums of a node have.
#pragma once

#include <cstdint>

#include "model/onnx/onnx_model.h"
#include "model/rounding/error_rules.h"
#include "model/shapes/onnx_shapes.h"

namespace vernier {

/// Where the length is not known.
inline constexpr int64_t kUnknownLength = 1024;

class SumLengths {
 public:
  /// Both must outlive the object.
  SumLengths(const OnnxModel& model, const ShapeTracker& shapes) : model_(model), shapes_(shapes) {}

  /// Terms of the longest sum that a node of that kind makes one element from; never less than 1,
  /// which it is where nothing is summed.
  int64_t Of(const OnnxGraph& graph, const OnnxNode& node, ErrorKind kind) const;

 private:
  struct Place {
    const OnnxGraph& graph;
    const OnnxNode& node;
  };
  int64_t LengthOf(const Place& step, ErrorKind kind) const;
  int64_t MatrixLength(const Place& step) const;
  int64_t GemmLength(const Place& step, const Dims* a, const Dims* b) const;
  int64_t ReducedLength(const Place& step) const;
  int64_t NormLength(const Place& step) const;
  int64_t PoolLength(const Place& step) const;
  int64_t FrameLength(const Place& step) const;

  const OnnxModel& model_;
  const ShapeTracker& shapes_;
};

}  // namespace vernier
