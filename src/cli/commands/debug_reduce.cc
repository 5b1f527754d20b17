// The fewest nodes of a model that still fail a check.
#include <algorithm>
#include <numeric>

#include "cli/bind_onnx_save.h"
#include "cli/bind_run.h"
#include "cli/commands/commands.h"
#include "cli/commands/interruption.h"
#include "cli/commands/model_shapes.h"
#include "cli/commands/surgery.h"
#include "cli/debug/debug_session.h"
#include "cli/file_conflicts.h"
#include "cli/option_sets.h"
#include "model/onnx_cut.h"
#include "surgeon/constant_folding.h"
#include "surgeon/input_shapes.h"
#include "surgeon/reduction.h"
#include "util/counted.h"

namespace vernier {
namespace {

bool KnowsAllShapes(const OnnxModel& model) {
  std::vector<std::string> names;
  for (const OnnxNode& node : model.graph().nodes) {
    for (const std::string_view name : model.graph().Outputs(node)) {
      if (!name.empty()) names.emplace_back(name);
    }
  }
  const std::vector<TensorInfo> infos = DescribeTensors(model, names);
  return std::all_of(infos.begin(), infos.end(), [](const TensorInfo& info) {
    return info.shape && info.dtype != DType::kUndefined;
  });
}

Status PrepareModel(const ParsedArgs& args, const Invocation& invocation, Surgery& surgery,
                    Logger& log) {
  EditableModel& model = surgery.model();
  VERNIER_ASSIGN_OR_RETURN(const std::vector<TensorInfo> inputs, GivenInputShapes(args));
  if (!inputs.empty()) {
    VERNIER_ASSIGN_OR_RETURN(OnnxModel shaped, WithInputShapes(model.now(), inputs));
    model.Become(std::move(shaped));
  }
  // Constants belong to whoever reads them: they are no nodes to be cut off.
  VERNIER_ASSIGN_OR_RETURN(OnnxModel lowered, ConstantsAsInitializers(model.now()));
  model.Become(std::move(lowered));
  if (args.Has("force_fallback_shape_inference")) {
    VERNIER_TRY(ForceShapes(args, invocation, model, log));
  } else if (!args.Has("do_shape_inference")) {
    // Where rules know all sizes nobody else has to be asked.
    VERNIER_ASSIGN_OR_RETURN(OnnxModel followed, WithShapesThatFollow(model.now(), -1));
    const bool known = KnowsAllShapes(followed);
    if (known) model.Become(std::move(followed));
    if (!known) VERNIER_TRY(InferShapes(args, model, log));
  }
  bool open = false;
  for (const TensorInfo& input : model.now().RequiredInputs()) {
    if (!input.shape) open = true;
    for (const Dim& dim : input.shape.value_or(std::vector<Dim>())) open = open || dim.dynamic();
  }
  if (open) {
    log.Warning(
        "This model uses dynamic input shapes.\nYou may want to provide input shapes to `debug "
        "reduce` using the `--model-input-shapes` option to prevent unexpected behavior.\n");
  }
  return {};
}

class Reducing {
 public:
  Reducing(const ParsedArgs& args, bool as_peer, EditableModel& model, DebugSession& session,
           Logger& log)
      : args_(args),
        as_peer_(as_peer),
        model_(model),
        session_(session),
        log_(log),
        whole_(model.now()),
        fingerprints_(whole_) {}

  Status Run() {
    VERNIER_ASSIGN_OR_RETURN(const bool passes, session_.Passes({[&](const std::string& path) {
                                                                   model_.Become(whole_);
                                                                   return Save(
                                                                       path, Durability::kRenamed);
                                                                 },
                                                                 FingerprintOf({})}));
    if (passes && as_peer_) {
      log_.Warning("The check passes for the whole model: there is nothing to reduce");
      session_.Finish();
      return SaveWhole();
    }
    if (passes) {
      return NotFound(
          "the check passes for the whole model: there is nothing to reduce; it must fail by its "
          "exit code, --fail-code or --fail-regex");
    }
    ReductionOptions options;
    options.reduce_inputs = !args_.Has("reduce_inputs");
    options.reduce_outputs = !args_.Has("reduce_outputs");
    options.width = session_.jobs();
    options.bisect = args_.Value("mode").value_or("bisect") == "bisect";
    VERNIER_ASSIGN_OR_RETURN(const Reduction reduction,
                             ReduceNodes(whole_, options, [&](std::span<const NodeSet> parts) {
                               return FirstFailing(parts);
                             }));
    session_.Finish();
    return Report(reduction);
  }

 private:
  Status Save(const std::string& path, Durability durability) {
    VERNIER_ASSIGN_OR_RETURN(SaveOnnxOptions options, BindOnnxSave(args_, log_));
    options.durability = durability;
    return model_.Save(path, std::move(options));
  }

  Status Take(const NodeSet& nodes) {
    VERNIER_ASSIGN_OR_RETURN(OnnxModel part, PartOfNodes(whole_, nodes));
    model_.Become(std::move(part));
    return {};
  }

  std::string FingerprintOf(const NodeSet& nodes) const {
    std::vector<std::string_view> parts;
    for (const uint32_t index : nodes) parts.push_back(whole_.graph().nodes[index].bytes);
    return fingerprints_.Of(std::move(parts));
  }

  Result<std::optional<size_t>> FirstFailing(std::span<const NodeSet> parts) {
    std::vector<DebugTrial> trials;
    for (const NodeSet& nodes : parts) {
      trials.push_back({[this, &nodes](const std::string& path) -> Status {
                          log_.Verbose("Trying " + Counted(nodes.size(), "node"));
                          VERNIER_TRY(Take(nodes));
                          return Save(path, Durability::kRenamed);
                        },
                        FingerprintOf(nodes)});
    }
    return session_.FirstThat(trials, false);
  }

  Status SaveAs(std::string_view dest, const NodeSet& nodes, std::string_view heading) {
    VERNIER_TRY(Take(nodes));
    TellModel(heading, model_.now(), log_);
    const auto path = args_.Value(dest);
    if (!path) return {};
    log_.Info("Saving ONNX model to: " + std::string(*path));
    return Save(std::string(*path), Durability::kSynced);
  }

  // The peer takes the whole model for the smallest that fails.
  Status SaveWhole() {
    NodeSet all(whole_.graph().nodes.size());
    std::iota(all.begin(), all.end(), 0);
    return SaveAs("output", all, "Minimum Bad Model:");
  }

  Status Report(const Reduction& reduction) {
    std::string names;
    for (const uint32_t index : reduction.bad) {
      const OnnxNode& node = whole_.graph().nodes[index];
      names += (names.empty() ? "" : ", ") + std::string(node.op_type) +
               (node.name.empty() ? "" : " '" + std::string(node.name) + "'");
    }
    VERNIER_TRY(SaveAs("output", reduction.bad, "Minimum Bad Model:"));
    if (!reduction.good.empty()) {
      VERNIER_TRY(SaveAs("min_good", reduction.good, "Minimum Good Model:"));
    } else if (args_.Has("min_good")) {
      log_.Warning(
          "Could not find a minimal model close in size to the reduced model that does "
          "not cause a failure.");
    }
    const size_t bad = reduction.bad.size();
    log_.Finish(CountedOf(bad, whole_.graph().nodes.size(), "node") +
                (bad == 1 ? " still fails: " : " still fail: ") + names);
    return {};
  }

  const ParsedArgs& args_;
  const bool as_peer_;
  EditableModel& model_;
  DebugSession& session_;
  Logger& log_;
  const OnnxModel whole_;
  const Fingerprints fingerprints_;
};

int DebugReduceCommand(std::span<const std::string> words, const Invocation& invocation) {
  std::vector<std::string> own(words.begin(), words.end());
  CheckWords check = TakeCheckWords(own);
  const auto work = [&](const ParsedArgs& args, ConsoleLog& log) -> Status {
    if (!args.Has("output") && !args.Has("min_good")) {
      return InvalidArgument(
          "--output (where to write the reduced model) and/or --min-good (where to write a reduced "
          "model that passes) must be provided!");
    }
    // The peer replaces the model by its reduced one.
    if (!invocation.as_peer) VERNIER_TRY(CheckFileConflicts(args, "output"));
    WatchSignals();
    const DebugSessionPlan plan{"reduce", "polygraphy_debug.onnx"};
    VERNIER_ASSIGN_OR_RETURN(DebugSession session,
                             DebugSession::Bind(args, std::move(check), plan, log));
    session.check().HoldOnToFault();
    VERNIER_ASSIGN_OR_RETURN(Surgery surgery, Surgery::Open(args, log));
    if (!args.Has("force_fallback_shape_inference")) TellUnusedInputs(args, log);
    VERNIER_TRY(PrepareModel(args, invocation, surgery, log));
    return Reducing(args, invocation.as_peer, surgery.model(), session, log).Run();
  };
  return RunModelTool(kDebugReduceCommand, work, true, own, invocation);
}

}  // namespace

constexpr CommandSpec kDebugReduceCommand = {
    .name = "debug reduce",
    .section = CommandSection::kCause,
    .operands = "model_file -o FILE [options ...] --check COMMAND ... | -- RUN OPTIONS",
    .summary = "reduce an ONNX model to the fewest nodes that still fail a check",
    .about =
        "Write ever smaller parts of a failing model and check each, until removing any further"
        " node makes the check pass. The command reads polygraphy_debug.onnx, for example --check"
        " ./builds.sh polygraphy_debug.onnx. With RUN OPTIONS, such as -- --onnxrt --openvino, the"
        " check is vernier run. --load-debug-replay resumes an interrupted session.",
    .options =
        [] {
          return OptionTable({GeneralGroup(), LoggingGroup(), ModelFileOptions(),
                              DebugReduceGroup(), DebugJobGroup(), DebugCheckGroup(),
                              DebugArtifactGroup(), DefaultShapeInferenceGroup(),
                              Only(OnnxShapeInferenceGroup(), {"allow_onnxruntime"}),
                              DrawnOrReadInputOptions(), StrictlyLoadedModelOptions(),
                              SavedModelOptions(), AnyWorkerOptions()});
        },
    .run = DebugReduceCommand,
};

}  // namespace vernier
