// Elements that a runner never wrote.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "vernier/tensor.h"

namespace vernier {

/// What the memory of outputs held before one inference, and the outputs afterwards.
struct PoisonedRun {
  uint8_t fill = 0;
  const TensorMap& outputs;
};

/// "output 'y' at (1, 2): 3 of 6 elements still hold what was there before" of the first output
/// with such elements: those that hold their run's filling in both runs, whose fillings differ.
/// nullopt when everything was written. Strings are not looked at.
std::optional<std::string> FindUnwritten(const PoisonedRun& a, const PoisonedRun& b);

}  // namespace vernier
