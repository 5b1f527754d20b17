// Finds the nodes of a float16 model that have to stay float32, in the order of evidence.
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
  NodeSet likely;               ///< what evidence alone would keep, in the order of `ranked`
  /// Part of `likely` that is tried before it: the others may go with these. Empty: no such part.
  NodeSet fewer;
  /// Evidence leaves no doubt that float16 everywhere fails, which is not tried first then.
  bool certain = false;
  size_t width = 1;        ///< number of models that are worth checking at once
  size_t most_checks = 0;  ///< 0: as many as it takes
};

struct KeptNodes {
  NodeSet nodes;  ///< in the order of the plan
  /// Without any one of them the check does not pass; else the checks were spent before that was
  /// known of all, and these are the fewest with which it passed.
  bool minimal = true;
};

/// The nodes that have to stay: with them the check passes. Empty when float16 passes everywhere;
/// nullopt when the check fails though all nodes stay. Of models in which these nodes stay, `first`
/// returns the first that passes; it gets none twice. Where `likely` is right, that takes
/// as many checks as there are nodes to be found, and two (one where it is certain; one node: two
/// in all); one more where `fewer` is not. Else, with m nodes each within the first r, about
/// 2 m log(r) and m more. Errors of `first`; kNotFound where `most_checks` do not show whether the
/// check can pass at all.
Result<std::optional<KeptNodes>> FindKeptNodes(const PrecisionPlan& plan, const FirstOfSets& first);

}  // namespace vernier
