#include "options/bind/bind_tensorflow.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "run/runner/model_conversion.h"
#include "run/runner/resolve_runner.h"

namespace vernier {

void MarkAllOfTensorFlow(RunnerPlan& runner) {
  std::erase_if(runner.session_options,
                [](const auto& option) { return option.first == "outputs"; });
  runner.session_options.emplace_back("outputs", "*");
}

Status CheckTensorFlowUse(const ParsedArgs& args, const RunPlan& plan, Logger& logger) {
  const std::vector<RunnerPlan>& runners = plan.runners;
  // A script may make of its options what it likes.
  const bool unknown =
      std::ranges::any_of(runners, [](const auto& runner) { return runner.backend == "python"; });
  if (plan.lenient || runners.empty() || unknown) return {};
  const bool converted = std::ranges::any_of(
      runners, [](const auto& runner) { return HasOption(runner, kConvertOption, "onnx"); });
  const bool tensorflow = std::ranges::any_of(runners, [](const auto& runner) {
    const std::optional<ModelType> type = ModelTypeFromName(runner.model.type);
    return type && IsTensorFlowModel(*type);
  });
  constexpr std::pair<std::string_view, std::string_view> kUses[] = {
      {"opset", "a TensorFlow model that is converted to ONNX"},
      {"tf_outputs", "a TensorFlow model"},
      {"tf_signature", "a TensorFlow model"}};
  for (const auto& [dest, model] : kUses) {
    if (!args.Has(dest) || (dest == "opset" ? converted : tensorflow)) continue;
    const std::string text =
        std::string(args.Flag(dest)) + " has no effect without " + std::string(model);
    if (dest == "tf_signature") return InvalidArgument(text + ": leave it out");
    logger.Warning(text);
  }
  return {};
}

}  // namespace vernier
