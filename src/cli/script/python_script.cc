#include "cli/script/python_script.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "cli/script/python_script_writer.h"
#include "compare/functions/metric_table.h"
#include "core/version.h"
#include "options/bind/bind_runners.h"
#include "options/table/command_options.h"
#include "run/runner/own_python.h"
#include "util/text/shell_words.h"
#include "util/text/visible_text.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

bool IsInApi(const OptionRow& row) {
  return row.in_api == InApi::kAsOrigin ? row.origin == Origin::kPolygraphy
                                        : row.in_api == InApi::kYes;
}

Status RefuseScript(const std::string& what) { return Unimplemented(what); }

Status CheckFlags(const ParsedArgs& args) {
  if (!args.plugin_options().empty()) {
    const PluginOption& given = args.plugin_options().front();
    return RefuseScript("Polygraphy's Python API has nothing like --" + given.backend + "." +
                        given.option);
  }
  for (const GivenOption& given : args.given()) {
    const OptionRow& row = *given.row;
    if (row.action == OptionAction::kRunner || IsInApi(row)) continue;
    return RefuseScript("Polygraphy's Python API has nothing like " + std::string(given.flag));
  }
  return {};
}

// What is asked of one runner alone, within --runner.
Status CheckOwnFlags(const RunnerChoice& choice) {
  if (choice.kind != "runner") return {};
  VERNIER_ASSIGN_OR_RETURN(const LabelledRunner split, SplitRunner(choice.value));
  const OptionTable table = RunOptionTable();
  ParseResult parsed = ParseCommandLine(table, split.words);
  TakePluginOptions(parsed);
  return CheckFlags(parsed.args);
}

// Options within --runner, of which an engine's lines are not made.
bool HasOwnOptions(const RunnerChoice& choice) {
  if (choice.kind != "runner") return false;
  const Result<LabelledRunner> split = SplitRunner(choice.value);
  return !split.ok() || std::any_of(split->words.begin(), split->words.end(),
                                    [](const std::string& word) { return word.starts_with('-'); });
}

Status CheckRunners(const RunPlan& plan, const ParsedArgs& args) {
  size_t engines = 0;
  const std::vector<RunnerChoice> choices = args.Runners();
  for (size_t i = 0; i < plan.runners.size(); ++i) {
    const RunnerPlan& runner = plan.runners[i];
    if (!OwnPython(runner).empty()) {
      return RefuseScript("Polygraphy has one Python for all runners");
    }
    VERNIER_TRY(CheckOwnFlags(choices[i]));
    const bool written = runner.backend == "onnxruntime" || runner.backend == "pluginref";
    if (written && runner.model.type == "onnx") continue;
    const std::string& type = runner.model.type;
    const bool known = type == "onnx" || type == "engine" || type == "trt-network-script";
    const bool engine = runner.backend == "tensorrt" && known && args.plugin_options().empty() &&
                        !HasOwnOptions(choices[i]);
    if (engine && ++engines == 1) continue;
    return RefuseScript("a script for Polygraphy's API cannot describe all of '" + runner.name +
                        "'");
  }
  return {};
}

// Of several statistics for an output Polygraphy takes the last; here all of them count.
Status CheckMeasures(const CompareOptions& options) {
  for (const CompareFunction function : options.functions) {
    const MetricRow* const metric = FindMetric(function);
    const bool ours = metric == nullptr ? function == CompareFunction::kLogits : metric->is_ours();
    if (!ours) continue;
    return RefuseScript("Polygraphy's Python API has nothing like --compare " +
                        std::string(CompareFunctionName(function)));
  }
  const PerOutput<std::vector<ErrorStat>>& stats = options.check_error_stat;
  bool several = stats.fallback && stats.fallback->size() > 1;
  for (const auto& [name, list] : stats.entries) several |= list.size() > 1;
  return several ? RefuseScript("Polygraphy takes one --check-error-stat for an output") : Status();
}

Status CheckSavedSides(const RunPlan& plan) {
  for (const std::string& label : plan.load_labels) {
    if (label.empty()) continue;
    return RefuseScript("Polygraphy's Python API has nothing like --load-outputs " + label +
                        "=FILE");
  }
  return {};
}

std::string SeverityName(Severity severity) {
  constexpr std::pair<Severity, std::string_view> kNames[] = {
      {Severity::kUltraVerbose, "ULTRA_VERBOSE"},
      {Severity::kSuperVerbose, "SUPER_VERBOSE"},
      {Severity::kExtraVerbose, "EXTRA_VERBOSE"},
      {Severity::kVerbose, "VERBOSE"},
      {Severity::kInfo, "INFO"},
      {Severity::kStart, "START"},
      {Severity::kFinish, "FINISH"},
      {Severity::kWarning, "WARNING"},
      {Severity::kError, "ERROR"},
      {Severity::kCritical, "CRITICAL"}};
  for (const auto& [known, name] : kNames) {
    if (known == severity) return "G_LOGGER." + std::string(name);
  }
  return "G_LOGGER.INFO";
}

}  // namespace

Result<std::string> PythonScript::Write(const Invocation& invocation) {
  Loggers();
  VERNIER_TRY(DataLoader());
  VERNIER_TRY(Runners());
  Functions();
  Execution();
  Results();
  Postprocessing();
  Verdict();
  return Head(invocation) + body_;
}

std::string PythonScript::TemplateHead(const Invocation& invocation) const {
  return "#!/usr/bin/env python3\n# Written by vernier " + std::string(kVersion) +
         " for Polygraphy 0.53.\n# Generation Command: " +
         // A line break would end the comment, and what follows were code.
         VisibleLine(JoinForShell(invocation.words)) + "\n";
}

std::string PythonScript::Head(const Invocation& invocation) const {
  std::string text =
      TemplateHead(invocation) + "\nfrom polygraphy.logger import G_LOGGER\n" + logger_ + "\n";
  for (const auto& [module, names] : imports_) {
    text += "from " + module + " import ";
    bool first = true;
    for (const std::string& name : names) {
      text += (first ? "" : ", ") + name;
      first = false;
    }
    text += "\n";
  }
  for (const std::string& lazy : lazies_) text += lazy + "\n";
  return text + (lazy_.empty() ? "" : lazy_ + "\n");
}

void PythonScript::Loggers() {
  const ConsoleLogOptions& options = words_.log;
  const bool leveled = options.threshold != Severity::kInfo || !options.areas.empty();
  if (words_.log_words.silent) {
    logger_ += "G_LOGGER.module_severity = G_LOGGER.CRITICAL\n";
  } else if (leveled) {
    std::string levels = "'': " + SeverityName(options.threshold);
    for (const auto& area : options.areas) {
      levels += ", " + QuotePython(area.area) + ": " + SeverityName(area.threshold);
    }
    logger_ += "G_LOGGER.module_severity = {" + levels + "}\n";
  }
  if (options.timestamp) logger_ += "G_LOGGER.timestamp = True\n";
  if (options.line_info) logger_ += "G_LOGGER.line_info = True\n";
  if (words_.log_words.no_colors) logger_ += "G_LOGGER.colors = False\n";
  if (!options.log_file.empty()) {
    logger_ += "G_LOGGER.log_file = " + QuotePython(options.log_file) + "\n";
  }
}

void PythonScript::Execution() {
  if (plan_.runners.empty()) return;
  const ExecutionPlan& execution = plan_.execution;
  const SavePlan& save = plan_.save;
  Title("Runner Execution");
  PythonCall call("Comparator.run");
  Import("polygraphy.comparator", "Comparator");
  call.Add("runners")
      .AddIf(execution.warm_up > 0, "warm_up", std::to_string(execution.warm_up))
      .AddIf(has_data_loader_, "data_loader", data_is_a_function_ ? "data_loader()" : "data_loader")
      .AddIf(execution.use_subprocess, "use_subprocess", "True")
      .AddIf(!save.inputs.empty(), "save_inputs_path", QuotePython(save.inputs))
      .AddIf(!save.outputs.empty(), "save_outputs_path", QuotePython(save.outputs))
      .AddIf(!save.input_blobs.empty(), "save_input_blob_path", QuotePython(save.input_blobs))
      .AddIf(!IsSequential(), "streaming", "True");
  Let("results", call.Text());
}

void PythonScript::Results() {
  const bool sequential = IsSequential();
  Title("Comparison Inputs");
  std::string list = plan_.runners.empty() ? "" : "results";
  for (const std::string& path : plan_.load_outputs) {
    Import("polygraphy.comparator", "RunResults");
    PythonCall load(sequential ? "RunResults.load" : "RunResults.load_streaming");
    load.Add(QuotePython(path)).AddIf(!sequential, "allow_dirs", "True");
    list += (list.empty() ? "" : ", ") + load.Text();
  }
  Let("runs", "[" + list + "]");
}

Result<std::string> WritePythonScript(const RunPlan& plan, const ParsedArgs& args,
                                      const Invocation& invocation) {
  VERNIER_TRY(CheckFlags(args));
  VERNIER_TRY(CheckRunners(plan, args));
  VERNIER_TRY(CheckMeasures(plan.compare));
  VERNIER_TRY(CheckSavedSides(plan));
  ScriptWords words;
  VERNIER_ASSIGN_OR_RETURN(words.log, BindLog(args));
  words.log_words = ReadWords<LogWords>(args);
  for (const RunnerChoice& choice : args.Runners()) {
    words.labelled.push_back(choice.kind == "runner");
  }
  return PythonScript(plan, std::move(words)).Write(invocation);
}

}  // namespace vernier
