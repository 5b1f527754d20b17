// Which nodes of a float16 model have to stay float32, by delta debugging in the order of evidence.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "surgeon/reduction.h"
#include "vernier/status.h"

namespace vernier {

/// The nodes by number, most suspicious first, one by one and in groups; every node is in one
/// group.
struct PrecisionPlan {
  NodeSet ranked;
  std::vector<NodeSet> groups;  ///< empty: single nodes from the start
};

/// Of models in which these nodes stay float32, the first that passes.
using FirstPassing = std::function<Result<std::optional<size_t>>(std::span<const NodeSet>)>;

/// The nodes that have to stay, in the order of the plan: with them the check passes, without any
/// one of them it does not. Empty when float16 passes everywhere; nullopt when the check fails
/// though all nodes stay. No set is asked about twice. Errors of `first`.
Result<std::optional<NodeSet>> FindKeptNodes(const PrecisionPlan& plan, const FirstPassing& first);

}  // namespace vernier
