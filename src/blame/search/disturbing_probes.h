// Finds the smallest set of probes that makes the outputs pass or fail.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "blame/graph/blame_graph.h"
#include "vernier/blame_record.h"
#include "vernier/status.h"

namespace vernier {

/// The error of the model's outputs, in multiples of their bounds, with these tensors exposed;
/// infinite when the model cannot be run with them. kCancelled.
using ProbeTrial = std::function<Result<double>(const std::vector<std::string>& probes)>;

/// Searches the smallest set of `probes` (in topological order) with which the outputs pass
/// although they fail without, or the other way round, as `record` says they do with all of them.
/// Fills effect, probes, region and finding; probes and region stay empty where no small set has
/// the effect. Few trials: their number grows with the logarithm of the number of probes.
/// kCancelled.
Status SearchDisturbance(const BlameGraph& graph, const std::vector<std::string>& probes,
                         const ProbeTrial& trial, DisturbanceRecord& record);

/// The sentence for outputs that moved without passing or failing by it; also of those that did not
/// move.
void DescribeMovement(DisturbanceRecord& record);

}  // namespace vernier
