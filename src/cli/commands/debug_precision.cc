// The nodes that have to stay float32 in a float16 model.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "cli/bind_onnx_save.h"
#include "cli/bind_run.h"
#include "cli/commands/commands.h"
#include "cli/commands/interruption.h"
#include "cli/commands/surgery.h"
#include "cli/debug/debug_session.h"
#include "cli/debug/precision_evidence.h"
#include "cli/debug/reference_run.h"
#include "model/onnx_summary.h"
#include "surgeon/constant_folding.h"
#include "surgeon/mixed_precision.h"
#include "surgeon/precision_search.h"
#include "util/counted.h"
#include "util/number_text.h"
#include "util/scratch_folder.h"

namespace vernier {
namespace {

Status CheckPrecisions(const ParsedArgs& args) {
  for (const std::string_view dest : {"int8", "tf32"}) {
    if (!args.Has(dest)) continue;
    return Unimplemented(std::string(args.Flag(dest)) +
                         ": debug precision lowers a model to float16 by casts, which cannot say "
                         "this; leave it out, or put it into the check");
  }
  if (args.Value("precision").value_or("float32") == "float32") return {};
  return Unimplemented(
      "--precision float16: the precision that nodes are lowered to is float16, so only float32 is "
      "higher");
}

bool IsWorse(const PrecisionEvidence& a, const PrecisionEvidence& b) {
  return a.error != b.error ? a.error > b.error : a.rule < b.rule;
}

class PrecisionDebugging {
 public:
  PrecisionDebugging(const ParsedArgs& args, const EditableModel& model, DebugSession& session,
                     Logger& log)
      : args_(args),
        model_(model),
        session_(session),
        log_(log),
        nodes_(FindLowerable(model.now())) {}

  Status Run(const Invocation& invocation) {
    if (nodes_.empty()) {
      return NotFound("the model has no node that computes with float32 and could with float16");
    }
    VERNIER_TRY(Gather(invocation));
    const PrecisionPlan plan = MakePlan();
    log_.Start("Looking for the nodes that need float32, among " + Counted(nodes_.size(), "node") +
               " of " + Counted(CountOperators(), "operator"));
    VERNIER_ASSIGN_OR_RETURN(
        const std::optional<NodeSet> kept,
        FindKeptNodes(plan, [&](std::span<const NodeSet> sets) { return FirstPassing(sets); }));
    session_.Finish();
    if (!kept) {
      return NotFound(
          "Could not find a configuration that satisfied accuracy requirements.\nNote: the check "
          "fails even where every node that could be float16 stays float32; hold it against the "
          "unchanged model first");
    }
    return Report(*kept);
  }

 private:
  Status Gather(const Invocation& invocation) {
    VERNIER_ASSIGN_OR_RETURN(const ScratchFolder folder, ScratchFolder::Create());
    const std::string half = folder.path() + "/float16.onnx";
    std::vector<std::string> untyped;
    VERNIER_TRY(SaveMixed(model_, {}, half, {}, &untyped));
    if (!untyped.empty()) {
      log_.Warning("The type of " + Counted(untyped.size(), "tensor") + " is not known (" +
                   QuotePython(untyped.front()) +
                   "), so that no cast can be placed there; vernier surgeon sanitize infers types");
    }
    VERNIER_ASSIGN_OR_RETURN(evidence_,
                             GatherEvidence(args_, invocation, model_, half, nodes_, log_));
    return {};
  }

  // Nodes of equal evidence in the order of the graph, or against it.
  PrecisionPlan MakePlan() const {
    PrecisionPlan plan;
    plan.width = session_.jobs();
    plan.ranked.resize(nodes_.size());
    std::iota(plan.ranked.begin(), plan.ranked.end(), 0);
    if (args_.Value("direction").value_or("forward") == "reverse") {
      std::reverse(plan.ranked.begin(), plan.ranked.end());
    }
    std::stable_sort(plan.ranked.begin(), plan.ranked.end(),
                     [&](uint32_t a, uint32_t b) { return IsWorse(evidence_[a], evidence_[b]); });
    if (args_.Value("mode").value_or("bisect") == "linear") return plan;
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

  Float16Kept Kept(const NodeSet& nodes) const {
    Float16Kept kept;
    for (const uint32_t node : nodes) kept.insert(nodes_[node].node);
    return kept;
  }

  Status Save(const NodeSet& nodes, const std::string& path, Durability durability) const {
    VERNIER_ASSIGN_OR_RETURN(SaveOnnxOptions options, BindOnnxSave(args_, log_));
    options.durability = durability;
    return SaveMixed(model_, Kept(nodes), path, std::move(options));
  }

  Result<std::optional<size_t>> FirstPassing(std::span<const NodeSet> sets) {
    std::vector<DebugTrial> trials;
    for (const NodeSet& set : sets) {
      std::vector<std::string_view> names;
      for (const uint32_t node : set) names.push_back(nodes_[node].node->bytes);
      trials.push_back({[this, &set](const std::string& path) {
                          log_.Info("Keeping " + Counted(set.size(), "node") + " in float32");
                          return Save(set, path, Durability::kRenamed);
                        },
                        Fingerprint(std::move(names))});
    }
    return session_.FirstThat(trials, true);
  }

  std::string Describe(uint32_t index) const {
    const OnnxNode& node = *nodes_[index].node;
    const auto outputs = nodes_[index].graph->Outputs(node);
    const std::string name = !node.name.empty() ? QuotePython(node.name)
                             : outputs.empty()  ? std::string("without a name")
                                                : "of " + QuotePython(outputs[0]);
    const double error = evidence_[index].error;
    std::string why;
    if (std::isinf(error)) why = " | not finite in float16";
    if (error > 0 && !std::isinf(error)) {
      why = " | adds a relative error of " + FormatFloatRepr(error) + " in float16";
    }
    return "    " + std::string(node.op_type) + " " + name + why;
  }

  Status Report(const NodeSet& kept) {
    std::string text =
        kept.empty() ? "The check passes with every node in float16: none needs float32."
                     : "To achieve acceptable accuracy, keep these " + std::to_string(kept.size()) +
                           " of " + std::to_string(nodes_.size()) + " nodes in float32:";
    for (const uint32_t node : kept) text += "\n" + Describe(node);
    log_.Finish(text);
    const auto path = args_.Value("output");
    if (!path) {
      log_.Info("--output FILE writes that model");
      return {};
    }
    const std::string output(*path);
    log_.Info("Saving ONNX model to: " + output);
    VERNIER_TRY(Save(kept, output, Durability::kSynced));
    const std::string stem =
        output.ends_with(".onnx") ? output.substr(0, output.size() - 5) : output;
    log_.Info("To build an engine of it: vernier convert " + output + " --strongly-typed -o " +
              stem + ".engine");
    return {};
  }

  const ParsedArgs& args_;
  const EditableModel& model_;
  DebugSession& session_;
  Logger& log_;
  const std::vector<LowerableNode> nodes_;
  std::vector<PrecisionEvidence> evidence_;
};

}  // namespace

int DebugPrecisionCommand(std::span<const std::string> words, const Invocation& invocation) {
  std::vector<std::string> own(words.begin(), words.end());
  CheckWords check = TakeCheckWords(own);
  const auto work = [&](const ParsedArgs& args, ConsoleLog& log) -> Status {
    VERNIER_TRY(CheckPrecisions(args));
    WatchSignals();
    VERNIER_ASSIGN_OR_RETURN(Surgery surgery, Surgery::Open(args, log));
    // Constants are weights: those of a node that stays float32 do so too.
    VERNIER_ASSIGN_OR_RETURN(OnnxModel lowered, ConstantsAsInitializers(surgery.model().now()));
    surgery.model().Become(std::move(lowered));
    std::optional<ReferenceRun> reference;
    if (check.command.empty() && !check.run_options.empty()) {
      VERNIER_ASSIGN_OR_RETURN(
          reference, ReferenceRun::Make(std::string(*args.Value("model_file")), check.run_options));
    }
    const DebugSessionPlan plan{"precision", "polygraphy_debug.onnx"};
    VERNIER_ASSIGN_OR_RETURN(DebugSession session,
                             DebugSession::Bind(args, std::move(check), plan, log));
    return PrecisionDebugging(args, surgery.model(), session, log).Run(invocation);
  };
  return RunModelTool("debug precision", work, true, own, invocation);
}

}  // namespace vernier
