// Commands whose work is done by Python packages of the user: the tools of libexec/vernier/tools.
#include <filesystem>
#include <optional>
#include <string>

#include "backend/worker.h"
#include "cli/bind_model.h"
#include "cli/bind_run.h"
#include "cli/commands/command_start.h"
#include "cli/commands/commands.h"
#include "cli/commands/interruption.h"
#include "cli/commands/python_tools.h"
#include "cli/commands/surgery.h"
#include "cli/file_conflicts.h"
#include "run/model_source.h"
#include "run/worker_pool.h"
#include "util/scratch_folder.h"

namespace vernier {
namespace {

struct Tool {
  const char* command;          ///< "plugin list"
  const char* module;           ///< the file in libexec/vernier/tools
  const char* extra = nullptr;  ///< an option that the command stands for
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
  if (!args.Has("model_file")) {
    return InvalidArgument(std::string(tool.command) + ": no model file was given");
  }
  // Before Python is asked for what it lacks.
  const std::string model(*args.Value("model_file"));
  const std::string file = model.substr(0, model.find(".py:"));
  if (file == model && !std::filesystem::exists(file)) {
    return Malformed("cannot open '" + file + "': No such file or directory");
  }
  if (const auto folder = args.Value("plugin_dir")) {
    if (!std::filesystem::is_directory(*folder)) {
      return Malformed("--plugin-dir: there is no folder '" + AbsolutePath(std::string(*folder)) +
                       "'");
    }
  }
  if (std::string_view(tool.module) == "shard_hints") {
    VERNIER_TRY(CheckFileConflicts(args, "output"));
  }
  const bool shards = std::string_view(tool.module) == "sharding";
  if (!shards || args.Has("hint_file") || args.Has("one_shot")) return {};
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

int Run(const Tool& tool, std::span<const std::string> words, const Invocation& invocation) {
  const CommandStart start = StartCommand(*FindCommand(tool.command), words, invocation);
  if (start.exit_code) return *start.exit_code;
  return EndCommand(RunTool(tool, start.args, *start.log), invocation, *start.log);
}

}  // namespace

Status RunPythonTool(const char* command, const char* module, const ParsedArgs& args,
                     ConsoleLog& log) {
  return RunTool({command, module}, args, log);
}

int InspectCapabilityCommand(std::span<const std::string> words, const Invocation& invocation) {
  return Run({"inspect capability", "capability"}, words, invocation);
}

int PluginListCommand(std::span<const std::string> words, const Invocation& invocation) {
  return Run({"plugin list", "plugin_patterns", "list"}, words, invocation);
}

int PluginMatchCommand(std::span<const std::string> words, const Invocation& invocation) {
  return Run({"plugin match", "plugin_patterns"}, words, invocation);
}

int PluginReplaceCommand(std::span<const std::string> words, const Invocation& invocation) {
  return Run({"plugin replace", "plugin_replacement"}, words, invocation);
}

int PluginAutotuneCommand(std::span<const std::string> words, const Invocation& invocation) {
  return Run({"plugin autotune", "plugin_autotune"}, words, invocation);
}

int ShardHintsCommand(std::span<const std::string> words, const Invocation& invocation) {
  return Run({"template shard-hints", "shard_hints"}, words, invocation);
}

int MultiDeviceShardCommand(std::span<const std::string> words, const Invocation& invocation) {
  return Run({"multi-device shard", "sharding"}, words, invocation);
}

}  // namespace vernier
