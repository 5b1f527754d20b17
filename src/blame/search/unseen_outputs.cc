#include "blame/search/unseen_outputs.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "blame/judge/verdicts.h"
#include "model/onnx/initializer_names.h"
#include "run/workers/runner_session.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

struct StoredBy {
  std::string name, what;
};

std::optional<StoredBy> HolderOf(const OnnxGraph& graph, std::string_view name) {
  for (const OnnxNode& node : graph.nodes) {
    const auto outputs = graph.Outputs(node);
    if (node.op_type != "Constant" || outputs.empty() || outputs[0] != name) continue;
    return StoredBy{std::string(node.name.empty() ? name : node.name), "Constant"};
  }
  const bool fed = std::any_of(graph.inputs.begin(), graph.inputs.end(),
                               [&](const OnnxValue& input) { return input.name == name; });
  if (fed || !InitializerNames(graph).contains(name)) return {};
  return StoredBy{std::string(name), "Initializer"};
}

std::string HowFar(double error) {
  return std::isinf(error) ? "infinitely far over its error bound"
                           : FormatG(error, 3) + " times its error bound";
}

enum class NamedBy : uint8_t { kReference, kCandidate };

bool IsLookedAt(const BlameRecord& record, const std::string& name, NamedBy side) {
  // Tensors of another format have the candidate's names in the layers.
  if (side == NamedBy::kReference) {
    for (const BlamePairRecord& pair : record.tensor_pairs) {
      if (pair.reference == name) return IsLookedAt(record, pair.candidate, NamedBy::kCandidate);
    }
  }
  return std::any_of(record.layers.begin(), record.layers.end(), [&](const auto& layer) {
    return std::any_of(layer.outputs.begin(), layer.outputs.end(), [&](const auto& tensor) {
      return name == (side == NamedBy::kReference ? tensor.name : tensor.name_in_candidate());
    });
  });
}

}  // namespace

bool IsStored(const OnnxGraph& graph, std::string_view name) {
  return HolderOf(graph, name).has_value();
}

std::vector<BlameCulprit> DifferingConstants(const SearchModels& models, UnprobedOutputs& outputs) {
  std::vector<BlameCulprit> culprits;
  for (const auto& [name, error] : outputs.Errors()) {
    if (error <= 1) continue;
    const std::optional<StoredBy> holder = HolderOf(models.candidate.graph(), name);
    if (!holder) continue;
    const bool in_both =
        models.AreTwo() && IsStored(models.reference->graph(), outputs.partners().at(name));
    const std::string why =
        "output '" + name + "' is a constant of the " +
        (in_both ? "model, and differs between the models"
                 : "candidate's model, and differs from what the reference returns") +
        ": " + HowFar(error);
    culprits.push_back({holder->name, holder->what, {name}, error, {}, why});
  }
  return culprits;
}

void NoteRetypedOutputs(const UnprobedOutputs& outputs, BlameRecord& record) {
  for (const RetypedOutput& output : outputs.Retyped()) {
    if (IsLookedAt(record, output.name, NamedBy::kCandidate)) continue;
    record.notes.push_back("types differ: output '" + output.name + "' is " +
                           std::string(DTypeName(output.candidate)) + ", and " +
                           std::string(DTypeName(output.reference)) + " in the reference");
  }
}

std::string WhyNotAllOutputs(UnprobedOutputs& outputs, bool all, const BlameRecord& record) {
  for (const auto& [name, error] : outputs.Errors()) {
    const bool looked_at = IsLookedAt(record, name, NamedBy::kCandidate);
    if (error <= 1 || looked_at || ExplainedByRounding(record)) continue;
    return "output '" + name + "' differs: " + HowFar(error) +
           ", and the layer that produces it could not be examined";
  }
  if (!all) return {};
  const Pairing& pairing = outputs.first_pairing();
  for (const std::string& name : pairing.left_only) {
    if (IsLookedAt(record, name, NamedBy::kReference)) continue;
    return "output '" + name + "' was not examined: only the reference has it";
  }
  for (const std::string& name : pairing.right_only) {
    if (IsLookedAt(record, name, NamedBy::kCandidate)) continue;
    return "output '" + name + "' was not examined: only the candidate has it";
  }
  return {};
}

bool OutputsExceedBounds(UnprobedOutputs& outputs, const BlameRecord& record) {
  if (ExplainedByRounding(record)) return false;
  const std::map<std::string, double> errors = outputs.Errors();
  return std::any_of(errors.begin(), errors.end(), [](const auto& one) { return one.second > 1; });
}

std::string WhyNotOnlyTensors(const RunPlan& plan, const UnprobedRun& unprobed) {
  const bool marked = std::ranges::any_of(
      plan.runners, [](const RunnerPlan& runner) { return runner.model.edited(); });
  if (plan.lenient || marked) return {};
  for (const RunnerSession* runner : {unprobed.reference.get(), unprobed.candidate.get()}) {
    if (runner == nullptr || runner->skipped().lost().empty()) continue;
    const SkippedOutput& output = runner->skipped().lost().front();
    return "output '" + output.name + "' was not examined: it is " + output.why;
  }
  return {};
}

std::string WhyNoVerdict(const BlameRecord& record) {
  if (record.compared > 0) return "nothing was compared: no tensor has an element";
  std::string text = "nothing was compared: no tensor could be obtained from both sides";
  if (!record.unexposed.empty()) {
    text +=
        ", for example '" + record.unexposed.front().name + "': " + record.unexposed.front().why;
  }
  return text;
}

}  // namespace vernier
