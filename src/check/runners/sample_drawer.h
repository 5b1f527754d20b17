// Feeds of chosen sizes for a runner under examination.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "check/runners/probe.h"
#include "vernier/dim_size.h"
#include "vernier/run_plan.h"
#include "vernier/tensor.h"

namespace vernier {

/// A dimension that must have as many elements as another one, or as others together, and `added`
/// more: a mask over cached and new tokens.
struct SizeSum {
  std::string dimension;
  std::vector<std::string> terms;
  int64_t added = 0;
  bool at_least = false;  ///< more are taken, too
};

/// Sizes of dynamic dimensions of inputs.
struct FreeSizes {
  /// The dimension of that name (an empty one: all that have none) has `size`; without it none is
  /// chosen.
  std::optional<std::string> dimension = {};
  int64_t size = 0;
  /// What the others have that would have 1 or less; 0: what they have by default.
  int64_t others = 0;
  /// Further dimensions with a size of their own.
  std::vector<DimSize> also = {};
  /// Dimensions whose sizes follow from those of others, unless they are chosen.
  std::vector<SizeSum> sums = {};
};

/// Has every input the same shape in both?
bool SameShapes(const TensorMap& a, const TensorMap& b);

class SampleDrawer {
 public:
  /// Both must outlive it.
  SampleDrawer(const RunPlan& plan, const Probe::Shared& shared) : plan_(plan), shared_(shared) {}

  /// What the plan draws, loads or has a script make, in the runner's own names and types. Of every
  /// feed, kMalformed as CheckTokens().
  Result<TensorMap> Default(const Probe& probe, Logger& logger) const;

  /// The same with other sizes. `base` is the default, of which switches stay as they are: bools of
  /// one element, which choose between branches that take other sizes. kInvalidArgument where the
  /// shapes are given.
  Result<TensorMap> WithSizes(const Probe& probe, const TensorMap& base, const FreeSizes& sizes,
                              Logger& logger) const;

  /// What the plan draws, loads or has a script make after the default: of the shapes of `like`
  /// where they are not given. kMalformed where that is nothing.
  Result<TensorMap> Another(const Probe& probe, const TensorMap& like, Logger& logger) const;

  /// A feed of each shape that --input-shapes gives in turn; none where they are not given by
  /// shapes.
  Result<std::vector<TensorMap>> OfGivenShapes(const Probe& probe, Logger& logger) const;

  /// kMalformed where ids of a feed are none of the model's vocabulary, unless the plan is lenient:
  /// some runtimes take them without a word.
  Status CheckTokens(const Probe& probe, const TensorMap& feed, Logger& logger) const;

 private:
  Result<TensorMap> Fit(const Probe& probe, const TensorMap& feed, Logger& logger) const;
  /// The same; what was drawn picks rows that there are.
  Result<TensorMap> FitDrawn(const Probe& probe, const TensorMap& feed, Logger& logger) const;
  bool shapes_are_given() const;
  Result<TensorMap> Make(const Probe& probe, const std::vector<TensorInfo>& inputs,
                         Logger& logger) const;

  const RunPlan& plan_;
  const Probe::Shared& shared_;
};

}  // namespace vernier
