// What a word of --step-slice takes of inputs. Internal to steps.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "run/steps/step_words.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

bool IsSliceOf(const SliceWord& slice, const std::string& runner);

/// Sets size and hop where the words leave them to what the runner declares, if it does.
void CompleteSlice(const std::string& runner, std::span<const TensorInfo> inputs, SliceWord& slice);

/// "'x' has the shape (1, 4), and no axis 5".
std::string NoSuchAxis(const SliceWord& slice, const std::string& shape);

/// The error about an input of a sequence that does not hold one step.
Status TooShort(const SliceWord& slice, const Tensor& whole, int64_t sequence);

}  // namespace vernier
