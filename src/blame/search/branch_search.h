// A culprit with a body: the search continues within an If's branch that was taken, or in the
// rounds of a Loop or a Scan.
#pragma once

#include <string>
#include <string_view>

#include "blame/search/body_search.h"
#include "vernier/blame_record.h"

namespace vernier {

/// If, Loop and Scan.
bool HasBody(std::string_view op);

/// Both sides' bodies as models, fed with what the reference feeds them, of a Loop or a Scan in its
/// first rounds: culprits within are put before the node itself, their `why` says where they are.
/// Where nothing was found there, or a body cannot be followed, the node's own `why` says so.
void SearchBranches(const BodySearchInput& input, BlameRecord& record);

/// Where no layer exceeds its error bound: the bound of a node with bodies is wide, and may hide
/// what a single node within does. The bodies of the first few such nodes with an error of their
/// own are searched; culprits within, and the node around them, become those of `record`. Returns
/// what else was found of them, for a sentence: "; in the body of 'loop' ..."; empty: no body was
/// searched, or one holds a culprit.
std::string SearchBodiesWithinBounds(const BodySearchInput& input, BlameRecord& record);

/// Where nothing is to blame and no run failed before: the bodies that the first few If nodes ran
/// are searched, as a later node of a body may hide what an earlier one makes. Culprits as above;
/// the record's notes name the nodes whose bodies were not searched.
void SearchBodiesThatAgree(const BodySearchInput& input, BlameRecord& record);

/// Against a reference without a graph, which `against` calls by name ("saved outputs"): the `why`
/// of culprits with bodies says so. Returns it for a sentence as above, where a layer has a body.
std::string SayThatBodiesAreNotSearched(const std::string& against, BlameRecord& record);

}  // namespace vernier
