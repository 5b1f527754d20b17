// Bounds for sizes that depend on data.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/onnx/onnx_model.h"
#include "util/log/log.h"
#include "vernier/status.h"

namespace vernier {

/// An empty tensor name: every tensor that decides a size without a bound.
struct UpperBound {
  std::string tensor;
  int64_t bound = 0;
};

/// Tensors that decide sizes of others and that nothing bounds: computed inputs of Range, Pad,
/// Resize, Tile and Expand where the output's shape is unknown or has a symbol that no input has
/// and no node before it introduced. As Polygraphy finds them, in the order of the nodes.
Result<std::vector<std::string_view>> TensorsWithoutBound(const OnnxModel& model);

/// Puts Min(T, bound) in the place of each tensor T that has a bound. A named tensor that is not in
/// the model is kNotFound; one that needs no bound is a warning.
Result<OnnxModel> WithUpperBounds(const OnnxModel& model, std::span<const UpperBound> bounds,
                                  Logger& logger);

}  // namespace vernier
