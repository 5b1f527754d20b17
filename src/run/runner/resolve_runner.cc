#include "run/runner/resolve_runner.h"

#include <algorithm>

#include "backend/known/known_backends.h"
#include "backend/known/python_program.h"
#include "run/runner/engine_use.h"
#include "run/runner/model_conversion.h"

namespace vernier {
namespace {

// What the backend opens, as far as that is known before it is loaded; empty: not known.
std::span<const std::string> FormatsOf(std::string_view backend) {
  const KnownBackend* const known = FindKnownBackend(backend);
  if (known == nullptr) return {};
  return known->model_formats;
}

bool Lists(std::span<const std::string> formats, ModelType type) {
  return ListsFormat(formats, ModelTypeName(type), {});
}

Status NotConverted(ModelType type) {
  std::string text = "Model type: " + std::string(ModelTypeName(type)) +
                     " could not be converted to an ONNX model.";
  if (const std::string_view way_out = WayOut(type); !way_out.empty()) {
    text += "\nNote: " + std::string(way_out);
  }
  return InvalidArgument(text);
}

// A plan that is resolved again stays as it is.
void AddOnce(std::string_view key, std::string_view value, RunnerPlan& runner) {
  if (!HasOption(runner, key, value)) runner.session_options.emplace_back(key, value);
}

// Keras models are given to the Python part. SavedModels of which more than the outputs is wanted,
// and Keras models whose inferences are to be traced, are frozen there.
void ResolveTensorFlow(ModelType type, RunnerPlan& runner) {
  // A graph of functions has to be taken apart for constants and for tensors inside of them.
  const bool inside = HasOption(runner, "freeze_graph", "1") || HasOption(runner, "outputs", "*");
  // Keras has no traces; its graph has.
  const bool traced = HasOption(runner, "save_timeline");
  if ((type == ModelType::kSavedModel && inside) || (type == ModelType::kKeras && traced)) {
    AddOnce(kConvertOption, "frozen", runner);
    return;
  }
  if (type != ModelType::kKeras) {
    AddOnce("model_type", ModelTypeName(type), runner);
    return;
  }
  runner.backend = "keras";
  runner.backend_options = {{"module", "keras"}};
  runner.session_options.emplace_back("script", "builtin:keras");
  // A Python runner is given its options as a mapping.
  std::string outputs;
  for (const auto& [key, value] : runner.session_options) {
    if (key == "outputs") outputs += (outputs.empty() ? "" : "\n") + value;
  }
  runner.session_options.emplace_back("tf_outputs", outputs);
}

// Backends that read ONNX take TensorFlow's models converted.
Status ResolveForOnnx(ModelType type, const std::string& extra, RunnerPlan& runner) {
  ModelPlan& model = runner.model;
  const std::span<const std::string> formats = FormatsOf(runner.backend);
  const bool converted = IsConvertedFor(formats, type);
  if (converted) {
    ConvertToOnnx(runner);
  } else if (!formats.empty() && !Lists(formats, type)) {
    return NotConverted(type);
  }
  if (!BuildsEngines(runner.backend)) return {};
  GiveModelToTensorRt(converted ? ModelType::kOnnx : type, extra, runner);
  // Outputs marked in the ONNX file are the other runners'; TensorRT's are --trt-outputs.
  model.outputs.clear();
  model.exclude_outputs.clear();
  model.outputs_by_type.clear();
  return {};
}

}  // namespace

void ServeInPython(RunnerPlan& runner) {
  const PythonRunner* const served = FindPythonRunner(runner.backend);
  // A script of the user's has no module that is looked for.
  if (served == nullptr || served->module.empty() || HasOption(runner, "script")) return;
  runner.session_options.emplace_back("script", "builtin:" + runner.backend);
  runner.backend_options.emplace_back("module", served->module);
}

bool MeansAll(const std::vector<std::string>& words) {
  return words == std::vector<std::string>{"*"} || words == std::vector<std::string>{"mark", "all"};
}

void PassMarks(const std::vector<std::string>& words, RunnerPlan& runner) {
  // A script, and what Python makes of a file, may have tensors that no other runner shows.
  const bool opaque = IsPythonBackend(runner.backend) && OpensAnyFile(FormatsOf(runner.backend));
  if (!opaque || HasOption(runner, "mark")) return;
  const std::vector<std::string> all = {"*"};
  for (const std::string& word : MeansAll(words) ? all : words) {
    runner.session_options.emplace_back("mark", word);
  }
}

void GiveModelToTensorRt(ModelType type, const std::string& extra, RunnerPlan& runner) {
  AddOnce("model_type", ModelTypeName(type), runner);
  if (!extra.empty()) AddOnce("model_extra", extra, runner);
  if (type == ModelType::kTrtNetworkScript) runner.place = RunnerPlace::kPython;
}

bool ReadsTensorFlow(std::string_view backend) {
  const std::span<const std::string> formats = FormatsOf(backend);
  return Lists(formats, ModelType::kFrozen) && !OpensAnyFile(formats);
}

bool OpensAnyFile(std::span<const std::string> formats) { return ListsFormat(formats, {}, {}); }

bool IsConvertedFor(std::span<const std::string> formats, ModelType type) {
  return IsTensorFlowModel(type) && !Lists(formats, type) && Lists(formats, ModelType::kOnnx);
}

Status CheckFormat(const ModelPlan& model, std::span<const std::string> formats) {
  if (ListsFormat(formats, model.type, model.path)) return {};
  VERNIER_ASSIGN_OR_RETURN(const ModelType type,
                           InferModelType(model.path, {ModelTypeFromName(model.type)}));
  return formats.empty() && WayOut(type).empty() ? Status() : NotConverted(type);
}

void ConvertToOnnx(RunnerPlan& runner) { AddOnce(kConvertOption, "onnx", runner); }

bool HasOption(const RunnerPlan& runner, std::string_view key) {
  return std::any_of(runner.session_options.begin(), runner.session_options.end(),
                     [&](const auto& option) { return option.first == key; });
}

bool HasOption(const RunnerPlan& runner, std::string_view key, std::string_view value) {
  return std::any_of(
      runner.session_options.begin(), runner.session_options.end(),
      [&](const auto& option) { return option.first == key && option.second == value; });
}

void WarnOfMissingModel(const std::string& path, Logger& logger) {
  logger.Once(Severity::kWarning, "Model path does not exist: " + path);
}

Status ResolveRunner(RunnerPlan& runner, Logger& logger) {
  ServeInPython(runner);
  ModelPlan& model = runner.model;
  if (model.path.empty()) return {};  // ValidatePlan says so
  ModelTypeHints hints;
  const std::span<const std::string> formats = FormatsOf(runner.backend);
  hints.tensorflow_runner = ReadsTensorFlow(runner.backend);
  hints.checkpoint_given = HasOption(runner, "ckpt");
  if (!model.type.empty()) hints.given = ModelTypeFromName(model.type);
  const ModelPath path = SplitModelPath(model.path);
  if (!path.exists) WarnOfMissingModel(path.path, logger);
  const Result<ModelType> inferred = InferModelType(path.path, hints);
  model.path = path.path;
  // Plug-ins that are not vernier's say what they open once they have been loaded.
  const bool says_later = FindKnownBackend(runner.backend) == nullptr;
  if (!inferred.ok() && (says_later || ListsFormat(formats, {}, path.path))) return {};
  VERNIER_ASSIGN_OR_RETURN(const ModelType type, inferred);
  model.type = std::string(ModelTypeName(type));
  if (!WayOut(type).empty() && !says_later && !Lists(formats, type)) return NotConverted(type);
  // The names of an ONNX model's tensors are not a script's, but `all` may be of both.
  if (type == ModelType::kOnnx && !MeansAll(model.outputs)) {
    std::erase_if(runner.session_options,
                  [](const auto& option) { return option.first == "mark"; });
  }
  if (!hints.tensorflow_runner) return ResolveForOnnx(type, path.extra, runner);
  ResolveTensorFlow(type, runner);
  return {};
}

}  // namespace vernier
