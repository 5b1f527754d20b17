#include "report/blame_report.h"

#include <algorithm>
#include <memory>

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

OutputRecord OutputOf(const BlameTensorRecord& tensor) {
  OutputRecord output;
  output.name = tensor.name;
  output.other_name = tensor.name_in_candidate();
  output.paired_by = "exact";
  output.compared = 1;
  output.passed = tensor.total_error <= 1 ? 1 : 0;  // NaN is no pass
  output.tolerances_checked = true;
  output.worst_times_tolerance = tensor.total_error;
  output.elements = std::max(tensor.reference.elements, tensor.candidate.elements);
  output.figures.shape = tensor.shape;
  output.figures.gates = {
      {"total error", output.passed == 1 ? "passed" : "failed", "", tensor.total_error, 1.0}};
  if (tensor.own_error) {
    const bool own = *tensor.own_error > 1;
    output.figures.gates.push_back(
        {"own error", own ? "failed" : "passed", tensor.bar_why, *tensor.own_error, 1.0});
  }
  output.figures.first = SideOf(tensor, tensor.reference);
  output.figures.second = SideOf(tensor, tensor.candidate);
  return output;
}

}  // namespace

RunRecord MakeBlameReport(BlameRecord blame, OriginRecord origin,
                          std::optional<GraphRecord> graph) {
  RunRecord record;
  record.command = blame.command;
  record.version = blame.version;
  record.origin = std::move(origin);
  record.runners = blame.runners;
  record.error = blame.error;
  record.notes = blame.notes;
  record.exit_code = blame.exit_code;
  record.seconds = blame.seconds;
  record.graph = std::move(graph);
  PairRecord pair;
  pair.first = blame.reference;
  pair.second = blame.candidate;
  pair.compared_iterations = pair.expected_iterations = 1;
  for (const BlameLayerRecord& layer : blame.layers) {
    for (const BlameTensorRecord& tensor : layer.outputs) pair.outputs.push_back(OutputOf(tensor));
  }
  record.pairs.push_back(std::move(pair));
  record.blame = std::make_shared<const BlameRecord>(std::move(blame));
  return record;
}

}  // namespace vernier
