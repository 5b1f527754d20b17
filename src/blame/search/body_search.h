// The search within one body: an If's branch that was taken, or the rounds of a Loop or a Scan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "blame/graph/blame_graph.h"
#include "blame/graph/blame_plan.h"
#include "blame/probe/search_subject.h"
#include "blame/sides/reference_probe.h"
#include "vernier/blame_record.h"

namespace vernier {

/// Investigates two models; ExecuteBlame.
using Investigate = std::function<BlameRecord(const BlamePlan& plan)>;

/// One inference of a runner that is opened for it, with these tensors as its only outputs; none:
/// with those of the model.
using InferOnce = std::function<Result<TensorMap>(
    const RunnerPlan& runner, const std::vector<std::string>& outputs, const TensorMap& feed)>;

/// What a search within bodies works with. All of it outlives the search.
struct BodySearchInput {
  const SearchSubject& subject;
  const BlameGraph& reference;  ///< of the reference's own model
  const ReferenceSource& source;
  Investigate investigate;
  InferOnce infer;
};

/// If the search cannot determine the inputs of later rounds, or there are many, it examines
/// these.
inline constexpr size_t kMostSearchedRounds = 8;

/// What was found within a body.
struct BodyFindings {
  std::vector<BlameCulprit> culprits;
  std::vector<BlameCulprit> around;  ///< nodes of the graph around it, whose constants came along
  std::string largest;  ///< "in the body of 'loop' ...", the layer that is worst; empty: none is
};

/// Both sides' bodies of the candidate's `node` as models, fed with what the reference feeds them
/// in this iteration.
Result<BodyFindings> SearchWithin(const BodySearchInput& input, int64_t iteration, uint32_t node);

}  // namespace vernier
