// Which values of an input make sense: what its elements are used for in the graph.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/onnx_model.h"
#include "model/onnx_shapes.h"

namespace vernier {

/// The values that an input may have.
struct InputRange {
  std::string input;
  int64_t low = 0, high = 0;  ///< both included
  std::string reason;         ///< "indices of Gather 'emb' into 'w' of size 1000"
};

/// An input that no range makes legal.
struct UnrangedInput {
  std::string input;
  std::string reason;
};

struct GraphRanges {
  std::vector<InputRange> ranges;
  std::vector<UnrangedInput> unranged;
};

/// Follows the integer and float inputs of a model through what keeps their values (Cast, Reshape,
/// Unsqueeze, adding a constant, bodies, ...) to where values have a meaning: indices, positions,
/// lengths, masks, sizes, divisors. Several uses narrow a range; uses that exclude each other leave
/// the input unranged. Float inputs count only where they become integers first. `sizes` are those
/// of the inputs as they will be fed; a size that is not known allows index 0 alone.
GraphRanges FindInputRanges(const OnnxModel& model, std::span<const InputDims> sizes);

}  // namespace vernier
