// Which nodes of a float16 model have to stay float32, found in the order of evidence.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "surgeon/asked_sets.h"
#include "vernier/status.h"

namespace vernier {

/// The nodes by number, most suspicious first, one by one and in groups; every node is in one
/// group.
struct PrecisionPlan {
  NodeSet ranked;
  std::vector<NodeSet> groups;  ///< empty: single nodes from the start
  size_t width = 1;             ///< so many models are worth checking at once
};

/// The nodes that have to stay, in the order of the plan: with them the check passes, without any
/// one of them it does not. Empty when float16 passes everywhere; nullopt when the check fails
/// though all nodes stay. Of models in which these nodes stay, `first` tells the first that passes;
/// it is asked about none twice: with m nodes to be found, each within the first r, about
/// 2 m log(r) times and m times more. Errors of `first`.
Result<std::optional<NodeSet>> FindKeptNodes(const PrecisionPlan& plan, const FirstOfSets& first);

}  // namespace vernier
