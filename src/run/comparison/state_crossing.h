// Whether the history explains the result of a runner at a step: the reference infers the step once
// more, with the candidate's state (--state cross).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "run/live/live_runs.h"
#include "run/maps/pair_matching.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

class StateCrossing {
 public:
  /// It must outlive this, and its runs have steps.
  explicit StateCrossing(LiveRuns& live) : live_(live) {}

  /// The outputs of stream `first` for the feed of this iteration with the state of `second`, whose
  /// outputs are the two of `sides`. nullopt where either is no runner that is still there, and
  /// where the state of the iteration is gone. kInvalidArgument for a state of the first that no
  /// state of the second is compared with; other errors as InferAside().
  Result<std::optional<TensorMap>> Infer(size_t first, size_t second, const MatchedSides& sides,
                                         int64_t iteration);

 private:
  LiveRuns& live_;
};

}  // namespace vernier
