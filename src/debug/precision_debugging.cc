#include "debug/precision_debugging.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include "debug/layer_fusion.h"
#include "debug/precision_evidence.h"
#include "debug/reference_run.h"
#include "surgeon/mixed_precision.h"
#include "surgeon/precision_search.h"
#include "util/counted.h"
#include "util/number_text.h"
#include "util/scratch_folder.h"

namespace vernier {
namespace {

bool IsWorse(const PrecisionEvidence& a, const PrecisionEvidence& b) {
  const auto rank = [](const PrecisionEvidence& e) {
    return std::tuple(!e.impossible(), -e.error, e.rule);
  };
  return rank(a) < rank(b);
}

class PrecisionDebugging {
 public:
  PrecisionDebugging(const PrecisionDebugPlan& plan, const EditableModel& model,
                     DebugSession& session, Logger& log)
      : plan_(plan),
        model_(model),
        session_(session),
        log_(log),
        nodes_(FindLowerable(model.now())),
        trials_({plan.model, plan.higher, plan.save, plan.engine, model, nodes_, session, log}) {}

  Status Run() {
    if (nodes_.empty()) {
      return NotFound("the model has no node that computes with float32 and could with float16");
    }
    VERNIER_TRY(trials_.Begin());
    VERNIER_ASSIGN_OR_RETURN(const ReferenceRun reference,
                             ReferenceRun::Make(plan_.model, session_.check(), [&](RunPlan& plan) {
                               return trials_.PrepareReference(plan);
                             }));
    VERNIER_TRY(Gather());
    VERNIER_TRY(trials_.Await());
    Pin();
    const PrecisionPlan search = MakePlan();
    log_.Start("Looking for the nodes that need float32, among " + Counted(nodes_.size(), "node") +
               " of " + Counted(CountOperators(), "operator"));
    VERNIER_ASSIGN_OR_RETURN(
        const std::optional<KeptNodes> kept,
        FindKeptNodes(search, [&](std::span<const NodeSet> sets) { return FirstPassing(sets); }));
    session_.Finish();
    if (!kept) {
      return NotFound(
          "Could not find a configuration that satisfied accuracy requirements.\nNote: the check "
          "fails even where every node that could be float16 stays float32; hold it against the "
          "unchanged model first");
    }
    return Report({WithPinned(kept->nodes), kept->minimal});
  }

 private:
  // ONNX Runtime computes float16 in float32 on a CPU, and leaves out casts between two nodes: what
  // overflows in float16 need not do so there. Such a check says nothing against the values.
  void Pin() {
    if (!trials_.HidesOverflow()) return;
    for (uint32_t node = 0; node < nodes_.size(); ++node) {
      if (evidence_[node].overflows) pinned_.push_back(node);
    }
    if (pinned_.empty()) return;
    log_.Warning(
        "ONNX Runtime computes parts of a float16 model in float32, and cannot tell what "
        "overflows: " +
        Counted(pinned_.size(), "node") +
        " with values that float16 does not have are kept whatever it says");
  }

  NodeSet WithPinned(const NodeSet& nodes) const {
    NodeSet all = pinned_;
    all.insert(all.end(), nodes.begin(), nodes.end());
    return all;
  }

  // A check that passes all the same may not compute in float16 either. TensorRT does; where it
  // makes one layer of several nodes, not each of them has to be kept.
  void TellValues(const NodeSet& kept) {
    if (trials_.BuildsEngines()) return;
    size_t left = 0;
    std::string first;
    for (uint32_t node = 0; node < nodes_.size(); ++node) {
      if (!evidence_[node].overflows || std::find(kept.begin(), kept.end(), node) != kept.end())
        continue;
      if (left++ == 0) first = std::string(nodes_[node].node->op_type) + " " + NameOf(node);
    }
    if (left == 0) return;
    log_.Warning("The check passes, though " + Counted(left, "node") + " in float16 (" + first +
                 (left == 1 ? ")" : " and others)") +
                 " would have values that float16 does not have: make sure that what it runs "
                 "computes in float16. ONNX Runtime on a CPU does not");
  }

  Status Gather() {
    VERNIER_ASSIGN_OR_RETURN(const ScratchFolder folder, ScratchFolder::Create());
    const std::string half = folder.path() + "/float16.onnx";
    std::vector<std::string> untyped;
    VERNIER_TRY(SaveMixed(model_, {}, half, {}, &untyped));
    if (!untyped.empty()) {
      log_.Warning("The type of " + Counted(untyped.size(), "tensor") + " is not known (" +
                   QuotePython(untyped.front()) +
                   "), so that no cast can be placed there; vernier surgeon sanitize infers types");
    }
    VERNIER_ASSIGN_OR_RETURN(const RunPlan inference, plan_.inference());
    const EvidenceSetting setting{nodes_, session_.check().interrupted(), log_};
    VERNIER_ASSIGN_OR_RETURN(evidence_, GatherEvidence(inference, model_, half, setting));
    return {};
  }

  // Nodes of equal evidence in the order of the graph, or against it.
  PrecisionPlan MakePlan() const {
    PrecisionPlan plan;
    plan.width = session_.jobs();
    plan.most_checks = plan_.most_checks + session_.known();
    for (uint32_t node = 0; node < nodes_.size(); ++node) {
      if (!std::binary_search(pinned_.begin(), pinned_.end(), node)) plan.ranked.push_back(node);
    }
    if (plan_.reverse) {
      std::reverse(plan.ranked.begin(), plan.ranked.end());
    }
    std::stable_sort(plan.ranked.begin(), plan.ranked.end(),
                     [&](uint32_t a, uint32_t b) { return IsWorse(evidence_[a], evidence_[b]); });
    plan.likely = LikelyNodes(evidence_, nodes_, plan.ranked);
    if (trials_.HoldsLayers()) plan.fewer = WithoutFused(plan.likely, nodes_);
    plan.certain = std::any_of(plan.likely.begin(), plan.likely.end(),
                               [&](uint32_t node) { return evidence_[node].overflows; });
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

  Result<std::optional<size_t>> FirstPassing(std::span<const NodeSet> sets) {
    std::vector<DebugTrial> trials;
    for (const NodeSet& set : sets) trials.push_back(trials_.For(WithPinned(set)));
    return session_.FirstThat(trials, true);
  }

  std::string NameOf(uint32_t index) const {
    const OnnxNode& node = *nodes_[index].node;
    const auto outputs = nodes_[index].graph->Outputs(node);
    if (!node.name.empty()) return QuotePython(node.name);
    return outputs.empty() ? std::string("without a name") : "of " + QuotePython(outputs[0]);
  }

  std::string Describe(uint32_t index) const {
    const double error = evidence_[index].error;
    std::string why;
    if (evidence_[index].beyond) why = " | has values that float16 does not have";
    if (std::isinf(error)) why = " | not finite in float16";
    if (why.empty() && error > 0) {
      why = " | adds a relative error of " + FormatFloatRepr(error) + " in float16";
    }
    return "    " + std::string(nodes_[index].node->op_type) + " " + NameOf(index) + why;
  }

  void TellNodes(const KeptNodes& kept) {
    const std::string& higher = plan_.higher;
    std::string text =
        kept.nodes.empty()
            ? "The check passes with every node in float16: none needs " + higher + "."
            : "To achieve acceptable accuracy, keep " +
                  std::string(kept.nodes.size() == 1 ? "this " : "these ") +
                  CountedOf(kept.nodes.size(), nodes_.size(), "node") + " in " + higher + ":";
    for (const uint32_t node : kept.nodes) text += "\n" + Describe(node);
    log_.Finish(text);
    if (kept.minimal) return;
    log_.Warning("The search ended after " + Counted(session_.iterations(), "check") +
                 " (--max-checks): with these nodes the check passes, but perhaps not all of them "
                 "are needed. Where errors come from everywhere no small set is to be found; more "
                 "checks, or --load-debug-replay to go on from here, make it smaller");
  }

  Status Report(const KeptNodes& kept) {
    TellNodes(kept);
    TellValues(kept.nodes);
    const std::string& output = plan_.output;
    if (output.empty()) {
      log_.Info("--output FILE writes that model");
    } else {
      log_.Info("Saving ONNX model to: " + output);
      VERNIER_TRY(trials_.Save(kept.nodes, output, Durability::kSynced));
    }
    trials_.TellEngine(kept.nodes, output);
    return {};
  }

  const PrecisionDebugPlan& plan_;
  const EditableModel& model_;
  DebugSession& session_;
  Logger& log_;
  const std::vector<LowerableNode> nodes_;
  PrecisionTrials trials_;
  std::vector<PrecisionEvidence> evidence_;
  NodeSet pinned_;  // in order
};

}  // namespace

Status DebugPrecision(const PrecisionDebugPlan& plan, const EditableModel& model,
                      DebugSession& session, Logger& log) {
  return PrecisionDebugging(plan, model, session, log).Run();
}

}  // namespace vernier
