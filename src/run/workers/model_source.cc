#include "run/workers/model_source.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <utility>

#include "backend/worker/shape_inference.h"
#include "model/edit/detached_weights.h"
#include "model/edit/onnx_edit.h"
#include "model/edit/onnx_outputs.h"
#include "model/edit/onnx_save.h"
#include "model/float16/float16_edit.h"
#include "model/onnx/embedded_values.h"
#include "model/onnx/external_data.h"
#include "model/onnx/model_type.h"
#include "model/onnx/onnx_model.h"
#include "model/onnx/onnx_summary.h"
#include "model/onnx/random_operators.h"
#include "model/onnx/weight_types.h"
#include "model/shapes/onnx_infer.h"
#include "util/text/number_text.h"
#include "util/values/joined.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

std::optional<std::vector<std::string>> Given(const std::vector<std::string>& words) {
  return words.empty() ? std::nullopt : std::optional(words);
}

ExternalDataOptions ExternalOptions(const ModelPlan& plan) {
  return {plan.external_data_dir,
          plan.strict_external_data ? LinkPolicy::kRefuse : LinkPolicy::kFollowInside};
}

// The floating types that the weights have: what a runtime that computes "as in the model" uses.
// Without any, "strings" if it reads some, else "integers".
std::string PrecisionOf(const OnnxModel& model) {
  std::set<std::string> types;
  const auto add = [&](DType dtype) {
    if (Kind(dtype) == DTypeKind::kFloat) types.emplace(DTypeName(dtype));
  };
  for (const DType dtype : FloatWeightTypes(model)) types.emplace(DTypeName(dtype));
  for (const OnnxValue& value : model.graph().inputs) {
    if (types.empty()) add(value.dtype);
  }
  // What is computed from integers.
  if (types.empty()) {
    for (const auto& [name, type] : InferGraphTypes(model, model.graph(), {})) {
      add(DTypeFromOnnx(type).value_or(DType::kUndefined));
    }
  }
  const bool quantised =
      std::any_of(model.graph().nodes.begin(), model.graph().nodes.end(), [](const OnnxNode& node) {
        return node.op_type.find("QLinear") == 0 || node.op_type == "QuantizeLinear";
      });
  std::string text = quantised ? "int8" : "";
  for (const std::string& type : types) text += (text.empty() ? "" : "+") + type;
  if (!text.empty()) return text;
  const bool strings = std::ranges::any_of(
      model.graph().inputs, [](const OnnxValue& v) { return v.dtype == DType::kString; });
  return strings ? "strings" : "integers";
}

// More dimensions than any framework takes: a damaged file.
constexpr size_t kLargestRank = 64;

// Nothing can be fed to an input whose type has no meaning.
Status CheckInputTypes(const std::string& path, const OnnxModel& model) {
  for (const OnnxValue& input : model.graph().inputs) {
    const bool tensor = input.kind == OnnxValueKind::kTensor;
    if (!tensor || input.dtype != DType::kUndefined) continue;
    return Malformed("'" + path + "': input '" + std::string(input.name) + "' has element type " +
                     std::to_string(input.onnx_type) + ", which is not known");
  }
  for (const TensorInfo& input : model.RequiredInputs()) {
    if (!input.shape || input.shape->size() <= kLargestRank) continue;
    return Malformed("'" + path + "': input '" + input.name + "' has " +
                     std::to_string(input.shape->size()) + " dimensions, more than " +
                     std::to_string(kLargestRank));
  }
  return {};
}

Result<ExternalDataReport> CheckWeights(const ModelPlan& plan, const OnnxModel& model,
                                        Logger& logger) {
  if (plan.ignore_external_data) return ExternalDataReport();
  VERNIER_ASSIGN_OR_RETURN(ExternalDataReport external,
                           CheckExternalData(model, ExternalOptions(plan)));
  for (const ExternalFileInfo& file : external.files) {
    if (file.hard_links > 1)
      logger.Verbose("weights file '" + file.path + "' has several hard links");
  }
  return external;
}

// Engines and the models of other frameworks cannot be edited.
void WarnOfOnnxOptions(const ModelPlan& plan, Logger& logger) {
  const auto warn = [&](std::string_view flag) {
    logger.Once(Severity::kWarning, std::string(flag) + " has no effect on '" + plan.path +
                                        "', which is not an ONNX model");
  };
  if (plan.fp_to_fp16) warn("--fp-to-fp16");
  if (plan.shape_inference) warn("--shape-inference");
}

// "2 nodes stay ('a', 'b')"; of many the first ten.
std::string NameNodes(std::span<const std::string> names) {
  constexpr size_t kMost = 10;
  return Counted(names.size(), "node stays (", "nodes stay (") +
         JoinedUpTo(names, kMost, QuotePython) + ")";
}

void ReportFloat16(const Float16Edit& half, Logger& logger) {
  if (half.kept_nodes > 0) {
    logger.Verbose(Counted(half.kept_nodes, "node stays", "nodes stay") +
                   " in float32, between casts");
  }
  if (!half.out_of_range.empty()) {
    logger.Once(Severity::kWarning, "--fp-to-fp16: " + NameNodes(half.out_of_range) +
                                        " in float32: float16 ends at 65504, and their weights go "
                                        "beyond");
  }
  if (!half.near_zero.empty()) {
    logger.Once(Severity::kWarning, "--fp-to-fp16: " + NameNodes(half.near_zero) +
                                        " in float32: float16 cannot hold a constant near zero "
                                        "that they or their inputs are computed with");
  }
  if (!half.float32_only.empty()) {
    logger.Once(Severity::kWarning, "--fp-to-fp16: " + NameNodes(half.float32_only) +
                                        " in float32: their operators take no float16");
  }
  if (!half.untyped.empty()) {
    logger.Once(Severity::kWarning, "--fp-to-fp16: the type of " +
                                        Counted(half.untyped.size(), "tensor") +
                                        " beside nodes that stay in float32 is not known (" +
                                        QuotePython(half.untyped.front()) +
                                        "): no cast was made there; --shape-inference may find it");
  }
}

std::string DescribeLosses(const Float16Losses& losses) {
  std::string text;
  const auto add = [&](uint64_t count, const char* what) {
    if (count == 0) return;
    text += (text.empty() ? "" : ", ") + std::to_string(count) + what;
  };
  const std::string largest = FormatG(static_cast<double>(losses.largest), 6);
  add(losses.too_large, (" beyond " + largest + " became " + largest + " with their sign").c_str());
  add(losses.too_small, " nearer to zero than 1e-07, but not zero, became 1e-07 with their sign");
  return text;
}

}  // namespace

// A model and what is to be changed in it.
struct ModelSource::Edit {
  const OnnxModel* file = nullptr;  // as it was opened
  std::optional<OnnxModel> inferred;
  ExternalDataOptions external_options;
  ExternalDataReport external;
  std::vector<WirePatch> patches;
  std::vector<ReplacedValues> values;
  std::vector<std::string_view> outputs;
  std::shared_ptr<Float16Losses> losses;

  const OnnxModel& model() const { return inferred ? *inferred : *file; }
  bool changed() const { return inferred || !patches.empty() || !values.empty(); }
};

Result<std::shared_ptr<const ModelSource>> ModelSource::Prepare(const ModelPlan& plan,
                                                                Logger& logger,
                                                                const PythonWorker& python) {
  const LogArea area(logger, log_area::kOnnx);
  auto source = std::make_shared<ModelSource>();
  source->request_.model_path = plan.path;
  source->request_.external_data_dir = plan.external_data_dir;
  if (plan.type == ModelTypeName(ModelType::kOnnx)) {
    VERNIER_TRY(source->PrepareOnnx(plan, python, logger));
  } else {
    WarnOfOnnxOptions(plan, logger);
  }
  return std::shared_ptr<const ModelSource>(std::move(source));
}

Status ModelSource::Save(const ModelPlan& plan, Logger& logger, const PythonWorker& python) {
  const LogArea area(logger, log_area::kOnnx);
  if (plan.type != ModelTypeName(ModelType::kOnnx)) {
    const std::optional<ModelType> type = ModelTypeFromName(plan.type);
    const std::string_view way_out = type ? WayOut(*type) : std::string_view();
    return InvalidArgument("Model type: " + plan.type +
                           " could not be converted to an ONNX model." +
                           (way_out.empty() ? "" : "\nNote: " + std::string(way_out)));
  }
  ModelSource source;
  source.for_runner_ = false;
  return source.PrepareOnnx(plan, python, logger);
}

Result<std::shared_ptr<const ModelSource>> ModelSource::Assemble(const ModelPlan& plan,
                                                                 const BytePieces& model,
                                                                 std::vector<TensorInfo> inputs,
                                                                 std::vector<std::string> outputs) {
  auto source = std::make_shared<ModelSource>();
  source->request_.model_path = plan.path;
  source->request_.external_data_dir = plan.external_data_dir;
  source->request_.inputs = std::move(inputs);
  source->request_.outputs = std::move(outputs);
  VERNIER_ASSIGN_OR_RETURN(const int memory, ToMemfd(model));
  source->edited_.Reset(memory);
  source->request_.model_bytes = model.size();
  return std::shared_ptr<const ModelSource>(std::move(source));
}

Status ModelSource::PrepareOnnx(const ModelPlan& plan, const PythonWorker& python, Logger& logger) {
  VERNIER_ASSIGN_OR_RETURN(const OnnxModel model, OnnxModel::Open(plan.path));
  const Status status = Describe(plan, python, model, logger);
  // A file that was cut short explains every other error, and none must not hide it.
  VERNIER_TRY(model.CheckIntact());
  return status;
}

Status ModelSource::Describe(const ModelPlan& plan, const PythonWorker& python,
                             const OnnxModel& file, Logger& logger) {
  if (plan.edited() || !plan.save_path.empty() || !plan.external_data_dir.empty()) {
    // Polygraphy reads the file itself in these cases only, and says so.
    logger.Info("Loading model: " +
                std::filesystem::absolute(plan.path).lexically_normal().string());
  }
  Edit edit;
  edit.file = &file;
  edit.external_options = ExternalOptions(plan);
  // Runtimes look at what they are given; what is written or converted here, nothing else checks.
  if (!plan.save_path.empty() || plan.fp_to_fp16) VERNIER_TRY(CheckEmbeddedValues(file));
  VERNIER_ASSIGN_OR_RETURN(edit.external, CheckWeights(plan, file, logger));
  if (plan.print_summary) logger.Once(Severity::kInfo, SummariseOnnx(file), LogColor::kDefault);
  precision_ = plan.fp_to_fp16 ? "float16" : PrecisionOf(file);
  if (plan.shape_inference) VERNIER_TRY(InferShapesOf(plan, python, edit, logger));
  request_.inputs = edit.model().RequiredInputs();
  declared_outputs_ = edit.model().Outputs();
  VERNIER_TRY(CheckInputTypes(plan.path, edit.model()));
  VERNIER_TRY(MarkOutputs(plan, edit, logger));
  random_operator_ = FindRandomOperator(file, edit.outputs, ExternalOptions(plan));
  if (plan.fp_to_fp16) VERNIER_TRY(MakeFloat16(plan, edit, logger));
  if (!plan.save_path.empty()) {
    VERNIER_TRY(file.CheckIntact());
    VERNIER_TRY(SaveEdited(plan, edit, logger));
  }
  if (!for_runner_) return {};
  // Runtimes look for weights beside a model that they read by path.
  const bool by_path = !edit.changed() && plan.external_data_dir.empty();
  if (by_path) return {};
  VERNIER_TRY(HandOver(plan, edit));
  ReportLosses(edit, logger);
  return {};
}

Status ModelSource::InferShapesOf(const ModelPlan& plan, const PythonWorker& python, Edit& edit,
                                  Logger& logger) {
  VERNIER_ASSIGN_OR_RETURN(
      const DetachedModel detached,
      DetachWeights(*edit.file, plan.ignore_external_data ? nullptr : &edit.external,
                    edit.external_options));
  if (!python) return Unimplemented("--shape-inference is not for this use of a model");
  VERNIER_ASSIGN_OR_RETURN(const std::shared_ptr<Worker> worker, python());
  VERNIER_ASSIGN_OR_RETURN(const InferredModel inferred,
                           InferShapes(*worker, detached.bytes, ToolOf(plan)));
  for (const auto& [severity, text] : inferred.notes) logger.Once(severity, text);
  const auto owner = std::make_shared<const Tensor>(inferred.file);
  VERNIER_ASSIGN_OR_RETURN(OnnxModel model,
                           OnnxModel::FromBytes(owner->bytes(), owner, edit.file->path()));
  edit.inferred.emplace(std::move(model));
  edit.external_options.detached = detached.prefix;
  VERNIER_ASSIGN_OR_RETURN(edit.values, AttachWeights(*edit.inferred, *edit.file, detached.prefix));
  if (plan.ignore_external_data) return {};
  VERNIER_ASSIGN_OR_RETURN(edit.external, CheckExternalData(*edit.inferred, edit.external_options));
  return {};
}

Status ModelSource::MarkOutputs(const ModelPlan& plan, Edit& edit, Logger& logger) {
  const OnnxModel& model = edit.model();
  if (!plan.edited()) {
    for (const OnnxValue& output : model.graph().outputs) edit.outputs.push_back(output.name);
    for (const TensorInfo& output : model.Outputs()) request_.outputs.push_back(output.name);
    return {};
  }
  if (MeansAllOutputs(plan.outputs)) logger.Verbose("Marking all ONNX tensors as outputs");
  VERNIER_ASSIGN_OR_RETURN(
      edit.outputs, SelectOnnxOutputs(model,
                                      {Given(plan.outputs), Given(plan.outputs_by_type),
                                       Given(plan.exclude_outputs), plan.skips_unknown_types},
                                      logger));
  request_.outputs.assign(edit.outputs.begin(), edit.outputs.end());
  edit.patches = EditOutputs(model, edit.outputs).patches;
  return {};
}

Status ModelSource::MakeFloat16(const ModelPlan& plan, Edit& edit, Logger& logger) {
  logger.Info("Converting float tensors to float16");
  const WeightSources sources{plan.ignore_external_data ? nullptr : &edit.external, edit.values,
                              edit.external_options};
  const auto range = plan.fp16_clamps ? Float16Range::kClamp : Float16Range::kKeepNodes;
  VERNIER_ASSIGN_OR_RETURN(Float16Edit half,
                           ConvertToFloat16(edit.model(), edit.outputs, sources, {}, range));
  if (half.empty() && half.kept_nodes == 0) {
    logger.Once(Severity::kWarning, "--fp-to-fp16: '" + plan.path + "' has no float32 tensor");
  }
  ReportFloat16(half, logger);
  edit.patches.insert(edit.patches.end(), std::make_move_iterator(half.patches.begin()),
                      std::make_move_iterator(half.patches.end()));
  std::set<const char*> narrowed;
  for (const ReplacedValues& values : half.values) narrowed.insert(values.tensor.bytes.data());
  std::erase_if(edit.values, [&](const ReplacedValues& values) {
    return narrowed.contains(values.tensor.bytes.data());
  });
  edit.values.insert(edit.values.end(), std::make_move_iterator(half.values.begin()),
                     std::make_move_iterator(half.values.end()));
  edit.losses = half.losses;
  return {};
}

Status ModelSource::SaveEdited(const ModelPlan& plan, const Edit& edit, Logger& logger) {
  logger.Info("Saving ONNX model to: " + plan.save_path);
  if (plan.save_threshold_given && !plan.save_external_data) {
    logger.Warning(
        "size_threshold is set, but external data path has not been set. No external data will "
        "be written.");
  }
  SaveOnnxOptions options;
  options.source = edit.external_options;
  options.ignore_weights = plan.ignore_external_data;
  options.external_path = plan.save_external_data;
  options.size_threshold = plan.save_external_threshold;
  options.one_file = plan.save_one_file;
  options.values = edit.values;
  options.log = &logger;
  VERNIER_TRY(SaveOnnx(edit.model(), edit.patches, plan.save_path, options));
  ReportLosses(edit, logger);
  return {};
}

// Known once the weights were written; each writing counts anew.
void ModelSource::ReportLosses(const Edit& edit, Logger& logger) {
  if (edit.losses == nullptr) return;
  const std::string text =
      DescribeLosses(std::exchange(*edit.losses, {.largest = edit.losses->largest}));
  if (!text.empty()) logger.Once(Severity::kWarning, "--fp-to-fp16: of the weights " + text);
}

// The edited bytes go to the worker in memory; the weights' folder goes along by name.
Status ModelSource::HandOver(const ModelPlan& plan, Edit& edit) {
  std::vector<WirePatch> patches = edit.patches;
  for (const ReplacedValues& values : edit.values) VERNIER_TRY(PatchValues(values, patches));
  VERNIER_ASSIGN_OR_RETURN(const BytePieces pieces,
                           ApplyPatches(edit.model().bytes(), std::move(patches)));
  if (pieces.size() >= kLargestOnnxFile) return HandOverAsFiles(edit);
  std::optional<ExternalFolder> folder;
  if (!edit.external.slices.empty()) {
    VERNIER_ASSIGN_OR_RETURN(ExternalFolder opened,
                             ExternalFolder::Open(plan.path, edit.external_options));
    folder.emplace(std::move(opened));
  }
  VERNIER_ASSIGN_OR_RETURN(const int memory, ToMemfd(pieces, folder ? &*folder : nullptr));
  edited_.Reset(memory);
  request_.model_bytes = pieces.size();
  return {};
}

// Runtimes take no model of this size from memory.
Status ModelSource::HandOverAsFiles(const Edit& edit) {
  VERNIER_ASSIGN_OR_RETURN(ScratchFolder folder, ScratchFolder::Create());
  files_.emplace(std::move(folder));
  request_.model_path = files_->path() + "/model.onnx";
  request_.external_data_dir = "";
  SaveOnnxOptions options;
  options.source = edit.external_options;
  options.external_path = "";
  options.values = edit.values;
  return SaveOnnx(edit.model(), edit.patches, request_.model_path, options);
}

}  // namespace vernier
