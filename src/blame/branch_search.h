// A culprit that is an If: the search goes on within the branch that was taken.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "blame/blame_graph.h"
#include "blame/blame_plan.h"
#include "blame/reference_probe.h"
#include "record/blame_record.h"
#include "util/log.h"

namespace vernier {

/// Investigates two models; ExecuteBlame.
using Investigate = std::function<BlameRecord(const BlamePlan& plan)>;

struct BranchScene {
  const BlamePlan* plan = nullptr;
  const BlameGraph* candidate = nullptr;
  const BlameGraph* reference = nullptr;  ///< of the reference's own model
  ReferenceSource source;
  size_t reference_runner = 0;  ///< places in the plan
  size_t candidate_runner = 0;
  const std::vector<TensorMap>* feeds = nullptr;
  Investigate investigate;
};

/// Both sides' branch as models, fed with what the reference feeds it: culprits within are put
/// before the If itself, their `why` says where they are. Does nothing where the branch cannot be
/// followed.
void SearchBranches(const BranchScene& scene, BlameRecord& record);

}  // namespace vernier
