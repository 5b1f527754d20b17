// `logits`: the distributions over classes that two outputs stand for.
#pragma once

#include <string>
#include <string_view>

#include "vernier/tensor.h"

namespace vernier {

class PairMeasurement;
struct CompareOptions;
struct FunctionResult;

/// Why `logits` leaves an output out, as what `a` is: "int64", "a scalar", "not named". Empty: it
/// is for it, as it is for every output that the options name, and where either side could be
/// logits.
std::string WhyNotLogits(std::string_view name, const Tensor& a, const Tensor& b,
                         const CompareOptions& options);

/// Judges a pair whose shapes are aligned, A as the reference: by the mean KL divergence and the
/// share of equal top-1, each against its threshold. NaN, +inf, and -inf on one side alone never
/// pass. kNotVerified with the reason where the outputs hold no logits: other types, no axis of two
/// classes or more, results of a softmax, everything masked.
FunctionResult JudgeLogits(PairMeasurement& pair);

/// FunctionResult::why of two outputs of a softmax.
inline constexpr std::string_view kProbabilities =
    "these are probabilities, not logits: every row sums to 1";

}  // namespace vernier
