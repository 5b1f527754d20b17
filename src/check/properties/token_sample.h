// Inputs of a model with caches, from which its outputs for each token can be derived.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "check/properties/properties.h"
#include "run/steps/state_pairs.h"

namespace vernier {

/// Of tokens in inputs and outputs: (batch, tokens, ...).
constexpr size_t kTokenAxis = 1;

/// Shapes that the model does not declare may be anything.
bool IsFreeAxis(const TensorInfo* info, size_t axis);

bool NameHas(const std::string& name, std::string_view word);

/// The axis along which the output is longer than the input; none where both are the same.
/// kInvalidArgument where they differ otherwise.
Result<std::optional<size_t>> GrowingAxis(const StatePair& pair, const Dims& in, const Dims& out);

/// Do the sizes of the output fit those that the input declares only in another order of the axes,
/// one that is not declared growing at most?
bool IsTransposed(const TensorInfo* input, const Dims& in, const Dims& out);

/// `values` as a tensor of these dims and that type, repeated along all but the last axis.
Result<Tensor> RepeatAlongLast(const std::vector<int64_t>& values, Dims dims, DType dtype);

/// The subject's first sample, with masks that have a column for each token, those of the past
/// included: sizes that were guessed need not fit together, and some runtimes broadcast a mask of
/// another length, which makes outputs of any shape. The first sample as it is where the states do
/// not grow so.
Sample SampleThatFits(const Subject& subject, std::span<const StatePair> pairs);

}  // namespace vernier
