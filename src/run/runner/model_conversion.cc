#include "run/runner/model_conversion.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

#include "backend/known/python_program.h"
#include "model/onnx/model_type.h"
#include "run/runner/own_python.h"
#include "run/workers/runner_session.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;

std::string OptionOf(const RunnerPlan& runner, std::string_view key) {
  std::string value;
  for (const auto& [name, text] : runner.session_options) {
    if (name == key) value = text;
  }
  return value;
}

using Options = std::vector<std::pair<std::string, std::string>>;

// The options that decide what comes out. Outputs of a TensorFlow runner are its own business,
// but for all of its tensors there is no word in the converted model.
Options ChoicesOf(const RunnerPlan& runner) {
  constexpr std::array<std::string_view, 4> kChoices = {"opset", "ckpt", "signature", "tf_outputs"};
  Options choices;
  for (const auto& [key, value] : runner.session_options) {
    if (std::find(kChoices.begin(), kChoices.end(), key) != kChoices.end()) {
      choices.emplace_back(key, value);
    } else if (key == "outputs" && value != "*") {
      choices.emplace_back("tf_outputs", value);
    }
  }
  return choices;
}

// A runner of the Python worker, whose one output is the converted model.
RunnerPlan Converter(const RunnerPlan& runner, const std::string& target) {
  RunnerPlan converter;
  converter.name = "converting '" + runner.model.path + "' to " + target;
  converter.backend = "tf2onnx";
  converter.model.path = runner.model.path;
  converter.model.type = runner.model.type;
  converter.backend_options.emplace_back("module", target == "onnx" ? "tf2onnx" : "tensorflow");
  if (const std::string python = OwnPython(runner); !python.empty()) {
    converter.backend_options.emplace_back(kOwnPython, python);
  }
  converter.session_options = {
      {"script", "builtin:tf2onnx"}, {"model_type", runner.model.type}, {"target", target}};
  for (auto& choice : ChoicesOf(runner)) {
    converter.session_options.push_back(std::move(choice));
  }
  return converter;
}

// A folder counts as a checkpoint, as for Polygraphy, whatever is in it.
Status CheckFolder(const RunnerPlan& runner) {
  std::error_code error;
  const fs::path folder(runner.model.path);
  const bool checkpoint = runner.model.type == ModelTypeName(ModelType::kCheckpoint);
  if (!checkpoint || !fs::is_directory(folder, error)) return {};
  if (fs::exists(folder / "checkpoint", error) || !OptionOf(runner, "ckpt").empty()) return {};
  return Malformed(
      "'" + runner.model.path +
      "' is a folder, and neither a SavedModel nor checkpoints of TensorFlow are in it");
}

}  // namespace

Result<ModelPlan> ModelConversions::ModelOf(const RunnerPlan& runner) {
  const std::string target = OptionOf(runner, kConvertOption);
  ModelPlan model = runner.model;
  if (target.empty()) return model;
  std::string key = target + '\n' + model.path;
  for (const auto& [option, value] : ChoicesOf(runner)) key += '\n' + option + '=' + value;
  if (converted_.find(key) == converted_.end()) {
    VERNIER_ASSIGN_OR_RETURN(converted_[key], Convert(runner, target));
  }
  model.path = converted_[key];
  const bool onnx = target == "onnx";
  model.type = ModelTypeName(onnx ? ModelType::kOnnx : ModelType::kFrozen);
  return model;
}

Result<std::string> ModelConversions::Convert(const RunnerPlan& runner, const std::string& target) {
  VERNIER_TRY(CheckFolder(runner));
  const RunnerPlan plan = Converter(runner, target);
  logger_.Start("Converting '" + runner.model.path + "' to " +
                (target == "onnx" ? "ONNX with tf2onnx" : "a frozen graph"));
  RunnerSession converter(plan);
  VERNIER_ASSIGN_OR_RETURN(std::shared_ptr<Worker> worker, pool_.Get(plan));
  converter.Attach(std::move(worker), 0);
  VERNIER_ASSIGN_OR_RETURN(const std::shared_ptr<const ModelSource> source,
                           ModelSource::Prepare(plan.model, logger_));
  VERNIER_TRY(converter.Open(*source));
  VERNIER_ASSIGN_OR_RETURN(const TensorBlock nothing, EncodeTensors({}));
  VERNIER_ASSIGN_OR_RETURN(const IterationResult result, converter.Infer(nothing, 0));
  (void)converter.Close();
  if (result.outputs.size() != 1) return BackendError(plan.name + ": there is no model");
  if (!folder_) {
    VERNIER_ASSIGN_OR_RETURN(ScratchFolder folder, ScratchFolder::Create());
    folder_.emplace(std::move(folder));
  }
  const std::string path = folder_->path() + "/" + std::to_string(converted_.size()) +
                           (target == "onnx" ? ".onnx" : ".pb");
  const std::span<const std::byte> bytes = result.outputs.front().tensor.bytes();
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file.good()) return Status(StatusCode::kIo, "'" + path + "' cannot be written");
  return path;
}

}  // namespace vernier
