// A new node in a model.
#include "cli/commands/bind_inference.h"
#include "cli/commands/model_tool.h"
#include "cli/table/commands.h"
#include "options/table/option_sets.h"
#include "surgeon/node_insertion.h"

namespace vernier {
namespace {

Status Insert(const ParsedArgs& args, const Invocation& invocation, ConsoleLog& log) {
  NewNode node;
  VERNIER_TRY(BindOptions(args, {.log = &log}, {node}));
  VERNIER_ASSIGN_OR_RETURN(ToolModel opened, ToolModel::Open(args, invocation.as_polygraphy, log));
  opened.LogSummary("Original Model:", log);
  VERNIER_ASSIGN_OR_RETURN(OnnxModel inserted, WithNode(opened.model().now(), node));
  opened.model().Become(std::move(inserted));
  if (opened.plan().shape_inference) VERNIER_TRY(InferShapesAsAsked(args, opened.model(), log));
  return opened.Save(log);
}

int SurgeonInsertCommand(std::span<const std::string> words, const Invocation& invocation) {
  const auto work = [&](const ParsedArgs& args, ConsoleLog& log) {
    return Insert(args, invocation, log);
  };
  return RunModelTool(kSurgeonInsertCommand, work, false, words, invocation);
}

}  // namespace

constexpr CommandSpec kSurgeonInsertCommand = {
    .name = "surgeon insert",
    .section = CommandSection::kModels,
    .operands = "model_file --inputs NAME ... --outputs NAME ... --op OP -o FILE [options ...]",
    .summary = "insert a node into an ONNX model, replacing a subgraph",
    .about =
        "Write the model with a new node that reads and produces tensors of the model. The nodes"
        " that produced its outputs before are removed, as is everything that is no longer needed."
        " If a tensor is both input and output, the node is inserted after it: consumers of the"
        " tensor then read the node's output.",
    .options =
        [] {
          return OptionTable(
              {SurgeonOptions(InsertGroup()), OnnxShapeInferenceGroup(), AnyWorkerOptions()});
        },
    .run = SurgeonInsertCommand,
};

}  // namespace vernier
