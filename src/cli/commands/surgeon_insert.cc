// A new node in a model.
#include "cli/commands/interruption.h"
#include "cli/commands/model_tool.h"
#include "cli/table/commands.h"
#include "inference/model_shapes.h"
#include "options/table/option_sets.h"
#include "surgeon/node_insertion.h"

namespace vernier {
namespace {

Result<NewNode> BindNode(const ParsedArgs& args) {
  NewNode node;
  node.op = std::string(args.Value("op").value_or(""));
  if (node.op.empty()) return InvalidArgument("--op: expected the name of an operator, got ''");
  node.name = std::string(args.Value("name").value_or(""));
  for (const std::string& name : args.List("inputs")) node.inputs.push_back(name);
  for (const std::string& name : args.List("outputs")) node.outputs.push_back(name);
  KeyRules rules;
  rules.separator = '=';
  rules.allow_empty_key = false;
  rules.bare_word_is_value = false;
  VERNIER_ASSIGN_OR_RETURN(node.attributes, ParseKeyedValues(args.List("attrs"), rules));
  return node;
}

Status Insert(const ParsedArgs& args, const Invocation& invocation, ConsoleLog& log) {
  VERNIER_ASSIGN_OR_RETURN(const NewNode node, BindNode(args));
  ExecutionPlan execution;
  VERNIER_TRY(BindWorkers(args, execution));
  VERNIER_ASSIGN_OR_RETURN(ToolModel opened, ToolModel::Open(args, invocation.as_polygraphy, log));
  opened.LogSummary("Original Model:", log);
  VERNIER_ASSIGN_OR_RETURN(OnnxModel inserted, WithNode(opened.model().now(), node));
  opened.model().Become(std::move(inserted));
  if (args.Has("do_shape_inference")) {
    const ShapeTool tool = args.Has("allow_onnxruntime") ? ShapeTool::kOnnx : ShapeTool::kSymbolic;
    VERNIER_TRY(InferShapes(opened.model(), execution, tool, WatchSignals(), log));
  }
  return opened.Save(args, log);
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
