// From positions in one array to positions in another.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "array.h"

namespace vernier::pluginref {

/// Steps of a dense array in C order; a dimension for which `keep` is false has step 0 and counts
/// as one element.
inline std::vector<size_t> StepsOf(std::span<const int64_t> dims, const std::vector<bool>& keep) {
  std::vector<size_t> steps(dims.size(), 0);
  size_t step = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    if (!keep[i]) continue;
    steps[i] = step;
    step *= static_cast<size_t>(dims[i]);
  }
  return steps;
}

/// Steps that repeat an array of shape `from` all over an array of shape `to`, as ONNX's
/// unidirectional broadcasting. nullopt where it does not fit.
inline std::optional<std::vector<size_t>> BroadcastSteps(std::span<const int64_t> from,
                                                         std::span<const int64_t> to) {
  if (from.size() > to.size()) return std::nullopt;
  std::vector<size_t> steps(to.size(), 0);
  const size_t lead = to.size() - from.size();
  size_t step = 1;
  for (size_t i = from.size(); i-- > 0;) {
    if (from[i] != 1 && from[i] != to[lead + i]) return std::nullopt;
    if (from[i] != 1) steps[lead + i] = step;
    step *= static_cast<size_t>(from[i]);
  }
  return steps;
}

/// Where element `index` of an array of shape `dims` is with other steps.
inline size_t Follow(size_t index, std::span<const int64_t> dims, std::span<const size_t> steps) {
  size_t place = 0;
  for (size_t i = dims.size(); i-- > 0;) {
    const auto size = static_cast<size_t>(dims[i]);
    place += index % size * steps[i];
    index /= size;
  }
  return place;
}

}  // namespace vernier::pluginref
