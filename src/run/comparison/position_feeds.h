// Which tokens and masks the iterations of a run were fed: what --compare logits judges by, and
// positions that no comparison looks at.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "compare/comparison.h"
#include "compare/fed_positions.h"
#include "run/steps/step_sequence.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// Feeds are noted as they are made, and kept until their iterations were compared.
class PositionFeeds {
 public:
  /// `plan` must outlive it. kInvalidArgument for the name of an input where nothing is fed.
  static Result<PositionFeeds> Create(const RunPlan& plan);

  /// The tokens of a file or a script, in the place of those of an input. kMalformed for what is no
  /// integer for each position.
  Status Give(Tensor tokens);

  /// The feed of an iteration; `steps` (may be null) gave it. One that was noted before changes
  /// nothing. kInvalidArgument for an input that was named and is none, kMalformed for one that
  /// cannot be tokens or a mask.
  Status Note(int64_t iteration, const TensorMap& feed, const StepSequence* steps);

  /// What is known of an iteration, which is this step; `steps`: there are steps at all. Null:
  /// nothing is.
  const FedPositions* For(int64_t iteration, const StepPosition& position, bool steps);
  /// Lets go of an iteration that was compared, and those before it.
  void Forget(int64_t iteration);

  /// kMalformed where tokens or a mask that were asked for fit none of the logits.
  Status CheckFit(const IterationComparison& comparison) const;

 private:
  explicit PositionFeeds(const RunPlan& plan);
  bool MaskIsForElements(const TensorMap& feed) const;
  Result<std::optional<PositionValues>> Take(const std::string& asked, const char* usual,
                                             const TensorMap& feed,
                                             const StepSequence* steps) const;

  const CompareOptions* options_;
  bool for_logits_;                     // --compare logits
  bool for_elements_;                   // other comparisons leave out what a mask excludes
  bool from_elsewhere_ = false;         // tokens are no input's
  std::optional<PositionValues> file_;  // of tokens
  std::map<int64_t, FedPositions> noted_;
  FedPositions current_;
};

}  // namespace vernier
