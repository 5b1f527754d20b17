// The graph of a model as text.
#include <algorithm>

#include "cli/commands/command_start.h"
#include "cli/commands/commands.h"
#include "model/model_type.h"
#include "report/model_text.h"

namespace vernier {
namespace {

Status Inspect(const ParsedArgs& args, ConsoleLog& log) {
  const std::string path(*args.Value("model_file"));
  const auto type = args.Value("model_type");
  ModelTypeHints hints;
  if (type) hints.given = ModelTypeFromName(*type);
  VERNIER_ASSIGN_OR_RETURN(const ModelType found, InferModelType(path, hints));
  if (found != ModelType::kOnnx) {
    return Unimplemented("inspect model shows ONNX models, and '" + path + "' is of type " +
                         std::string(ModelTypeName(found)));
  }
  if (const auto other = args.Value("display_as")) {
    return Unimplemented(std::string(args.Flag("display_as")) + " " + std::string(*other) +
                         " is not in this version of vernier: a model is shown as it is");
  }
  log.Info("Loading model: " + path);
  VERNIER_ASSIGN_OR_RETURN(const OnnxModel model, OnnxModel::Open(path));
  const std::span<const std::string> words = args.List("show");
  const auto shows = [&](std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  ModelTextOptions options;
  options.layers = shows("layers");
  options.attributes = shows("attrs");
  options.weights = shows("weights");
  options.external_data_dir = std::string(args.Value("external_data_dir").value_or(""));
  options.statistics = shows("stats");
  std::string text;
  if (const auto layer = args.Value("layer")) {
    VERNIER_ASSIGN_OR_RETURN(text, FormatLayer(model, options, std::string(*layer)));
  } else {
    text = FormatModel(model, options);
  }
  VERNIER_TRY(model.CheckIntact());
  log.Info("==== ONNX Model ====\n" + text);
  return {};
}

}  // namespace

int InspectModelCommand(std::span<const std::string> words, const Invocation& invocation) {
  const CommandStart start = StartCommand(*FindCommand("inspect model"), words, invocation);
  if (start.exit_code) return *start.exit_code;
  return EndCommand(Inspect(start.args, *start.log), invocation, *start.log);
}

}  // namespace vernier
