#include "cli/bind_tensorflow.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "run/model_conversion.h"
#include "run/resolve_runner.h"

namespace vernier {
namespace {

// Handed to the plug-in under their dests, or under other keys.
struct Passed {
  std::string_view dest, key;
};
constexpr Passed kTfPassedOn[] = {
    {"ckpt", "ckpt"},
    {"tf_signature", "signature"},
    {"save_frozen_graph_path", "save_pb"},
    {"save_tensorboard_path", "save_tensorboard"},
    {"freeze_graph", "freeze_graph"},
    {"gpu_memory_fraction", "gpu_memory_fraction"},
    {"allow_growth", "allow_growth"},
    {"xla", "xla"},
    {"save_timeline", "save_timeline"},
};

// `*`, and the older `mark all`.
std::vector<std::string> OutputWords(std::span<const std::string> words) {
  const std::vector<std::string> given(words.begin(), words.end());
  const bool all = given == std::vector<std::string>{"mark", "all"} ||
                   given == std::vector<std::string>{"mark all"};
  return all ? std::vector<std::string>{"*"} : given;
}

void SetOutputs(const std::vector<std::string>& words, RunnerPlan& runner) {
  std::erase_if(runner.session_options,
                [](const auto& option) { return option.first == "outputs"; });
  for (const std::string& word : words) runner.session_options.emplace_back("outputs", word);
}

}  // namespace

bool IsTensorFlowDest(std::string_view dest) {
  return dest == "tf_lib" || dest == "tf_outputs" ||
         std::any_of(std::begin(kTfPassedOn), std::end(kTfPassedOn),
                     [&](const Passed& passed) { return passed.dest == dest; });
}

Status BindTensorFlow(const ParsedArgs& args, RunnerPlan& runner) {
  if (runner.backend != "tensorflow") return BindTensorFlowConversion(args, runner);
  for (const GivenOption& given : args.given()) {
    const auto passed = std::find_if(std::begin(kTfPassedOn), std::end(kTfPassedOn),
                                     [&](const Passed& p) { return p.dest == given.row->dest; });
    if (passed == std::end(kTfPassedOn)) continue;
    const std::string value = given.row->arity == Arity::kNone ? "1" : given.values.front();
    runner.session_options.emplace_back(passed->key, value);
    // Whether XLA takes graphs for the CPU is settled when the library loads.
    if (passed->key == "xla") runner.backend_options.emplace_back("xla", "1");
  }
  if (const auto library = args.Value("tf_lib")) {
    runner.backend_options.emplace_back("lib", *library);
  }
  if (args.Has("tf_outputs")) SetOutputs(OutputWords(args.List("tf_outputs")), runner);
  // What marks every tensor of the run marks TensorFlow's, too.
  if (args.Has("mark_all")) SetOutputs({"*"}, runner);
  return {};
}

Status BindTensorFlowConversion(const ParsedArgs& args, RunnerPlan& runner) {
  VERNIER_ASSIGN_OR_RETURN(const std::optional<int64_t> opset, args.Int("opset"));
  if (opset && *opset < 1) {
    return InvalidArgument("--opset: expected a number >= 1, got '" + std::to_string(*opset) + "'");
  }
  constexpr Passed kOfConversion[] = {
      {"opset", "opset"}, {"ckpt", "ckpt"}, {"tf_signature", "signature"}};
  for (const Passed& passed : kOfConversion) {
    if (const auto value = args.Value(passed.dest)) {
      runner.session_options.emplace_back(passed.key, *value);
    }
  }
  if (!args.Has("tf_outputs")) return {};
  std::erase_if(runner.session_options,
                [](const auto& option) { return option.first == "tf_outputs"; });
  for (const std::string& word : OutputWords(args.List("tf_outputs"))) {
    runner.session_options.emplace_back("tf_outputs", word);
  }
  return {};
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
  constexpr Passed kUses[] = {{"opset", "a TensorFlow model that is converted to ONNX"},
                              {"tf_outputs", "a TensorFlow model"},
                              {"tf_signature", "a TensorFlow model"}};
  for (const auto& [dest, model] : kUses) {
    if (!args.Has(dest) || (dest == "opset" ? converted : tensorflow)) continue;
    const std::string text =
        std::string(args.Flag(dest)) + " has an effect only with " + std::string(model);
    if (dest == "tf_signature") return InvalidArgument(text + ": leave it out");
    logger.Warning(text);
  }
  return {};
}

}  // namespace vernier
