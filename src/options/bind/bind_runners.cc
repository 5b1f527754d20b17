#include "options/bind/bind_runners.h"
#include "options/table/command_options.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "inputs/dim_sizes.h"
#include "model/onnx/model_type.h"
#include "options/bind/bind_model.h"
#include "options/bind/bind_tensorflow.h"
#include "options/bind/bind_tensorrt.h"
#include "options/bind/option_use.h"
#include "options/table/command_words.h"
#include "options/table/given_field.h"
#include "options/words/flag_suggestion.h"
#include "options/words/repeated_words.h"
#include "run/runner/own_python.h"
#include "run/runner/resolve_runner.h"
#include "run/runner/runner_kinds.h"
#include "run/runner/script_runner.h"
#include "util/text/split_words.h"

namespace vernier {
namespace {

constexpr std::string_view kTensorRt = "tensorrt";

Status BindBackendOptions(const ParsedArgs& args, RunnerPlan& runner, Logger& logger) {
  const bool engine = runner.backend == kTensorRt;
  if (!engine) VERNIER_TRY(BindOptions(args, {.log = &logger}, {runner}));
  // What marks every tensor of the run marks TensorFlow's, too.
  if (runner.backend == "tensorflow" && ReadField<&MarkWords::all>(args)) {
    MarkAllOfTensorFlow(runner);
  }
  // A library that is named is for the plug-in: no other PyTorch will do.
  const bool own_torch = runner.backend == "torch" && args.Has("torch_lib");
  if (own_torch && !args.Has("torch_in")) runner.place = RunnerPlace::kPlugin;
  for (const PluginOption& given : args.plugin_options()) {
    if (KindOf(given.backend).backend != runner.backend) continue;
    // A plug-in says which options it has, but not which of its functions looks at them.
    runner.backend_options.emplace_back(given.option, given.value);
    runner.session_options.emplace_back(given.option, given.value);
    runner.plugin_options.push_back(given.option);
  }
  return engine ? BindTensorRt(args, runner, logger) : Status();
}

std::string TimeStamp(std::time_t now) {
  char text[64];
  std::tm local{};
  ::localtime_r(&now, &local);
  return {text, std::strftime(text, sizeof(text), "%x-%X", &local)};
}

// A runner's name, as Polygraphy makes it.
std::string NameOfRunner(const std::string& prefix, std::map<std::string, int>& counters,
                         std::time_t now) {
  return prefix + "-N" + std::to_string(counters[prefix]++) + "-" + TimeStamp(now);
}

// "'--intra-threads' is not an option of a runner; did you mean --intra-op-threads?"
std::string UnknownRunnerOption(const OptionTable& table, const std::string& word) {
  const std::string text = "'" + word + "' is not an option of a runner";
  const std::optional<std::string> near = SuggestFlag(table, word);
  const FlagEntry* entry = near ? table.Find(*near) : nullptr;
  if (entry == nullptr) return text;
  const OptionRow& row = *entry->row;
  if (row.action == OptionAction::kRunner) {
    return text + "; its backend is the first word, as in x='" + std::string(row.constant) + "'";
  }
  return row.sets.of_runner ? text + DidYouMeanFlag(table, word) : text;
}

// Options that another runner, or none, would have.
Status CheckLabelledOptions(const OptionTable& table, const ParsedArgs& own,
                            const LabelledRunner& split, bool lenient, Logger& logger) {
  const std::string where = "--runner " + split.label + ": ";
  for (const GivenOption& given : own.given()) {
    if (given.row->sets.of_runner) continue;
    return InvalidArgument(where + "'" + std::string(given.flag) +
                           "' applies to the whole run: give it outside of --runner");
  }
  if (lenient) return {};
  const std::string_view kind = RunnerFlagWord(split.backend);
  for (const Status& status : {CheckRepeatedWords(own), CheckRunnerOptions(table, own, kind)}) {
    if (!status.ok()) return InvalidArgument(where + status.message());
  }
  for (const std::string& text : RepeatedValueWarnings(own)) logger.Warning(where + text);
  return {};
}

// Of its framework, as options named them.
auto CountLibraries(const RunnerPlan& runner) {
  return std::count_if(runner.backend_options.begin(), runner.backend_options.end(),
                       [](const auto& option) { return option.first == "lib"; });
}

// A runner without a model of its own takes the run's, as its options change it.
Status BindLabelledModel(const ParsedArgs& own_args, const ModelPlan& run_model,
                         RunnerPlan& runner) {
  VERNIER_ASSIGN_OR_RETURN(runner.model, BindModel(own_args));
  if (runner.model.path.empty()) {
    ModelPlan own = std::move(runner.model);
    runner.model = run_model;
    if (!own.outputs.empty()) runner.model.outputs = own.outputs;
    runner.model.fp_to_fp16 |= own.fp_to_fp16;
    runner.model.shape_inference |= own.shape_inference;
    runner.model.symbolic_inference &= own.symbolic_inference;
    runner.model.ignore_external_data |= own.ignore_external_data;
    PassMarks(runner.model.outputs, runner);
  } else if (!runner.model.edited()) {
    // Names of the run are those of its model; this one's may be others.
    if (MeansAll(run_model.outputs)) PassMarks(run_model.outputs, runner);
    // What is marked for the run is marked in every runner's model.
    runner.model.outputs = run_model.outputs;
    runner.model.exclude_outputs = run_model.exclude_outputs;
    runner.model.outputs_by_type = run_model.outputs_by_type;
  } else {
    PassMarks(runner.model.outputs, runner);
  }
  return {};
}

// `--runner LABEL='BACKEND [MODEL] [OPTIONS]'`: the run's own options, then the runner's.
Result<RunnerPlan> BindLabelled(const std::string& text, const ParsedArgs& run_args,
                                const ModelPlan& run_model, Logger& logger) {
  VERNIER_ASSIGN_OR_RETURN(const LabelledRunner split, SplitRunner(text));
  const std::string flag = "--runner " + split.label;
  const std::string where = flag + ": ";
  const OptionTable table = RunOptionTable();
  ParseResult parsed = ParseCommandLine(table, split.words);
  TakePluginOptions(parsed);
  if (parsed.end != ParseEnd::kParsed) return InvalidArgument(where + parsed.error);
  if (!parsed.unknown.empty()) {
    return InvalidArgument(where + UnknownRunnerOption(table, parsed.unknown.front()));
  }
  RunnerPlan runner;
  runner.name = split.label;
  if (split.backend == "python") {
    return InvalidArgument(
        where + "a model in Python is named by its script alone: " + split.label + "='runner.py'");
  }
  if (IsPythonScript(split.backend) || IsProgramPath(split.backend)) {
    VERNIER_TRY(BindModelRunner(split.backend, runner).Annotate("--model-runner"));
  } else {
    VERNIER_TRY(CheckBackendName(split.backend, ReadField<&ExecutionPlan::backend_dirs>(run_args))
                    .Annotate(flag));
    runner.backend = std::string(KindOf(split.backend).backend);
  }
  VERNIER_TRY(CheckLabelledOptions(table, parsed.args, split,
                                   ReadField<&Leniency::lenient>(run_args), logger));
  VERNIER_TRY(BindBackendOptions(run_args, runner, logger));
  const auto libraries = CountLibraries(runner);
  VERNIER_TRY(BindBackendOptions(parsed.args, runner, logger));
  if (IsGiven<&ExecutionPlan::python>(parsed.args)) {
    const bool library_named = CountLibraries(runner) > libraries;
    const std::string python = ReadField<&ExecutionPlan::python>(parsed.args);
    VERNIER_TRY(UseOwnPython(python, library_named, runner).Annotate(flag));
  }
  VERNIER_ASSIGN_OR_RETURN(runner.dims, ParseDimSizes(ReadField<&FeedWords::dims>(parsed.args)));
  VERNIER_TRY(BindLabelledModel(parsed.args, run_model, runner));
  return runner;
}

// An option of a backend that no runner has would pass in silence.
Status CheckPluginOptions(const ParsedArgs& args, const RunPlan& plan) {
  for (const PluginOption& given : args.plugin_options()) {
    const std::string_view backend = KindOf(given.backend).backend;
    const bool used = std::any_of(plan.runners.begin(), plan.runners.end(),
                                  [&](const RunnerPlan& r) { return r.backend == backend; });
    if (used) continue;
    return InvalidArgument("--" + given.backend + "." + given.option +
                           ": no runner of this run "
                           "has the backend '" +
                           given.backend + "'");
  }
  return {};
}

// A path that leads to its file from any folder; a program that PATH has stays a name.
std::string FromAnywhere(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return path;
  return std::filesystem::absolute(path).lexically_normal().string();
}

}  // namespace

Result<LabelledRunner> SplitRunner(const std::string& text) {
  const size_t equals = text.find('=');
  const std::string usage =
      "--runner: expected LABEL='BACKEND [MODEL] [OPTIONS]', got '" + text + "'";
  if (equals == 0 || equals == std::string::npos) return InvalidArgument(usage);
  Result<std::vector<std::string>> split = SplitWords(text.substr(equals + 1));
  if (!split.ok()) {
    return InvalidArgument("--runner " + text.substr(0, equals) + ": " + split.status().message());
  }
  std::vector<std::string> words = *std::move(split);
  if (words.empty()) return InvalidArgument(usage);
  LabelledRunner runner{text.substr(0, equals), words.front(), {}};
  runner.words.assign(words.begin() + 1, words.end());
  return runner;
}

void ForEachOptionOfRunners(
    const ParsedArgs& args,
    const std::function<void(const std::string& flag, const GivenOption& given)>& visit) {
  const std::vector<RunnerChoice> choices = args.Runners();
  const auto has_words = [](const RunnerChoice& choice) { return choice.kind == "runner"; };
  if (std::ranges::none_of(choices, has_words)) return;
  const OptionTable table = RunOptionTable();
  for (const RunnerChoice& choice : choices) {
    const Result<LabelledRunner> split =
        has_words(choice) ? SplitRunner(choice.value) : InvalidArgument("no words");
    if (!split.ok()) continue;
    const ParseResult parsed = ParseCommandLine(table, split->words);
    for (const GivenOption& given : parsed.args.given()) {
      visit("--runner " + split->label + ": " + std::string(given.flag), given);
    }
  }
}

std::vector<std::string> RunnerWords(const RunnerPlan& runner) {
  std::vector<std::string> words;
  for (const RunnerKind& kind : RunnerKinds()) {
    if (kind.backend == runner.backend) words.push_back("--" + std::string(kind.flag_word));
  }
  for (const auto& [key, value] : runner.session_options) {
    if (runner.backend == "python" && key == "script")
      words = {"--model-runner", FromAnywhere(value)};
    if (runner.backend == "python" && key == "function") words.back() += ":" + value;
  }
  const OptionTable table = RunOptionTable();
  for (const auto* options : {&runner.backend_options, &runner.session_options}) {
    for (const auto& [key, value] : *options) {
      const OptionRow* row = table.FindOfBackend(runner.backend, key);
      if (row == nullptr || row->arity == Arity::kNone) continue;
      words.emplace_back(row->flags[0]);
      const bool is_path = row->metavar == "FILE" || row->metavar == "PATH";
      words.push_back(is_path ? FromAnywhere(value) : value);
    }
  }
  return words;
}

// --decode takes one word, so that the one behind it may be the model.
Status CheckNoDecodeWord(const ParsedArgs& args) {
  const std::string word = ReadField<&ModelPlan::path>(args);
  if (!IsGiven<&StepPlan::decode>(args) || !(word == "greedy" || word.starts_with("greedy:")))
    return {};
  return InvalidArgument("--decode takes one value; give it once for each: --decode " + word);
}

Status CheckModelIsUsed(const ParsedArgs& args) {
  const std::string model = ReadField<&ModelPlan::path>(args);
  const size_t runners = args.Runners().size();
  size_t with_others = 0;
  ForEachOptionOfRunners(args, [&](const std::string&, const GivenOption& given) {
    const bool names = SetsField<&ModelPlan::path>(*given.row) && !given.values.empty();
    with_others += names && given.values.front() != model ? 1 : 0;
  });
  if (model.empty() || runners == 0 || with_others < runners) return {};
  return InvalidArgument("'" + model +
                         "' is taken for the model, and no runner uses it, since each has one of "
                         "its own: leave it out");
}

Status BindRunners(const ParsedArgs& args, std::time_t now, RunPlan& plan, Logger& logger) {
  VERNIER_ASSIGN_OR_RETURN(const ModelPlan run_model, BindModel(args));
  const ModelPath run_path = SplitModelPath(run_model.path);
  if (!run_model.path.empty() && !run_path.exists) {
    VERNIER_TRY(CheckNoDecodeWord(args));
    WarnOfMissingModel(run_path.path, logger);
  }
  std::map<std::string, int> counters;
  for (const RunnerChoice& choice : args.Runners()) {
    RunnerPlan runner;
    if (choice.kind == "runner") {
      VERNIER_ASSIGN_OR_RETURN(runner, BindLabelled(choice.value, args, run_model, logger));
    } else if (choice.kind == "model-runner") {
      VERNIER_TRY(BindModelRunner(choice.value, runner).Annotate("--model-runner"));
      runner.name = NameOfRunner(ModelRunnerStem(runner), counters, now);
      runner.model = run_model;
      PassMarks(run_model.outputs, runner);
    } else {
      const RunnerKind kind = KindOf(choice.kind);
      runner.name = NameOfRunner(std::string(kind.name_prefix), counters, now);
      runner.backend = kind.backend;
      runner.model = run_model;
      VERNIER_TRY(BindBackendOptions(args, runner, logger));
      PassMarks(run_model.outputs, runner);
    }
    VERNIER_TRY(ResolveRunner(runner, logger));
    const bool taken = std::any_of(plan.runners.begin(), plan.runners.end(),
                                   [&](const RunnerPlan& r) { return r.name == runner.name; });
    if (taken) return InvalidArgument("--runner: the label '" + runner.name + "' is used twice");
    plan.runners.push_back(std::move(runner));
  }
  VERNIER_TRY(CheckTensorFlowUse(args, plan, logger));
  return CheckPluginOptions(args, plan);
}

}  // namespace vernier
