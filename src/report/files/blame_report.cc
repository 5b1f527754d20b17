#include "report/files/blame_report.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "vernier/blame_record.h"
#include "vernier/dtype.h"

namespace vernier {
namespace {

// Of integers that a double has not rounded.
std::string WholeDigits(const std::string& dtype, double value) {
  const bool integer = IsIntegral(DTypeFromName(dtype).value_or(DType::kUndefined));
  return integer && std::fabs(value) <= 0x1p53 ? std::to_string(static_cast<int64_t>(value)) : "";
}

SideRecord SideOf(const std::string& dtype, const MagnitudeRecord& values) {
  SideRecord side;
  side.dtype = dtype;
  side.min = values.min;
  side.max = values.max;
  side.min_digits = WholeDigits(side.dtype, side.min);
  side.max_digits = WholeDigits(side.dtype, side.max);
  side.nan_count = values.nan_count;
  side.infinite_count = values.infinite_count;
  return side;
}

// What is somewhat over its bound is no failure where the search has found no layer to blame:
// reports must not say otherwise than the verdict.
std::string VerdictOn(double error, const BlameRecord& blame) {
  const bool no_culprit = blame.culprits.empty() && blame.error.empty();
  return error <= 1 || (no_culprit && std::isfinite(error)) ? "passed" : "failed";
}

OutputRecord OutputOf(const BlameTensorRecord& tensor, int64_t iteration,
                      const BlameRecord& blame) {
  const std::string verdict = VerdictOn(tensor.total_error, blame);
  OutputRecord output = tensor.compared ? *tensor.compared : OutputRecord();
  output.name = tensor.name;
  output.other_name = tensor.name_in_candidate();
  output.paired_by = "exact";
  output.dtype = tensor.reference_dtype.empty() ? tensor.dtype : tensor.reference_dtype;
  output.other_dtype = tensor.dtype;
  output.compared = 1;
  output.not_verified = 0;
  output.passed = verdict == "passed" ? 1 : 0;
  output.tolerances_checked = true;
  output.worst_times_tolerance = tensor.total_error;
  output.elements = std::max(tensor.reference.elements, tensor.candidate.elements);
  output.figures.iteration = iteration;
  output.figures.shape = tensor.shape;
  // What the bound of the own error is for says nothing of the other.
  const std::string total_why = output.bound       ? output.bound->why
                                : tensor.own_error ? std::string()
                                                   : tensor.bound_why;
  output.figures.gates = {{"total error", verdict, total_why, tensor.total_error, 1.0}};
  if (tensor.own_error) {
    output.figures.gates.push_back({"own error", VerdictOn(*tensor.own_error, blame),
                                    tensor.bound_why, *tensor.own_error, 1.0});
  }
  if (tensor.compared) return output;
  output.figures.first = SideOf(output.dtype, tensor.reference);
  output.figures.second = SideOf(output.other_dtype, tensor.candidate);
  return output;
}

// Pairs of base64 digits, two for either side.
std::string MirrorPoints(const std::string& points) {
  std::string mirrored = points;
  for (size_t i = 0; i + 3 < points.size(); i += 4) {
    mirrored.replace(i, 4, points.substr(i + 2, 2) + points.substr(i, 2));
  }
  return mirrored;
}

void SwapSides(OutputRecord& output) {
  std::swap(output.name, output.other_name);
  std::swap(output.dtype, output.other_dtype);
  std::swap(output.figures.first, output.figures.second);
  for (ElementRecord& element : output.figures.worst) {
    std::swap(element.first, element.second);
    std::swap(element.first_text, element.second_text);
    std::swap(element.first_digits, element.second_digits);
  }
  if (!output.figures.charts) return;
  std::swap(output.figures.charts->first, output.figures.charts->second);
  output.figures.charts->points = MirrorPoints(output.figures.charts->points);
}

// The sides stand as they do in the comparison of the outputs, where there is one, and are of the
// same files: the reader sees one pair.
void StandAsOutputsDo(const RunRecord& record, PairRecord& layers) {
  const auto pair_of = [&](const std::string& first, const std::string& second) {
    return std::ranges::find_if(record.pairs, [&](const PairRecord& pair) {
      return pair.first == first && pair.second == second;
    });
  };
  const auto same_way = pair_of(layers.first, layers.second);
  const auto other_way = pair_of(layers.second, layers.first);
  const auto outputs = same_way != record.pairs.end() ? same_way : other_way;
  if (outputs == record.pairs.end()) return;
  layers.first_file = outputs->first_file;
  layers.second_file = outputs->second_file;
  if (outputs == same_way) return;
  std::swap(layers.first, layers.second);
  for (OutputRecord& output : layers.outputs) SwapSides(output);
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
  StandAsOutputsDo(record, pair);
  record.pairs.push_back(std::move(pair));
  return record;
}

}  // namespace vernier
