#include "blame/sides/foreign_reference.h"

#include <string_view>

#include "model/onnx/model_type.h"
#include "run/runner/resolve_runner.h"

namespace vernier {
namespace {

constexpr std::string_view kTensorFlowBackend = "tensorflow";

void Drop(std::string_view key, RunnerPlan& runner) {
  std::erase_if(runner.session_options, [&](const auto& option) { return option.first == key; });
}

}  // namespace

bool IsForeign(const RunnerPlan& runner) {
  const bool hands_out = runner.backend == kTensorFlowBackend || runner.backend == "torch";
  return hands_out && runner.model.type != ModelTypeName(ModelType::kOnnx);
}

Result<RunnerPlan> WithInnerTensors(RunnerPlan runner, ModelConversions& conversions) {
  if (runner.backend != kTensorFlowBackend) {
    // The plug-in, which runs TorchScript without Python, hands out no inner tensors.
    if (runner.place == RunnerPlace::kAuto) runner.place = RunnerPlace::kPython;
    return runner;
  }
  // All of them are asked for where they are wanted.
  if (HasOption(runner, "outputs", "*")) Drop("outputs", runner);
  if (HasOption(runner, "outputs")) {
    return InvalidArgument("--tf-outputs: blame examines all tensors of '" + runner.name +
                           "'; leave it out, and name outputs that belong together with "
                           "--map-outputs");
  }
  if (runner.model.type != ModelTypeName(ModelType::kSavedModel)) return runner;
  Drop(kConvertOption, runner);
  runner.session_options.emplace_back(kConvertOption, "frozen");
  VERNIER_ASSIGN_OR_RETURN(runner.model, conversions.ModelOf(runner));
  // These are about the SavedModel.
  for (const std::string_view key :
       {kConvertOption, std::string_view("model_type"), std::string_view("signature")}) {
    Drop(key, runner);
  }
  return runner;
}

OptionList MarksOf(const RunnerPlan& runner, std::span<const std::string> names) {
  OptionList marks;
  if (!IsForeign(runner)) return marks;
  const std::string key = runner.backend == kTensorFlowBackend ? "outputs" : "mark";
  for (const std::string& name : names) marks.emplace_back(key, name);
  return marks;
}

}  // namespace vernier
