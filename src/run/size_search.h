// Sizes for dimensions that a model leaves free, where it does not run with those of size 1.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "inputs/dim_sizes.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// Does the plan draw inputs with sizes that nobody gave? `inputs` are those that they are drawn
/// for. Never in lenient mode, nor after sizes were found.
bool SizesAreGuessed(const RunPlan& plan, std::span<const TensorInfo> inputs);

/// Sizes that are worth a trial, small ones first: all dimensions but the leading ones, which are
/// batches as a rule, at one size; then one of them alone, the others 1; then all of them.
std::vector<std::vector<DimSize>> SizeCandidates(const OpenDimensions& open);

struct SizeTrial {
  /// The first feed of a plan; its log is of no interest.
  std::function<Result<TensorMap>(const RunPlan& sized)> draw;
  /// One inference: AllHaveElements() of its outputs. Whatever fails but kCancelled and
  /// kUnavailable lets the search go on; kUnavailable: the runner is gone, and nothing more can be
  /// tried.
  std::function<Result<bool>(const TensorMap& feed)> infer;
};

/// Whether there is something to compare in each of these. True where there are none.
bool AllHaveElements(const TensorMap& outputs);

struct FoundSizes {
  std::vector<DimSize> dims;  ///< for InputPlan::found_dims; empty: none were found
  TensorMap feed;             ///< the first one with them
  std::string note;           ///< one sentence for log and record; empty where none were found
  int64_t tried = 0;
};

/// The first candidate that the model runs with and makes no empty output. Where outputs are empty,
/// a few larger sizes of the same dimensions are tried; if they do not help, outputs are empty by
/// nature, and the first that ran is taken. Ends after half a minute, so that a model that
/// fails for another reason does not take long to say so. kCancelled.
Result<FoundSizes> FindSizes(const RunPlan& plan, std::span<const TensorInfo> inputs,
                             const SizeTrial& trial);

/// "x (1, 48), y (2,)"
std::string DescribeSizes(const TensorMap& feed);

}  // namespace vernier
