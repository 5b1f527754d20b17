// Which weights of a model are 2:4 sparse.
#include <string>
#include <vector>

#include "cli/commands/model_tool.h"
#include "cli/commands/print_document.h"
#include "cli/table/commands.h"
#include "io/bytes/byte_sink.h"
#include "io/json/json_writer.h"
#include "options/table/document_format.h"
#include "options/table/option_sets.h"
#include "surgeon/sparse_weights.h"
#include "surgeon/weight_tools.h"
#include "util/log/no_log.h"

namespace vernier {
namespace {

// {"weights": [{"name": ..., "sparse": true}, ...]}
std::string FormatJson(const std::vector<PrunableWeight>& weights,
                       const std::unordered_set<std::string_view>& sparse) {
  StringSink sink;
  JsonWriter writer(sink);
  writer.BeginObject();
  writer.Key("weights");
  writer.BeginArray();
  for (const PrunableWeight& weight : weights) {
    writer.BeginObject();
    writer.Key("name");
    writer.String(weight.tensor->name);
    writer.Key("sparse");
    writer.Bool(sparse.contains(weight.tensor->name));
    writer.EndObject();
  }
  writer.EndArray();
  writer.EndObject();
  (void)writer.Finish();  // a string takes everything
  return sink.text();
}

Status InspectSparsity(const ParsedArgs& args, const Invocation& invocation, ConsoleLog& log) {
  const bool json = WantsDocument(args);
  NoLog silence;
  Logger& text_log = json ? static_cast<Logger&>(silence) : log;
  VERNIER_ASSIGN_OR_RETURN(const ToolModel opened,
                           ToolModel::Open(args, invocation.as_polygraphy, text_log));
  const EditableModel& model = opened.model();
  VERNIER_ASSIGN_OR_RETURN(const auto sparse, FindSparseWeights(model, text_log));
  VERNIER_TRY(model.original().CheckIntact());
  if (!json) return {};
  return PrintDocument(FormatJson(FindPrunableWeights(model.now(), {}, text_log), sparse));
}

int InspectSparsityCommand(std::span<const std::string> words, const Invocation& invocation) {
  const auto work = [&](const ParsedArgs& args, ConsoleLog& log) {
    return InspectSparsity(args, invocation, log);
  };
  return RunModelTool(kInspectSparsityCommand, work, true, words, invocation);
}

}  // namespace

constexpr CommandSpec kInspectSparsityCommand = {
    .name = "inspect sparsity",
    .section = CommandSection::kModels,
    .operands = "model_file [options ...]",
    .summary = "show which weights of an ONNX model are 2:4 sparse",
    .about =
        "Report which weights of Conv, Gemm and MatMul are 2:4 sparse, among those that could be."
        " The exit code is 0 either way.",
    .options =
        [] {
          return OptionTable({GeneralGroup(), LoggingGroup(), ModelFileOptions(),
                              StrictlyLoadedModelOptions(), DocumentGroup()});
        },
    .run = InspectSparsityCommand,
};

}  // namespace vernier
