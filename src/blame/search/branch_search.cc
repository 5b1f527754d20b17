#include "blame/search/branch_search.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "util/text/number_text.h"
#include "util/values/joined.h"

namespace vernier {
namespace {

// Each takes as long as a model of its own, and without a culprit nothing says which to begin with.
constexpr size_t kMostBodiesWithinBounds = 4;
constexpr size_t kMostNamedNodes = 10;

// Empty: something within is to blame.
std::string WhyNotWithin(const Result<BodyFindings>& inner, std::string_view op) {
  if (!inner.ok()) return "; its body was not searched: " + inner.status().message();
  if (!inner->culprits.empty() || !inner->around.empty()) return {};
  const std::string rounds = " in the first " + std::to_string(kMostSearchedRounds) + " rounds";
  return "; within its body nothing is to blame" + (op == "If" ? std::string() : rounds);
}

// The candidate's nodes with bodies that are to blame by themselves, as part of a group, or as one
// with the nodes that the candidate's runtime fuses them with.
std::vector<uint32_t> NodesWithBodies(const BlameGraph& graph, const BlameLayerRecord& layer) {
  std::vector<uint32_t> nodes;
  for (const uint32_t index : graph.order()) {
    if (!HasBody(graph.graph().nodes[index].op_type)) continue;
    const std::string name = graph.NodeName(index);
    const auto has = [&](const std::vector<std::string>& names) {
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    if (has(layer.group) || has(layer.fused) || name == layer.node) nodes.push_back(index);
  }
  return nodes;
}

// The node that holds culprits, while as a whole it is within its error bound.
BlameCulprit Around(const BlameLayerRecord& layer) {
  BlameCulprit culprit{layer.node,
                       layer.op_type,
                       {},
                       layer.total_error,
                       layer.own_error,
                       "it contains the node above; as a whole it is within its error bound, which"
                       " is wide for a node with a body"};
  for (const BlameTensorRecord& tensor : layer.outputs) culprit.outputs.push_back(tensor.name);
  return culprit;
}

// The search around a body has looked at these nodes, too: each is listed once.
void AddAround(const std::vector<BlameCulprit>& around, const std::vector<BlameCulprit>& known,
               std::vector<BlameCulprit>& all) {
  for (const BlameCulprit& culprit : around) {
    const auto same = [&](const BlameCulprit& other) { return other.node == culprit.node; };
    if (std::ranges::any_of(known, same) || std::ranges::any_of(all, same)) continue;
    all.push_back(culprit);
  }
}

// Culprits within, and the node around them. Returns whether there are any.
bool AddWithin(const BodyFindings& inner, const BlameLayerRecord& layer, BlameRecord& record) {
  AddAround(inner.around, {}, record.culprits);
  if (inner.culprits.empty()) return false;
  record.culprits.insert(record.culprits.end(), inner.culprits.begin(), inner.culprits.end());
  record.culprits.push_back(Around(layer));
  return true;
}

// Makes an error from the reference's tensors, or one whose maker is not known.
bool ErrsByItself(const BlameLayerRecord& layer) {
  return layer.own_error.value_or(layer.total_error) > 0;
}

}  // namespace

bool HasBody(std::string_view op) { return op == "If" || op == "Loop" || op == "Scan"; }

void SearchBranches(const BodySearchInput& input, BlameRecord& record) {
  std::vector<BlameCulprit> all;
  std::map<uint32_t, Result<BodyFindings>> searched;
  for (BlameCulprit& culprit : record.culprits) {
    const auto layer = std::find_if(record.layers.begin(), record.layers.end(),
                                    [&](const auto& one) { return one.node == culprit.node; });
    if (layer != record.layers.end()) {
      for (const uint32_t node : NodesWithBodies(input.subject.graph(), *layer)) {
        // Several layers may be computed as one with it.
        const bool first = !searched.contains(node);
        if (first) searched.emplace(node, SearchWithin(input, layer->iteration, node));
        const Result<BodyFindings>& inner = searched.at(node);
        culprit.why += WhyNotWithin(inner, input.subject.graph().graph().nodes[node].op_type);
        if (!first || !inner.ok()) continue;
        all.insert(all.end(), inner->culprits.begin(), inner->culprits.end());
        AddAround(inner->around, record.culprits, all);
      }
    }
    all.push_back(std::move(culprit));
  }
  record.culprits = std::move(all);
}

std::string SearchBodiesWithinBounds(const BodySearchInput& input, BlameRecord& record) {
  std::string told;
  size_t searched = 0;
  for (const BlameLayerRecord& layer : record.layers) {
    if (!ErrsByItself(layer)) continue;
    for (const uint32_t node : NodesWithBodies(input.subject.graph(), layer)) {
      const std::string name = "'" + input.subject.graph().NodeName(node) + "'";
      if (searched++ == kMostBodiesWithinBounds) {
        return told + "; bodies from " + name + " on were not searched";
      }
      const Result<BodyFindings> inner = SearchWithin(input, layer.iteration, node);
      if (!inner.ok()) {
        told += "; the body of " + name + " was not searched: " + inner.status().message();
      } else if (!AddWithin(*inner, layer, record) && !inner->largest.empty()) {
        told += "; " + inner->largest;
      }
    }
  }
  return record.culprits.empty() ? told : std::string();
}

void SearchBodiesThatAgree(const BodySearchInput& input, BlameRecord& record) {
  const BlameGraph& graph = input.subject.graph();
  std::vector<std::string> left;
  std::set<uint32_t> seen;  // several layers may be computed as one with a node
  size_t searched = 0;
  for (const BlameLayerRecord& layer : record.layers) {
    for (const uint32_t node : NodesWithBodies(graph, layer)) {
      if (!seen.insert(node).second) continue;
      const std::string name = graph.NodeName(node);
      if (graph.graph().nodes[node].op_type != "If" || searched == kMostBodiesWithinBounds) {
        left.push_back(name);
        continue;
      }
      ++searched;
      const Result<BodyFindings> inner = SearchWithin(input, layer.iteration, node);
      if (inner.ok()) {
        AddWithin(*inner, layer, record);
      } else {
        record.notes.push_back("the body of '" + name +
                               "' was not searched: " + inner.status().message());
      }
    }
  }
  if (left.empty()) return;
  record.notes.push_back(
      "bodies that were not searched: " + JoinedUpTo(left, kMostNamedNodes, QuotePython) +
      "; a fault there that changes nothing outside is not seen");
}

std::string SayThatBodiesAreNotSearched(const std::string& against, BlameRecord& record) {
  for (BlameCulprit& culprit : record.culprits) {
    if (HasBody(culprit.op_type)) {
      culprit.why += "; its body is not searched against " + against;
    }
  }
  const bool any = std::any_of(record.layers.begin(), record.layers.end(),
                               [](const auto& layer) { return HasBody(layer.op_type); });
  return any ? "; bodies are not searched against " + against : "";
}

}  // namespace vernier
