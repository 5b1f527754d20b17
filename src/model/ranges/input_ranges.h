// Which values of an input make sense: what its elements are used for in the graph.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/onnx/onnx_model.h"
#include "model/shapes/onnx_shapes.h"

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

/// An input for which no range is derived though it reaches a place where not every value is legal,
/// or what cannot be looked into.
struct LostInput {
  std::string input;
  std::string how;  ///< "reaches indices into 'w' of size 9 of Gather 'emb' through Pow 'square'"
};

struct GraphRanges {
  std::vector<InputRange> ranges;
  std::vector<UnrangedInput> unranged;
  std::vector<LostInput> lost;  ///< at most one an input, which may have a range as well
};

/// Follows the integer and float inputs of a model through what keeps their values (Cast, Reshape,
/// Unsqueeze, bodies, functions, ...) or changes them in a known way (arithmetic with a constant,
/// Clip, Abs) to where values have a meaning: indices, positions, lengths, masks, sizes, divisors.
/// Several uses narrow a range, but masks do so only where there is nothing else; uses that exclude
/// each other leave the input unranged. Behind other arithmetic nothing is derived, which is
/// reported where it leads to indices, positions, lengths or sizes. Float inputs count only where
/// they become integers first. `sizes` are those of the inputs as they will be fed; a size that is
/// not known allows index 0 alone.
GraphRanges FindInputRanges(const OnnxModel& model, std::span<const InputDims> sizes);

}  // namespace vernier
