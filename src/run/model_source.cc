#include "run/model_source.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "model/external_data.h"
#include "model/model_type.h"
#include "model/onnx_edit.h"
#include "model/onnx_model.h"
#include "model/onnx_outputs.h"
#include "model/onnx_save.h"
#include "model/onnx_summary.h"

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
std::string PrecisionOf(const OnnxModel& model) {
  std::set<std::string> types;
  const auto add = [&](DType dtype) {
    if (Kind(dtype) == DTypeKind::kFloat) types.emplace(DTypeName(dtype));
  };
  for (const OnnxTensor& weight : model.graph().initializers) add(weight.dtype);
  for (const OnnxValue& value : model.graph().inputs) {
    if (types.empty()) add(value.dtype);
  }
  const bool quantized =
      std::any_of(model.graph().nodes.begin(), model.graph().nodes.end(),
                  [](const OnnxNode& node) { return node.op_type.find("QLinear") == 0 ||
                                                    node.op_type == "QuantizeLinear"; });
  std::string text = quantized ? "int8" : "";
  for (const std::string& type : types) text += (text.empty() ? "" : "+") + type;
  return text.empty() ? "integers" : text;
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

Status CheckWeights(const ModelPlan& plan, const OnnxModel& model, Logger& logger) {
  if (plan.ignore_external_data) return {};
  VERNIER_ASSIGN_OR_RETURN(const ExternalDataReport external,
                           CheckExternalData(model, ExternalOptions(plan)));
  for (const ExternalFileInfo& file : external.files) {
    if (file.hard_links > 1) logger.Verbose("weights file '" + file.path + "' has several hard links");
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<const ModelSource>> ModelSource::Prepare(const ModelPlan& plan,
                                                                Logger& logger) {
  const LogArea area(logger, log_area::kOnnx);
  auto source = std::make_shared<ModelSource>();
  source->request_.model_path = plan.path;
  source->request_.external_data_dir = plan.external_data_dir;
  if (plan.type == ModelTypeName(ModelType::kOnnx)) {
    VERNIER_TRY(source->PrepareOnnx(plan, logger));
  }
  return std::shared_ptr<const ModelSource>(std::move(source));
}

Status ModelSource::Save(const ModelPlan& plan, Logger& logger) {
  const LogArea area(logger, log_area::kOnnx);
  if (plan.type != ModelTypeName(ModelType::kOnnx)) {
    return InvalidArgument("Model type: " + plan.type + " could not be converted to an ONNX model.");
  }
  ModelSource source;
  source.for_runner_ = false;
  return source.PrepareOnnx(plan, logger);
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

Status ModelSource::PrepareOnnx(const ModelPlan& plan, Logger& logger) {
  VERNIER_ASSIGN_OR_RETURN(const OnnxModel model, OnnxModel::Open(plan.path));
  const Status status = Describe(plan, model, logger);
  // A file that was cut short explains every other error, and none must not hide it.
  VERNIER_TRY(model.CheckIntact());
  return status;
}

Status ModelSource::Describe(const ModelPlan& plan, const OnnxModel& model, Logger& logger) {
  if (plan.edited() || !plan.save_path.empty() || !plan.external_data_dir.empty()) {
    // The peer reads the file itself in these cases only, and says so.
    logger.Info("Loading model: " + std::filesystem::absolute(plan.path).lexically_normal().string());
  }
  VERNIER_TRY(CheckWeights(plan, model, logger));
  if (plan.print_summary) logger.Once(Severity::kInfo, SummariseOnnx(model), LogColor::kDefault);
  precision_ = PrecisionOf(model);
  request_.inputs = model.RequiredInputs();
  VERNIER_TRY(CheckInputTypes(plan.path, model));
  std::vector<WirePatch> patches;
  if (plan.edited()) {
    VERNIER_ASSIGN_OR_RETURN(patches, MarkOutputs(plan, model, logger));
  } else {
    for (const TensorInfo& output : model.Outputs()) request_.outputs.push_back(output.name);
  }
  if (!plan.save_path.empty()) {
    VERNIER_TRY(model.CheckIntact());
    logger.Info("Saving ONNX model to: " + plan.save_path);
    if (plan.save_threshold_given && !plan.save_external_data) {
      logger.Warning(
          "size_threshold is set, but external data path has not been set. No external data will "
          "be written.");
    }
    SaveOnnxOptions options;
    options.source = ExternalOptions(plan);
    options.ignore_weights = plan.ignore_external_data;
    options.external_path = plan.save_external_data;
    options.size_threshold = plan.save_external_threshold;
    options.one_file = plan.save_one_file;
    VERNIER_TRY(SaveOnnx(model, patches, plan.save_path, options));
  }
  if (!for_runner_) return {};
  // Runtimes look for weights beside a model that they read by path.
  const bool by_path = patches.empty() && plan.external_data_dir.empty();
  return by_path ? Status() : HandOver(model, std::move(patches));
}

Result<std::vector<WirePatch>> ModelSource::MarkOutputs(const ModelPlan& plan,
                                                        const OnnxModel& model, Logger& logger) {
  if (MeansAllOutputs(plan.outputs)) logger.Verbose("Marking all ONNX tensors as outputs");
  VERNIER_ASSIGN_OR_RETURN(
      const std::vector<std::string_view> names,
      SelectOnnxOutputs(model,
                        {Given(plan.outputs), Given(plan.outputs_by_type), Given(plan.exclude_outputs)},
                        logger));
  request_.outputs.assign(names.begin(), names.end());
  return EditOutputs(model, names).patches;
}

// The edited bytes go to the worker in memory; the weights' folder goes along by name.
Status ModelSource::HandOver(const OnnxModel& model, std::vector<WirePatch> patches) {
  VERNIER_ASSIGN_OR_RETURN(const BytePieces pieces, ApplyPatches(model.bytes(), std::move(patches)));
  VERNIER_ASSIGN_OR_RETURN(const int memory, ToMemfd(pieces));
  edited_.Reset(memory);
  request_.model_bytes = pieces.size();
  return {};
}

}  // namespace vernier
