// Values moved by one rounding step: what a faultless runtime could have made of them.
#pragma once

#include <cstdint>
#include <optional>

#include "model/ranges/input_steps.h"
#include "vernier/dtype.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// How values are moved.
struct Nudge {
  uint64_t draw = 0;
  /// Of the type by whose steps they are moved, where it is shorter than their own; else a
  /// neighbour is a step away.
  double roundoff = 0;
};

/// float16, bfloat16, float32 and float64.
bool CanNudge(DType dtype);

/// The floats moved one step up or down, at random but always the same for a draw. Zeros,
/// infinities and NaN stay, as do elements of types that CanNudge refuses. kInternal when memory
/// cannot be allocated. What a model makes steps of stands for no rounding: with kAlone all stay,
/// with kSome those that lie on a multiple of 1/2, or would come to one or beyond it.
Result<Tensor> NudgeFloats(const Tensor& tensor, Nudge nudge = {},
                           InputSteps steps = InputSteps::kNone);

/// All tensors of a feed moved so; as they are without a nudge.
Result<TensorMap> NudgedFeed(TensorMap feed, std::optional<Nudge> nudge,
                             const SteppedInputs& steps = {});

/// Of the coarsest of the tensors that a nudge moves. 0 when there is none: they are of other
/// types, all 0, or exact for the model's steps.
double CoarsestRoundoff(const TensorMap& tensors, const SteppedInputs& steps = {});

}  // namespace vernier
