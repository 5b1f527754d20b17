#include "inference/sanitizing.h"

#include <algorithm>
#include <cstdio>
#include <string>

#include "inference/constant_worker.h"
#include "model/edit/onnx_edit.h"
#include "model/edit/onnx_extract.h"
#include "model/edit/onnx_outputs.h"
#include "report/models/model_text.h"
#include "surgeon/cleanup.h"
#include "surgeon/graph_parts.h"
#include "surgeon/input_shapes.h"

namespace vernier {
namespace {

class Sanitizer {
 public:
  Sanitizer(const SanitizePlan& plan, EditableModel& model, const std::atomic<int>& interrupted,
            Logger& log)
      : plan_(plan),
        model_(model),
        interrupted_(interrupted),
        log_(log),
        worker_(model, plan.execution, plan.feeds.library, interrupted, log) {}

  /// What happens when the model is loaded: outputs, shapes, bounds.
  Status Load() {
    VERNIER_TRY(MarkOutputs());
    if (Infers()) VERNIER_TRY(Infer());
    if (plan_.bounds.empty()) return {};
    return Become(WithUpperBounds(now(), plan_.bounds, log_));
  }

  Status Change() {
    const std::vector<TensorInfo>& inputs = plan_.inputs;
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
    if (plan_.shapes.forced) VERNIER_TRY(ForceShapes(model_, plan_.feeds, interrupted_, log_));
    if (plan_.cleanup) VERNIER_TRY(Become(WithoutUnused(now())));
    if (plan_.sort) VERNIER_TRY(Become(InOrder(now())));
    if (!inputs.empty() && Infers()) VERNIER_TRY(Infer());
    return plan_.fold ? Fold() : Status();
  }

 private:
  const OnnxModel& now() const { return model_.now(); }

  Status Become(Result<OnnxModel> model) {
    if (!model.ok()) return model.status();
    model_.Become(*std::move(model));
    return {};
  }

  // A tensor within that is given a shape becomes an input, and what only led to it goes.
  Status AddInputs(std::span<const TensorInfo> given) {
    ExtractPlan plan{now().RequiredInputs(), now().Outputs()};
    const size_t before = plan.inputs.size();
    for (const TensorInfo& info : given) {
      const auto& inputs = now().graph().inputs;
      const bool known = std::any_of(inputs.begin(), inputs.end(), [&](const OnnxValue& input) {
        return input.name == info.name;
      });
      if (!known) plan.inputs.push_back(info);
    }
    if (plan.inputs.size() == before) return {};
    VERNIER_ASSIGN_OR_RETURN(const BytePieces pieces, ExtractModel(now(), plan));
    VERNIER_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, ToBytes(pieces));
    return Become(
        OwnModel({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, now().path()));
  }

  bool Infers() const { return plan_.shapes.wanted && !plan_.shapes.forced; }
  Status Infer() { return Become(worker_.InferShapesOf(now(), ToolOf(plan_.model))); }

  Status MarkOutputs() {
    const ModelPlan& plan = plan_.model;
    if (!plan.edited()) return {};
    const auto given = [](const std::vector<std::string>& words) {
      return words.empty() ? std::nullopt : std::optional(words);
    };
    VERNIER_ASSIGN_OR_RETURN(
        const std::vector<std::string_view> names,
        SelectOnnxOutputs(now(),
                          {given(plan.outputs), given(plan.outputs_by_type),
                           given(plan.exclude_outputs), plan.skips_unknown_types},
                          log_));
    VERNIER_ASSIGN_OR_RETURN(const BytePieces pieces,
                             ApplyPatches(now().bytes(), EditOutputs(now(), names).patches));
    VERNIER_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, ToBytes(pieces));
    return Become(
        OwnModel({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, now().path()));
  }

  // One pass; a pass that fails is reported, and ends the folding.
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
    if (options.shapes && Infers() && plan_.infer_each_pass) VERNIER_TRY(Infer());
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
    bool changed = true;
    for (int64_t pass = 0; changed && pass < plan_.passes.value_or(INT64_MAX); ++pass) {
      log_.Start("Folding Constants | Pass " + std::to_string(pass + 1));
      VERNIER_ASSIGN_OR_RETURN(changed, FoldOnce(plan_.folding, now().NodeCount()));
    }
    return {};
  }

  const SanitizePlan& plan_;
  EditableModel& model_;
  const std::atomic<int>& interrupted_;
  Logger& log_;
  ConstantWorker worker_;
};

}  // namespace

Status Sanitize(const SanitizePlan& plan, EditableModel& model, const std::atomic<int>& interrupted,
                Logger& log) {
  Sanitizer sanitizer(plan, model, interrupted, log);
  VERNIER_TRY(sanitizer.Load());
  log.Info("Original Model:\n" + FormatModel(model.now(), {}) + "\n\n");
  return sanitizer.Change();
}

}  // namespace vernier
