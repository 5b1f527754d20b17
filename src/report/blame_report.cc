#include "report/blame_report.h"

#include <algorithm>
#include <cmath>

#include "record/blame_record.h"

namespace vernier {
namespace {

SideRecord SideOf(const BlameTensorRecord& tensor, const MagnitudeRecord& values) {
  SideRecord side;
  side.dtype = tensor.dtype;
  side.min = values.min;
  side.max = values.max;
  side.nan_count = values.nan_count;
  side.infinite_count = values.infinite_count;
  return side;
}

// What is somewhat over its bar is no failure where the search has found nobody to blame: reports
// must not say otherwise than the verdict.
std::string VerdictOn(double error, const BlameRecord& blame) {
  const bool nobody = blame.culprits.empty() && blame.error.empty();
  return error <= 1 || (nobody && std::isfinite(error)) ? "passed" : "failed";
}

OutputRecord OutputOf(const BlameTensorRecord& tensor, int64_t iteration,
                      const BlameRecord& blame) {
  const std::string verdict = VerdictOn(tensor.total_error, blame);
  OutputRecord output = tensor.compared ? *tensor.compared : OutputRecord();
  output.name = tensor.name;
  output.other_name = tensor.name_in_candidate();
  output.paired_by = "exact";
  output.compared = 1;
  output.not_verified = 0;
  output.passed = verdict == "passed" ? 1 : 0;
  output.tolerances_checked = true;
  output.worst_times_tolerance = tensor.total_error;
  output.elements = std::max(tensor.reference.elements, tensor.candidate.elements);
  output.figures.iteration = iteration;
  output.figures.shape = tensor.shape;
  // What the bar of the own error is for says nothing of the other.
  const std::string total_why = output.bar         ? output.bar->why
                                : tensor.own_error ? std::string()
                                                   : tensor.bar_why;
  output.figures.gates = {{"total error", verdict, total_why, tensor.total_error, 1.0}};
  if (tensor.own_error) {
    output.figures.gates.push_back(
        {"own error", VerdictOn(*tensor.own_error, blame), tensor.bar_why, *tensor.own_error, 1.0});
  }
  if (tensor.compared) return output;
  output.figures.first = SideOf(tensor, tensor.reference);
  output.figures.second = SideOf(tensor, tensor.candidate);
  return output;
}

GraphRecord GraphOf(const BlameRecord& blame) {
  GraphRecord graph;
  graph.model = blame.model;
  for (const BlameLayerRecord& layer : blame.layers) {
    NodeRecord node{layer.node, layer.op_type, layer.inputs, {}};
    for (const BlameTensorRecord& tensor : layer.outputs) {
      node.outputs.push_back(tensor.name_in_candidate());
    }
    graph.nodes.push_back(std::move(node));
  }
  return graph;
}

}  // namespace

RunRecord WithLayers(RunRecord record) {
  const BlameRecord& blame = *record.blame;
  if (!record.graph) record.graph = GraphOf(blame);
  PairRecord pair;
  pair.first = blame.reference;
  pair.second = blame.candidate;
  pair.by_layer = true;
  pair.compared_iterations = pair.expected_iterations = std::max<int64_t>(blame.iterations, 1);
  for (const BlameLayerRecord& layer : blame.layers) {
    for (const BlameTensorRecord& tensor : layer.outputs) {
      pair.outputs.push_back(OutputOf(tensor, layer.iteration, blame));
    }
  }
  record.pairs.push_back(std::move(pair));
  return record;
}

}  // namespace vernier
