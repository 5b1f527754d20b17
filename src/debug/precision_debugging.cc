#include "debug/precision_debugging.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>

#include "debug/precision_evidence.h"
#include "debug/precision_trials.h"
#include "debug/reference_run.h"
#include "surgeon/asked_sets.h"
#include "surgeon/mixed_precision.h"
#include "surgeon/precision_search.h"
#include "util/files/scratch_folder.h"
#include "util/text/number_text.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

constexpr std::string_view kSums[] = {"Conv", "ConvTranspose", "Gemm"};
constexpr std::string_view kActivations[] = {"Relu", "Clip"};

template <size_t N>
bool IsOneOf(const std::string_view (&operators)[N], const OnnxNode& node) {
  return std::find(std::begin(operators), std::end(operators), node.op_type) != std::end(operators);
}

bool IsReadOnce(const OnnxGraph& graph, std::string_view tensor) {
  size_t readers = 0;
  for (const OnnxValue& output : graph.outputs) readers += output.name == tensor ? 1 : 0;
  for (const OnnxNode& node : graph.nodes) {
    const auto inputs = graph.Inputs(node);
    readers += static_cast<size_t>(std::count(inputs.begin(), inputs.end(), tensor));
  }
  return readers == 1;
}

// Does this node make the first input of the activation, which alone reads it?
bool Feeds(const LowerableNode& maker, const LowerableNode& activation) {
  if (maker.graph != activation.graph || !IsOneOf(kSums, *maker.node)) return false;
  const auto made = maker.graph->Outputs(*maker.node);
  const auto read = activation.graph->Inputs(*activation.node);
  return !made.empty() && !read.empty() && made[0] == read[0] && IsReadOnce(*maker.graph, made[0]);
}

// These nodes without activations that alone read what another of them makes, and become one layer
// with it: what that layer computes in follows from the other one. Empty where none is of that
// kind. What TensorRT will really fuse is only known of an engine.
NodeSet WithoutFused(const NodeSet& kept, std::span<const LowerableNode> nodes) {
  NodeSet left;
  for (const uint32_t node : kept) {
    const bool fused = IsOneOf(kActivations, *nodes[node].node) &&
                       std::any_of(kept.begin(), kept.end(), [&](uint32_t other) {
                         return Feeds(nodes[other], nodes[node]);
                       });
    if (!fused) left.push_back(node);
  }
  return left.size() < kept.size() ? left : NodeSet();
}

bool IsWorse(const PrecisionEvidence& a, const PrecisionEvidence& b) {
  const auto rank = [](const PrecisionEvidence& e) {
    return std::tuple(!e.impossible(), -e.error, e.rule);
  };
  return rank(a) < rank(b);
}

// What is known of each of the nodes before the search.
struct NodeFindings {
  std::vector<PrecisionEvidence> evidence;
  NodeSet pinned;  // kept whatever the check says, in order
};

class PrecisionDebugging {
 public:
  PrecisionDebugging(const PrecisionDebugPlan& plan, const EditableModel& model,
                     DebugSession& session, Logger& log)
      : plan_(plan),
        model_(model),
        session_(session),
        log_(log),
        nodes_(FindLowerable(model.now())) {}

  Result<Float32Record> Run() {
    if (nodes_.empty()) {
      return NotFound("the model has no node that computes with float32 and could with float16");
    }
    const PrecisionTrials::Setting setting{plan_.model, plan_.higher, plan_.save, plan_.engine,
                                           model_,      nodes_,       session_,   log_};
    VERNIER_ASSIGN_OR_RETURN(const std::unique_ptr<PrecisionTrials> begun,
                             PrecisionTrials::Begin(setting));
    PrecisionTrials& trials = *begun;
    VERNIER_ASSIGN_OR_RETURN(const ReferenceRun reference,
                             ReferenceRun::Make(plan_.model, session_.check(), [&](RunPlan& plan) {
                               return trials.PrepareReference(plan);
                             }));
    VERNIER_ASSIGN_OR_RETURN(std::vector<PrecisionEvidence> evidence, Gather());
    VERNIER_TRY(trials.Await());
    const NodeSet pinned = trials.HidesOverflow() ? Pin(evidence) : NodeSet();
    const NodeFindings findings{std::move(evidence), pinned};
    VERNIER_ASSIGN_OR_RETURN(const std::optional<KeptNodes> kept, Search(findings, trials));
    session_.Finish();
    if (!kept) {
      return NotFound(
          "Could not find a configuration that satisfied accuracy requirements.\nNote: the check "
          "fails even where every node that could be float16 stays float32; try it with the "
          "unchanged model first");
    }
    const KeptNodes found{WithPinned(pinned, kept->nodes), kept->minimal};
    VERNIER_TRY(Report(found, findings.evidence, trials));
    return RecordOf(found, findings.evidence);
  }

 private:
  Result<std::optional<KeptNodes>> Search(const NodeFindings& findings, PrecisionTrials& trials) {
    const PrecisionPlan search = MakePlan(findings, trials.HoldsLayers());
    log_.Start("Looking for the nodes that need float32, among " + Counted(nodes_.size(), "node") +
               " of " + Counted(CountOperators(), "operator"));
    return FindKeptNodes(search, [&](std::span<const NodeSet> sets) {
      std::vector<DebugTrial> tried;
      for (const NodeSet& set : sets) {
        tried.push_back(trials.For(WithPinned(findings.pinned, set)));
      }
      return session_.FirstThat(tried, true);
    });
  }

  // ONNX Runtime computes float16 in float32 on a CPU, and leaves out casts between two nodes: what
  // overflows in float16 need not do so there. Such a check says nothing against the values.
  NodeSet Pin(const std::vector<PrecisionEvidence>& evidence) const {
    NodeSet pinned;
    for (uint32_t node = 0; node < nodes_.size(); ++node) {
      if (evidence[node].overflows) pinned.push_back(node);
    }
    if (pinned.empty()) return pinned;
    log_.Warning(
        "ONNX Runtime computes parts of a float16 model in float32, so it cannot show what"
        " overflows: " +
        Counted(pinned.size(), "node") +
        " with values that float16 does not have stay float32 whatever the check says");
    return pinned;
  }

  static NodeSet WithPinned(const NodeSet& pinned, const NodeSet& nodes) {
    NodeSet all = pinned;
    all.insert(all.end(), nodes.begin(), nodes.end());
    return all;
  }

  // A check that passes all the same may not compute in float16 either. TensorRT does; where it
  // makes one layer of several nodes, not each of them has to be kept.
  void LogValues(const NodeSet& kept, const std::vector<PrecisionEvidence>& evidence) const {
    size_t left = 0;
    std::string first;
    for (uint32_t node = 0; node < nodes_.size(); ++node) {
      if (!evidence[node].overflows || std::find(kept.begin(), kept.end(), node) != kept.end())
        continue;
      if (left++ == 0) first = std::string(nodes_[node].node->op_type) + " " + NameOf(node);
    }
    if (left == 0) return;
    log_.Warning("The check passes, though " + Counted(left, "node") + " in float16 (" + first +
                 (left == 1 ? ")" : " and others)") +
                 " would have values that float16 does not have: make sure that what it runs "
                 "computes in float16. ONNX Runtime on a CPU does not");
  }

  Result<std::vector<PrecisionEvidence>> Gather() const {
    VERNIER_ASSIGN_OR_RETURN(const ScratchFolder folder, ScratchFolder::Create());
    const std::string half = folder.path() + "/float16.onnx";
    std::vector<std::string> untyped;
    VERNIER_TRY(SaveMixed(model_, {}, half, {}, &untyped));
    if (!untyped.empty()) {
      log_.Warning("The type of " + Counted(untyped.size(), "tensor") + " is not known (" +
                   QuotePython(untyped.front()) +
                   "), so that no cast can be placed there; vernier surgeon sanitize infers types");
    }
    VERNIER_ASSIGN_OR_RETURN(const std::optional<RunPlan> inference, plan_.inference());
    const EvidenceSetting setting{nodes_, session_.check().interrupted(), log_};
    return GatherEvidence(inference, model_, half, setting);
  }

  // Nodes of equal evidence in the order of the graph, or against it.
  PrecisionPlan MakePlan(const NodeFindings& findings, bool holds_layers) const {
    const auto& [evidence, pinned] = findings;
    PrecisionPlan plan;
    plan.width = session_.jobs();
    plan.most_checks = plan_.most_checks + session_.known();
    for (uint32_t node = 0; node < nodes_.size(); ++node) {
      if (!std::binary_search(pinned.begin(), pinned.end(), node)) plan.ranked.push_back(node);
    }
    if (plan_.reverse) {
      std::reverse(plan.ranked.begin(), plan.ranked.end());
    }
    std::stable_sort(plan.ranked.begin(), plan.ranked.end(), [&](uint32_t a, uint32_t b) {
      return IsWorse(findings.evidence[a], findings.evidence[b]);
    });
    plan.likely = LikelyNodes(evidence, nodes_, plan.ranked);
    if (holds_layers) plan.fewer = WithoutFused(plan.likely, nodes_);
    plan.certain = std::any_of(plan.likely.begin(), plan.likely.end(),
                               [&](uint32_t node) { return findings.evidence[node].overflows; });
    if (plan_.linear) return plan;
    // Operators by their worst node.
    std::map<std::string_view, size_t> places;
    for (const uint32_t node : plan.ranked) {
      const auto [place, added] = places.emplace(nodes_[node].node->op_type, plan.groups.size());
      if (added) plan.groups.emplace_back();
      plan.groups[place->second].push_back(node);
    }
    return plan;
  }

  size_t CountOperators() const {
    std::map<std::string_view, size_t> operators;
    for (const LowerableNode& lowerable : nodes_) ++operators[lowerable.node->op_type];
    return operators.size();
  }

  std::string NameOf(uint32_t index) const {
    const OnnxNode& node = *nodes_[index].node;
    const auto outputs = nodes_[index].graph->Outputs(node);
    if (!node.name.empty()) return QuotePython(node.name);
    return outputs.empty() ? std::string("without a name") : "of " + QuotePython(outputs[0]);
  }

  std::string Describe(uint32_t index, const PrecisionEvidence& evidence) const {
    const double error = evidence.error;
    std::string why;
    if (evidence.beyond) why = " | has values that float16 does not have";
    if (std::isinf(error)) why = " | not finite in float16";
    if (why.empty() && error > 0) {
      why = " | adds a relative error of " + FormatFloatRepr(error) + " in float16";
    }
    return "    " + std::string(nodes_[index].node->op_type) + " " + NameOf(index) + why;
  }

  void LogNodes(const KeptNodes& kept, const std::vector<PrecisionEvidence>& evidence) const {
    const std::string& higher = plan_.higher;
    std::string text =
        kept.nodes.empty()
            ? "The check passes with every node in float16: none needs " + higher + "."
            : "To achieve acceptable accuracy, keep " + Noun(kept.nodes.size(), "this ", "these ") +
                  CountedOf(kept.nodes.size(), nodes_.size(), "node") + " in " + higher + ":";
    for (const uint32_t node : kept.nodes) text += "\n" + Describe(node, evidence[node]);
    log_.Finish(text);
    if (const std::string& gate = session_.check().undecided(); !gate.empty()) {
      log_.Warning("The check passes, but does not decide: " + gate);
    }
    if (kept.minimal) return;
    log_.Warning("The search ended after " + Counted(session_.iterations(), "check") +
                 " (--max-checks): with these nodes the check passes, but perhaps not all of them "
                 "are needed. Where errors come from everywhere no small set is to be found; more "
                 "checks, or --load-debug-replay to go on from here, make it smaller");
  }

  Status Report(const KeptNodes& kept, const std::vector<PrecisionEvidence>& evidence,
                PrecisionTrials& trials) const {
    LogNodes(kept, evidence);
    if (!trials.BuildsEngines()) LogValues(kept.nodes, evidence);
    const std::string& output = plan_.output;
    if (output.empty()) {
      log_.Info("--output FILE writes that model");
    } else {
      log_.Info("Saving ONNX model to: " + output);
      VERNIER_TRY(trials.Save(kept.nodes, output, Durability::kSynced));
    }
    trials.LogEngine(kept.nodes, output);
    return {};
  }

  Float32Record RecordOf(const KeptNodes& kept,
                         const std::vector<PrecisionEvidence>& evidence) const {
    Float32Record record;
    for (const uint32_t index : kept.nodes) {
      const OnnxNode& node = *nodes_[index].node;
      record.kept.push_back({std::string(node.op_type), std::string(node.name),
                             evidence[index].error, evidence[index].beyond});
    }
    record.nodes = static_cast<int64_t>(nodes_.size());
    record.minimal = kept.minimal;
    record.checks = session_.iterations();
    return record;
  }

  const PrecisionDebugPlan& plan_;
  const EditableModel& model_;
  DebugSession& session_;
  Logger& log_;
  const std::vector<LowerableNode> nodes_;
};

}  // namespace

Result<Float32Record> DebugPrecision(const PrecisionDebugPlan& plan, const EditableModel& model,
                                     DebugSession& session, Logger& log) {
  return PrecisionDebugging(plan, model, session, log).Run();
}

}  // namespace vernier
