// The model on both sides as it is, without probes: whether it runs at all, what its outputs are,
// and how much memory that takes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "blame/probe/unprobed_outputs.h"
#include "blame/sides/memory_plan.h"
#include "blame/sides/search_sides.h"
#include "blame/sides/side_error_bounds.h"
#include "vernier/run_record.h"

namespace vernier {

/// May the sides work at the same time? TensorRT times kernels while it builds, and a limit on the
/// device's memory is one for both.
bool MayOverlap(const BlamePlan& plan, const SearchSides& sides);

/// What became of it.
struct UnprobedRun {
  /// Sessions that are closed. The reference's is null where it is saved.
  std::unique_ptr<RunnerSession> reference;
  std::unique_ptr<RunnerSession> candidate;
  bool quantises_alone = false;  ///< the candidate has quantisers, and the reference none

  std::vector<TensorMap> feeds;  ///< at least one, with the names of both sides
  /// Why fewer iterations are examined than were given; empty: all are.
  std::string shortened;
  /// Which sizes free dimensions have, in a sentence, where the model does not run with 1; or
  /// empty.
  std::string found_sizes;

  std::vector<std::string> saved_names;  ///< of saved outputs, those of the first iteration
  UnprobedOutputs outputs;
  /// Tensors that the candidate makes only when it has to; views into its graph.
  NameSet fused_away;

  HeldMemory held;  ///< by the models and the sessions, and by the workers when they are idle
  uint64_t idle_candidate = 0;  ///< what the candidate's worker takes when it is idle, in bytes

  /// How the sides compute; valid as long as this.
  SideRunners runners() const { return {reference.get(), candidate.get(), quantises_alone}; }

  /// Their descriptions of themselves, the reference first.
  std::vector<RunnerRecord> Describe() const;
};

/// Errors of opening and running, with the runner's name; those of the inputs; kCancelled.
Result<UnprobedRun> RunUnprobed(const BlamePlan& plan, const SearchModels& models,
                                SearchSides& sides, const SearchContext& context);

}  // namespace vernier
