// Which nodes of a model are likely to need float32: their effect on values in float16.
#pragma once

#include <atomic>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "surgeon/asked_sets.h"
#include "surgeon/editable_model.h"
#include "surgeon/mixed_precision.h"
#include "util/log/log.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

/// What speaks against float16 for a node.
struct PrecisionEvidence {
  /// The error that the node adds to the largest of its inputs, relative to the largest magnitude
  /// of its output; infinite where it makes infinities or NaN of finite values. Of a difference of
  /// large numbers at least what their rounding comes to. 0 when not measured.
  double error = 0;
  double inherited = 0;  ///< the error that its inputs have already
  size_t rule = 0;       ///< how often operators like this need float32: 0 is the most often
  /// Reads or makes values that float16 does not have: all too small, or some too large.
  bool beyond = false;
  bool overflows = false;  ///< some are too large: infinite there, where small ones become 0
  /// Subtracts large numbers from each other: the rounding of its inputs remains.
  bool cancels = false;

  bool impossible() const { return beyond || std::isinf(error); }
};

/// What these alone would keep: the nodes whose values float16 does not have, and those that add
/// most of the error, with what made their inputs if they cancel. In the order of `ranked`; empty
/// if there is no evidence.
NodeSet LikelyNodes(std::span<const PrecisionEvidence> evidence,
                    std::span<const LowerableNode> nodes, const NodeSet& ranked);

/// All must outlive the call.
struct EvidenceSetting {
  std::span<const LowerableNode> nodes;
  const std::atomic<int>& interrupted;
  Logger& log;
};

/// For each of the nodes of `model`. It, and the float16 one, which is the file `half`, are run
/// once with the inputs and the one runner of `inference`; where that cannot be, operators alone
/// decide, and that is reported. Without `inference` operators alone decide. Nodes in bodies have
/// the errors of the node around them. kCancelled.
Result<std::vector<PrecisionEvidence>> GatherEvidence(const std::optional<RunPlan>& inference,
                                                      const EditableModel& model,
                                                      const std::string& half,
                                                      const EvidenceSetting& setting);

}  // namespace vernier
