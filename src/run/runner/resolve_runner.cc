#include "run/runner/resolve_runner.h"

#include <algorithm>
#include <iterator>

#include "backend/onnx_runtimes.h"
#include "backend/python_program.h"
#include "run/runner/model_conversion.h"

namespace vernier {
namespace {

constexpr std::string_view kTensorRt = "tensorrt";
constexpr std::string_view kTensorFlow = "tensorflow";

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
  // Out-of-tree backends may read what they like.
  constexpr std::string_view kReadOnnx[] = {"onnxruntime", "pluginref", "onnxref", kTensorRt,
                                            "identity"};
  const bool reads_onnx =
      IsOnnxRuntime(runner.backend) ||
      std::find(std::begin(kReadOnnx), std::end(kReadOnnx), runner.backend) != std::end(kReadOnnx);
  const bool converted = reads_onnx && IsTensorFlowModel(type);
  const bool needs_onnx = reads_onnx && runner.backend != kTensorRt &&
                          runner.backend != "openvino" && runner.backend != "identity";
  if (converted) {
    ConvertToOnnx(runner);
  } else if (needs_onnx && type != ModelType::kOnnx) {
    return InvalidArgument("Model type: " + model.type +
                           " could not be converted to an ONNX model.");
  }
  if (runner.backend != kTensorRt) return {};
  GiveModelToTensorRt(converted ? ModelType::kOnnx : type, extra, runner);
  // Outputs marked in the ONNX file are the other runners'; TensorRT's are --trt-outputs.
  model.outputs.clear();
  model.exclude_outputs.clear();
  model.outputs_by_type.clear();
  return {};
}

}  // namespace

void ServeInPython(RunnerPlan& runner) {
  const bool served = runner.backend == kTensorRt || IsPythonBackend(runner.backend);
  if (!served || runner.backend == "python" || HasOption(runner, "script")) return;
  runner.session_options.emplace_back("script", "builtin:" + runner.backend);
  // Looked for before anything is opened, and whose version is reported.
  const bool own_module = runner.backend == kTensorRt || runner.backend == "keras";
  const std::string framework = runner.backend == "onnxref" ? "onnx" : "torch";
  runner.backend_options.emplace_back("module", own_module ? runner.backend : framework);
}

bool MeansAll(const std::vector<std::string>& words) {
  return words == std::vector<std::string>{"*"} || words == std::vector<std::string>{"mark", "all"};
}

void PassMarks(const std::vector<std::string>& words, RunnerPlan& runner) {
  // A script may have tensors that no other runner shows.
  const bool opaque = runner.backend == "python" || runner.backend == "torch";
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
  hints.tensorflow_runner = runner.backend == kTensorFlow;
  hints.checkpoint_given = HasOption(runner, "ckpt");
  if (!model.type.empty()) hints.given = ModelTypeFromName(model.type);
  const ModelPath path = SplitModelPath(model.path);
  if (!path.exists) WarnOfMissingModel(path.path, logger);
  const Result<ModelType> inferred = InferModelType(path.path, hints);
  model.path = path.path;
  const bool opaque = runner.backend == "python" || runner.backend == "torch";
  // OpenVINO's own format, which no other backend reads.
  const bool is_ir = runner.backend == "openvino" && path.path.ends_with(".xml");
  if (!inferred.ok() && (opaque || is_ir)) return {};
  VERNIER_ASSIGN_OR_RETURN(const ModelType type, inferred);
  model.type = std::string(ModelTypeName(type));
  // TensorRT 8 reads UFF and Caffe; newer plug-ins say what to do instead.
  const bool tries = opaque || runner.backend == kTensorRt;
  if (const std::string_view way_out = WayOut(type); !way_out.empty() && !tries) {
    return InvalidArgument(
        "Model type: " + model.type +
        " could not be converted to an ONNX model.\nNote: " + std::string(way_out));
  }
  // The names of an ONNX model's tensors are not a script's, but `all` may be of both.
  if (type == ModelType::kOnnx && !MeansAll(model.outputs)) {
    std::erase_if(runner.session_options,
                  [](const auto& option) { return option.first == "mark"; });
  }
  if (runner.backend != kTensorFlow) return ResolveForOnnx(type, path.extra, runner);
  ResolveTensorFlow(type, runner);
  return {};
}

}  // namespace vernier
