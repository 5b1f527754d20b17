// Commands whose work is done by Python packages of the user: the tools of libexec/vernier/tools.
#include <filesystem>
#include <optional>
#include <string>

#include "backend/worker/worker.h"
#include "cli/commands/command_start.h"
#include "cli/commands/interruption.h"
#include "cli/commands/model_tool.h"
#include "cli/commands/python_tools.h"
#include "cli/table/commands.h"
#include "options/bind/bind_model.h"
#include "options/bind/bind_run.h"
#include "options/bind/file_conflicts.h"
#include "options/table/command_words.h"
#include "options/table/given_field.h"
#include "options/table/option_sets.h"
#include "run/workers/model_source.h"
#include "run/workers/worker_pool.h"
#include "util/files/scratch_folder.h"

namespace vernier {
namespace {

struct Tool {
  const char* module;           ///< the file in libexec/vernier/tools
  const char* extra = nullptr;  ///< an option that the command stands for
  std::string command = {};     ///< "plugin list"
};

// As vernier_worker/tools.py takes it apart.
std::string EncodeOptions(const Tool& tool, const ParsedArgs& args, const std::string& source) {
  const auto record = [](std::string_view key) { return "\x1e" + std::string(key); };
  std::string text;
  for (const GivenOption& given : args.given()) {
    text += record(given.row->dest);
    for (const std::string& word : given.values) text += "\x1f" + word;
  }
  if (tool.extra != nullptr) text += record(tool.extra);
  if (!source.empty()) text += record("model_source") + "\x1f" + source;
  return text;
}

// A model that the command line changes goes through a file of its own, as in `vernier convert`.
Result<std::string> ChangedModel(const ParsedArgs& args, WorkerPool& pool,
                                 std::optional<ScratchFolder>& folder, Logger& log) {
  VERNIER_ASSIGN_OR_RETURN(ModelPlan model, BindModel(args));
  const bool changed = model.edited() || model.shape_inference || model.fp_to_fp16 ||
                       !model.external_data_dir.empty();
  if (!changed || model.path.empty()) return std::string();
  VERNIER_ASSIGN_OR_RETURN(ScratchFolder made, ScratchFolder::Create());
  folder.emplace(std::move(made));
  model.type = "onnx";
  model.save_path = folder->path() + "/model.onnx";
  const std::string path = model.save_path;
  model.save_external_data = "weights.bin";
  VERNIER_TRY(ModelSource::Save(model, log, [&] { return pool.GetForScripts(); }));
  return path;
}

// What argparse would ask for, where a row cannot.
Status CheckGiven(const Tool& tool, const ParsedArgs& args) {
  const GivenOption* const given = FindGiven<&ModelPlan::path>(args);
  if (given == nullptr) return InvalidArgument(tool.command + ": no model file was given");
  // Before Python is asked for what it lacks.
  const std::string& model = given->values.front();
  const std::string file = model.substr(0, model.find(".py:"));
  if (file == model && !std::filesystem::exists(file)) {
    return Malformed("cannot open '" + file + "': No such file or directory");
  }
  const PythonToolWords words = ReadWords<PythonToolWords>(args);
  if (words.plugin_dir && !std::filesystem::is_directory(*words.plugin_dir)) {
    return Malformed("--plugin-dir: there is no folder '" + AbsolutePath(*words.plugin_dir) + "'");
  }
  if (std::string_view(tool.module) == "shard_hints") {
    VERNIER_TRY(CheckFileConflicts(args, "output"));
  }
  const bool shards = std::string_view(tool.module) == "sharding";
  if (!shards || words.hint_file || words.one_shot) return {};
  return InvalidArgument("one of the arguments -s/--hint --one-shot is required");
}

Status RunTool(const Tool& tool, const ParsedArgs& args, ConsoleLog& log) {
  VERNIER_TRY(CheckGiven(tool, args));
  ExecutionPlan execution;
  VERNIER_TRY(BindWorkers(args, execution));
  WorkerPool pool(execution, WatchSignals(), log);
  std::optional<ScratchFolder> folder;
  VERNIER_ASSIGN_OR_RETURN(const std::string source, ChangedModel(args, pool, folder, log));
  VERNIER_ASSIGN_OR_RETURN(const std::shared_ptr<Worker> worker, pool.GetForScripts());
  VERNIER_TRY(worker->AwaitLoad().status());
  MessageWriter body;
  body.Number<uint64_t>(1);
  body.Text("tool");
  body.Text(tool.module);
  body.Text(EncodeOptions(tool, args, source));
  return worker->Ask(MessageType::kOpenScript, body, -1, tool.command).status();
}

int Run(const CommandSpec& command, Tool tool, std::span<const std::string> words,
        const Invocation& invocation) {
  const CommandStart start = StartCommand(command, words, invocation);
  if (start.exit_code) return *start.exit_code;
  tool.command = command.name;
  return EndCommand(RunTool(tool, start.args, *start.log), invocation, *start.log);
}

}  // namespace

Status RunPythonTool(const char* command, const char* module, const ParsedArgs& args,
                     ConsoleLog& log) {
  return RunTool({.module = module, .command = command}, args, log);
}

namespace {

// The model of commands about plugins, with the inputs that Polygraphy's parser accepts, though
// nothing is run.
std::vector<CommandGroup> PluginModelOptions() {
  return Together({GeneralGroup(), LoggingGroup(),
                   Only(ModelGroup(), {"model_file", "model_type", "input_shapes"}),
                   OnnxShapeInferenceGroup(), NewOutputOptions(), ToolInputOptions()});
}

int InspectCapabilityCommand(std::span<const std::string> words, const Invocation& invocation) {
  return Run(kInspectCapabilityCommand, {"capability"}, words, invocation);
}

int PluginListCommand(std::span<const std::string> words, const Invocation& invocation) {
  return Run(kPluginListCommand, {"plugin_patterns", "list"}, words, invocation);
}

int PluginMatchCommand(std::span<const std::string> words, const Invocation& invocation) {
  return Run(kPluginMatchCommand, {"plugin_patterns"}, words, invocation);
}

int PluginReplaceCommand(std::span<const std::string> words, const Invocation& invocation) {
  return Run(kPluginReplaceCommand, {"plugin_replacement"}, words, invocation);
}

int PluginAutotuneCommand(std::span<const std::string> words, const Invocation& invocation) {
  return Run(kPluginAutotuneCommand, {"plugin_autotune"}, words, invocation);
}

int ShardHintsCommand(std::span<const std::string> words, const Invocation& invocation) {
  return Run(kShardHintsCommand, {"shard_hints"}, words, invocation);
}

int MultiDeviceShardCommand(std::span<const std::string> words, const Invocation& invocation) {
  return Run(kMultiDeviceShardCommand, {"sharding"}, words, invocation);
}

}  // namespace

constexpr CommandSpec kInspectCapabilityCommand = {
    .name = "inspect capability",
    .section = CommandSection::kTensorRt,
    .operands = "model_file [options ...]",
    .summary = "show which parts of an ONNX model TensorRT supports",
    .about =
        "Read a model with TensorRT's ONNX parser, and list what it does not support and why; with"
        " --with-partitioning the supported and the unsupported parts are saved as models. Needs"
        " the Python package tensorrt; without it the exit code is 5.",
    .options =
        [] {
          return OptionTable({GeneralGroup(), LoggingGroup(), ModelFileOptions(), CapabilityGroup(),
                              OnnxShapeInferenceGroup(), LoadedModelOptions(),
                              MarkedOutputOptions(), SavedModelOptions(), PythonWorkerOptions()});
        },
    .run = InspectCapabilityCommand,
};

constexpr CommandSpec kShardHintsCommand = {
    .name = "template shard-hints",
    .section = CommandSection::kTensorRt,
    .operands = "model_file -o FILE.json [options ...]",
    .summary = "find where a model can be sharded across devices",
    .about =
        "Find attention layers and the inputs and outputs that depend on them, and write hints for"
        " multi-device shard, as Polygraphy does. Needs the Python package onnx-graphsurgeon.",
    .options =
        [] {
          return OptionTable({GeneralGroup(), LoggingGroup(), ModelFileOptions(), TemplateGroup(),
                              LoadedModelOptions(), MarkedOutputOptions(), ShardHintGroup(),
                              PythonWorkerOptions()});
        },
    .run = ShardHintsCommand,
};

constexpr CommandSpec kPluginListCommand = {
    .name = "plugin list",
    .section = CommandSection::kTensorRt,
    .operands = "model_file --plugin-dir DIR [options ...]",
    .summary = "count the subgraphs of a model that plugins could replace",
    .about =
        "Count the subgraphs that plugins could replace, as the pattern.py of each plugin"
        " describes them. Needs the Python package onnx-graphsurgeon, as the patterns do.",
    .options =
        [] {
          return OptionTable({PluginModelOptions(), PluginPatternGroup(), PythonWorkerOptions()});
        },
    .run = PluginListCommand,
};

constexpr CommandSpec kPluginMatchCommand = {
    .name = "plugin match",
    .section = CommandSection::kTensorRt,
    .operands = "model_file --plugin-dir DIR [options ...]",
    .summary = "write a list of the subgraphs that plugins could replace",
    .about =
        "Write the subgraphs that plugins could replace, with their inputs, outputs and"
        " attributes, to config.yaml. Needs the Python packages onnx-graphsurgeon and PyYAML.",
    .options =
        [] {
          return OptionTable({PluginModelOptions(), PluginPatternGroup(),
                              Only(PluginFileGroup(), {"output"}), PythonWorkerOptions()});
        },
    .run = PluginMatchCommand,
};

constexpr CommandSpec kPluginReplaceCommand = {
    .name = "plugin replace",
    .section = CommandSection::kTensorRt,
    .operands = "model_file --plugin-dir DIR [options ...]",
    .summary = "replace subgraphs of a model with plugins",
    .about =
        "Replace each subgraph that config.yaml lists with one node, or as the plugin's own"
        " replace_with_plugin does. Needs the Python packages onnx-graphsurgeon and PyYAML.",
    .options =
        [] {
          return OptionTable({PluginModelOptions(), Only(PluginPatternGroup(), {"plugin_dir"}),
                              PluginFileGroup(), PythonWorkerOptions()});
        },
    .run = PluginReplaceCommand,
};

constexpr CommandSpec kPluginAutotuneCommand = {
    .name = "plugin autotune",
    .section = CommandSection::kTensorRt,
    .operands = "model_file --plugin-dir DIR -o FILE [options ...]",
    .summary = "find the plugin replacements that make TensorRT fastest",
    .about =
        "Build engines with subgraphs replaced by plugins, time them, and write the fastest"
        " model. Needs an NVIDIA GPU and the Python packages tensorrt, onnx-graphsurgeon and"
        " PyYAML.",
    .options =
        [] {
          return OptionTable({GeneralGroup(), LoggingGroup(), Only(ModelGroup(), {"model_file"}),
                              PluginPatternGroup(), PluginAutotuneGroup(), NewModelGroup(),
                              SavedModelOptions(), PythonWorkerOptions()});
        },
    .run = PluginAutotuneCommand,
};

constexpr CommandSpec kMultiDeviceShardCommand = {
    .name = "multi-device shard",
    .section = CommandSection::kTensorRt,
    .operands = "model_file -o FILE (-s HINTS | --one-shot) [options ...]",
    .summary = "shard a model across devices",
    .about =
        "Insert TensorRT's DistCollective nodes around attention layers, inputs and outputs, or"
        " with --parallelism TP write one model for each rank with its part of the weights. Needs"
        " the Python package onnx-graphsurgeon.",
    .options =
        [] {
          return OptionTable({GeneralGroup(), LoggingGroup(), ModelFileOptions(),
                              ShardSourceGroup(), ShardHintGroup(), NewModelGroup(),
                              OnnxShapeInferenceGroup(), LoadedModelOptions(),
                              MarkedOutputOptions(), SavedModelOptions(), PythonWorkerOptions()});
        },
    .run = MultiDeviceShardCommand,
};

}  // namespace vernier
