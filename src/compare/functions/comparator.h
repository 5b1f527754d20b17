// Compares the outputs of two runners.
#pragma once

#include "compare/functions/comparison.h"

namespace vernier {

struct CompareOptions;

/// One pair of outputs under all functions of the options, `logits` too if it is not for it. Never
/// fails as a call; what cannot be compared has verdict kFailed.
OutputComparison CompareOutputs(const NamedTensor& a, const NamedTensor& b,
                                const CompareOptions& options, const ComparisonDetail& detail = {});

/// One iteration of a pair of runners. With fail_fast each function stops at its first failing
/// output; outputs that no function has seen are absent, as
/// are those that only `logits` could see, and that it is not for. `rule` must be kLenient exactly
/// when the options are lenient.
IterationComparison CompareIteration(const IterationResult& a, const IterationResult& b,
                                     const CompareOptions& options, const ComparisonDetail& detail,
                                     PairingRule rule = PairingRule::kOneToOne);
/// The same with pairs that are decided already.
IterationComparison CompareIteration(const IterationResult& a, const IterationResult& b,
                                     const CompareOptions& options, const ComparisonDetail& detail,
                                     Pairing pairing);

/// Fills `statistics` of an iteration whose comparisons are there; `b` is the second side.
void AddOutputStatistics(IterationComparison& iteration, const IterationResult& b,
                         const CompareOptions& options, const ComparisonDetail& detail);

/// The statistics and, if asked for, the histogram of one output over a given range (or over its
/// own when `range` is empty).
OutputStatistics DescribeOutput(std::string name, const Tensor& tensor, bool with_histogram,
                                const std::optional<HistogramRange>& range = std::nullopt);

}  // namespace vernier
