// The tokens that logits choose.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// In the place of a token where a row of logits holds NaN.
inline constexpr int64_t kNoChoice = -1;

/// The class with the largest value at the last position of each row of the batch, the first of
/// equal ones; kNoChoice where one of that position's values is NaN. `logits` are [batch, sequence,
/// vocabulary], or [batch, vocabulary] where there is one position. kMalformed, with type and
/// shape, for anything else, and where there is no position or no class.
Result<std::vector<int64_t>> GreedyTokens(const Tensor& logits);

/// The value of a class at the last position of a row of such logits; NaN where there is no such
/// class.
double LogitOf(const Tensor& logits, size_t row, int64_t token);

/// A token for each row as an input: [batch, 1], or [1] where `rank` is 1. kMalformed where the
/// type cannot hold a token; kInternal when memory cannot be had.
Result<Tensor> TokensAsInput(const std::vector<int64_t>& tokens, DType dtype, size_t rank);

/// Whether an input has a value for each token of a prompt of these dimensions: it ends in them, or
/// is as long as one prompt ([sequence] beside [batch, sequence]). Not where the prompt has one
/// token: such inputs are as the next steps need them.
bool IsPerToken(const Dims& dims, const Dims& prompt);

}  // namespace vernier
