// A culprit with a body: the search goes on within an If's branch that was taken, or in the rounds
// of a Loop or a Scan.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "blame/graph/blame_graph.h"
#include "blame/probe/reference_probe.h"
#include "blame/probe/search_subject.h"
#include "blame/search/blame_plan.h"
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

/// If, Loop and Scan.
bool HasBody(std::string_view op);

/// Both sides' bodies as models, fed with what the reference feeds them, of a Loop or a Scan in its
/// first rounds: culprits within are put before the node itself, their `why` says where they are.
/// Where nothing was found there, or a body cannot be followed, the node's own `why` says so.
void SearchBranches(const BodySearchInput& input, BlameRecord& record);

/// Where no layer exceeds its error bound: the bound of a node with bodies is wide, and may hide
/// what a single node within does. The bodies of the first few such nodes that err by themselves
/// are searched; culprits within, and the node around them, become those of `record`. Returns what
/// else was found of them, for a sentence: "; in the body of 'loop' ..."; empty: no body was
/// searched, or one holds a culprit.
std::string SearchBodiesWithinBounds(const BodySearchInput& input, BlameRecord& record);

/// Against a reference without a graph, which `against` calls by name ("saved outputs"): the `why`
/// of culprits with bodies says so. Returns it for a sentence as above, where a layer has a body.
std::string SayThatBodiesAreNotSearched(const std::string& against, BlameRecord& record);

}  // namespace vernier
