// A model cleaned up: outputs chosen, shapes set, constants folded, what is unused removed.
#include <algorithm>
#include <cstdio>

#include "cli/bind_inference.h"
#include "cli/bind_model.h"
#include "cli/commands/commands.h"
#include "cli/commands/interruption.h"
#include "cli/commands/surgery.h"
#include "cli/option_sets.h"
#include "inference/constant_worker.h"
#include "model/onnx_cut.h"
#include "model/onnx_edit.h"
#include "model/onnx_outputs.h"
#include "surgeon/cleanup.h"
#include "surgeon/constant_folding.h"
#include "surgeon/graph_parts.h"
#include "surgeon/input_shapes.h"
#include "surgeon/upper_bounds.h"
#include "util/cast_grammar.h"
#include "util/number_text.h"

namespace vernier {
namespace {

struct FoldWords {
  FoldOptions options;
  std::optional<int64_t> passes;
};

Result<FoldWords> BindFolding(const ParsedArgs& args) {
  FoldWords words;
  words.options.shapes = !args.Has("fold_shapes");
  const std::string_view partitions = args.Value("partitioning").value_or("");
  if (partitions == "basic") words.options.partitions = FoldPartitions::kBasic;
  if (partitions == "recursive") words.options.partitions = FoldPartitions::kRecursive;
  if (const auto word = args.Value("fold_size_threshold")) {
    VERNIER_ASSIGN_OR_RETURN(const int64_t threshold, ParseByteCount(*word));
    if (threshold < 0) {
      return InvalidArgument("--fold-size-threshold: expected a size >= 0, got " +
                             std::to_string(threshold));
    }
    words.options.size_threshold = static_cast<uint64_t>(threshold);
  }
  VERNIER_ASSIGN_OR_RETURN(words.passes, args.Int("num_const_fold_passes"));
  if (words.passes && *words.passes < 0) {
    return InvalidArgument("--num-passes: expected a number >= 0, got " +
                           std::to_string(*words.passes));
  }
  return words;
}

void WarnOfIdleOptions(const ParsedArgs& args, Logger& log) {
  constexpr std::string_view kFolding[] = {"num_const_fold_passes", "partitioning", "fold_shapes",
                                           "per_pass_shape_inference", "fold_size_threshold"};
  for (const std::string_view dest : kFolding) {
    if (args.Has("fold_constants") || !args.Has(dest)) continue;
    std::string name(dest);
    std::replace(name.begin(), name.end(), '_', '-');
    log.Warning("Argument: '--" + name +
                "' will be ignored since constant folding is not enabled.\nThis argument is only "
                "valid when the `--fold-constants` option is provided.");
  }
  if (!args.Has("force_fallback_shape_inference")) TellUnusedInputs(args, log);
}

Result<std::vector<UpperBound>> BindBounds(const ParsedArgs& args) {
  std::vector<UpperBound> bounds;
  VERNIER_ASSIGN_OR_RETURN(const std::vector<KeyedValue> words,
                           ParseKeyedValues(args.List("upper_bounds")));
  for (const KeyedValue& word : words) {
    const std::optional<int64_t> bound = AsInt64(word.value);
    if (!bound || *bound < 0) {
      return InvalidArgument("--set-unbounded-dds-upper-bound: expected [TENSOR:]NUMBER, got '" +
                             (word.key.empty() ? "" : word.key + ":") +
                             FormatCastValue(word.value) + "'");
    }
    bounds.push_back({word.key, *bound});
  }
  return bounds;
}

class Sanitizer {
 public:
  Sanitizer(const ParsedArgs& args, const Invocation& invocation, Surgery& surgery,
            const ExecutionPlan& execution, Logger& log)
      : args_(args),
        invocation_(invocation),
        surgery_(surgery),
        log_(log),
        worker_(surgery.model(), execution, TextOf(args, "onnxrt_lib"), WatchSignals(), log) {
    infer_ = !args.Has("do_shape_inference") && !args.Has("force_fallback_shape_inference");
    tool_ = args.Has("allow_onnxruntime") ? ShapeTool::kOnnx : ShapeTool::kSymbolic;
  }

  /// What happens when the model is loaded: outputs, shapes, bounds.
  Status Load() {
    VERNIER_TRY(MarkOutputs());
    if (infer_) VERNIER_TRY(Infer());
    VERNIER_ASSIGN_OR_RETURN(const std::vector<UpperBound> bounds, BindBounds(args_));
    if (bounds.empty()) return {};
    return Become(WithUpperBounds(now(), bounds, log_));
  }

  Status Change() {
    VERNIER_ASSIGN_OR_RETURN(const std::vector<TensorInfo> inputs, GivenInputShapes(args_));
    if (!inputs.empty()) {
      VERNIER_TRY(AddInputs(inputs));
      VERNIER_TRY(Become(WithInputShapes(now(), inputs)));
      std::string text;
      for (const TensorInfo& input : now().RequiredInputs()) {
        text += (text.empty() ? "" : ",\n ") + input.name +
                " [dtype=" + std::string(DTypeName(input.dtype)) +
                ", shape=" + FormatShape(input.shape) + "]";
      }
      log_.Info("Overriding input shapes to:\n{" + text + "}");
    }
    if (args_.Has("force_fallback_shape_inference")) {
      VERNIER_TRY(ForceShapesAsAsked(args_, invocation_, surgery_.model(), log_));
    }
    if (args_.Has("cleanup")) VERNIER_TRY(Become(WithoutUnused(now())));
    if (args_.Has("toposort")) VERNIER_TRY(Become(InOrder(now())));
    if (!inputs.empty() && infer_) VERNIER_TRY(Infer());
    return args_.Has("fold_constants") ? Fold() : Status();
  }

 private:
  const OnnxModel& now() const { return surgery_.model().now(); }

  Status Become(Result<OnnxModel> model) {
    if (!model.ok()) return model.status();
    surgery_.model().Become(*std::move(model));
    return {};
  }

  // A tensor within that is given a shape becomes an input, and what only led to it goes.
  Status AddInputs(std::span<const TensorInfo> given) {
    CutPlan plan{now().RequiredInputs(), now().Outputs()};
    const size_t before = plan.inputs.size();
    for (const TensorInfo& info : given) {
      const auto& inputs = now().graph().inputs;
      const bool known = std::any_of(inputs.begin(), inputs.end(), [&](const OnnxValue& input) {
        return input.name == info.name;
      });
      if (!known) plan.inputs.push_back(info);
    }
    if (plan.inputs.size() == before) return {};
    VERNIER_ASSIGN_OR_RETURN(const BytePieces pieces, CutModel(now(), plan));
    VERNIER_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, ToBytes(pieces));
    return Become(
        OwnModel({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, now().path()));
  }

  Status Infer() { return Become(worker_.InferShapesOf(now(), tool_)); }

  Status MarkOutputs() {
    VERNIER_ASSIGN_OR_RETURN(const ModelPlan plan, BindModel(args_));
    if (!plan.edited()) return {};
    const auto given = [](const std::vector<std::string>& words) {
      return words.empty() ? std::nullopt : std::optional(words);
    };
    VERNIER_ASSIGN_OR_RETURN(
        const std::vector<std::string_view> names,
        SelectOnnxOutputs(
            now(), {given(plan.outputs), given(plan.outputs_by_type), given(plan.exclude_outputs)},
            log_));
    VERNIER_ASSIGN_OR_RETURN(const BytePieces pieces,
                             ApplyPatches(now().bytes(), EditOutputs(now(), names).patches));
    VERNIER_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, ToBytes(pieces));
    return Become(
        OwnModel({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, now().path()));
  }

  // One pass; a pass that cannot be done is told of, and ends the folding.
  Result<bool> FoldOnce(const FoldOptions& options, uint64_t before) {
    Result<OnnxModel> folded = FoldConstants(
        now(), options, [&](const OnnxModel& part) { return worker_.Compute(part); }, log_);
    const StatusCode code = folded.status().code();
    if (code == StatusCode::kCancelled || code == StatusCode::kUnavailable) {
      return std::move(folded).Annotate("--fold-constants").status();
    }
    if (!folded.ok()) {
      log_.Warning("Constant folding pass failed. Skipping subsequent passes.\nNote: Error was:\n" +
                   folded.status().message());
      return false;
    }
    VERNIER_TRY(Become(std::move(folded)));
    if (options.shapes && infer_ && !args_.Has("per_pass_shape_inference")) VERNIER_TRY(Infer());
    char counts[120];
    const auto after = static_cast<long long>(now().NodeCount());
    const auto original = static_cast<long long>(before);
    std::snprintf(counts, sizeof(counts),
                  "    Total Nodes | Original: %5lld, After Folding: %5lld | %5lld Nodes Folded",
                  original, after, original - after);
    log_.Finish(counts);
    return original != after;
  }

  Status Fold() {
    VERNIER_ASSIGN_OR_RETURN(const FoldWords words, BindFolding(args_));
    bool changed = true;
    for (int64_t pass = 0; changed && pass < words.passes.value_or(INT64_MAX); ++pass) {
      log_.Start("Folding Constants | Pass " + std::to_string(pass + 1));
      VERNIER_ASSIGN_OR_RETURN(changed, FoldOnce(words.options, now().NodeCount()));
    }
    return {};
  }

  const ParsedArgs& args_;
  const Invocation& invocation_;
  Surgery& surgery_;
  Logger& log_;
  ConstantWorker worker_;
  bool infer_ = true;
  ShapeTool tool_ = ShapeTool::kSymbolic;
};

Status Sanitize(const ParsedArgs& args, const Invocation& invocation, ConsoleLog& log) {
  VERNIER_TRY(BindFolding(args).status());
  WarnOfIdleOptions(args, log);
  ExecutionPlan execution;
  VERNIER_TRY(BindWorkers(args, execution));
  VERNIER_ASSIGN_OR_RETURN(Surgery surgery, Surgery::Open(args, log));
  Sanitizer sanitizer(args, invocation, surgery, execution, log);
  VERNIER_TRY(sanitizer.Load());
  surgery.Tell("Original Model:", log);
  VERNIER_TRY(sanitizer.Change());
  return surgery.Save(args, log);
}

int SurgeonSanitizeCommand(std::span<const std::string> words, const Invocation& invocation) {
  const auto sanitize = [&](const ParsedArgs& args, ConsoleLog& log) {
    return Sanitize(args, invocation, log);
  };
  return RunModelTool(kSurgeonSanitizeCommand, sanitize, true, words, invocation);
}

}  // namespace

constexpr CommandSpec kSurgeonSanitizeCommand = {
    .name = "surgeon sanitize",
    .section = CommandSection::kModels,
    .operands = "model_file -o FILE [options ...]",
    .summary = "clean up an ONNX model: outputs, shapes, constants, node order, unused parts",
    .about =
        "Write the model with other outputs or input shapes, sorted nodes, unused parts removed,"
        " and everything folded that does not depend on inputs. Weights are not loaded; ONNX"
        " Runtime computes constants in a process of its own. Shapes are inferred by the onnx"
        " package of --python, or else by built-in rules for fixed sizes.",
    .options =
        [] {
          return OptionTable({SurgeonOptions(SanitizeGroup()), ConstantFoldingGroup(),
                              DefaultShapeInferenceGroup(),
                              Only(OnnxShapeInferenceGroup(), {"allow_onnxruntime"}),
                              DrawnOrReadInputOptions(), Only(OnnxRuntimeGroup(), {"onnxrt_lib"}),
                              AnyWorkerOptions()});
        },
    .run = SurgeonSanitizeCommand,
};

}  // namespace vernier
