// Many models with the same options: a process each, one table.
#include <algorithm>
#include <optional>

#include "batch/batch.h"
#include "batch/find_models.h"
#include "cli/commands/batch_words.h"
#include "cli/commands/command_start.h"
#include "cli/commands/interruption.h"
#include "cli/table/commands.h"
#include "io/results/shard_file_name.h"
#include "options/bind/bind_run.h"
#include "options/bind/bind_shard.h"
#include "options/bind/file_conflicts.h"
#include "options/bind/shell_command.h"
#include "options/table/command_options.h"
#include "options/table/command_words.h"
#include "options/table/given_field.h"
#include "options/table/option_sets.h"
#include "report/files/junit.h"
#include "run/phases/shard_ending.h"
#include "util/files/atomic_file.h"
#include "util/log/no_log.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

Result<BatchPlan> BindBatch(const ParsedArgs& args, std::span<const std::string> options,
                            const Invocation& invocation) {
  if (options.empty()) {
    return InvalidArgument(
        "put the options for each model after --, for example: vernier batch '*.onnx' -- --onnxrt"
        " --openvino");
  }
  BatchPlan plan;
  VERNIER_TRY(BindOptions(args, {}, {plan}));
  plan.keep_records = !plan.report.empty();
  VERNIER_ASSIGN_OR_RETURN(const std::vector<BatchModel> models, FindBatchModels(plan.models));
  for (const BatchModel& model : models) {
    VERNIER_ASSIGN_OR_RETURN(RunWords run, RunWordsFor(model, options));
    run.words.insert(run.words.begin(), {invocation.words.front(), "run"});
    Invocation again = invocation;
    again.words = run.words;
    plan.runs.push_back(
        {model.path, model.stem, std::move(run.words), ReproCommand(again), std::move(run.record)});
  }
  return plan;
}

// Which of the models are this process's.
Result<ShardPlan> ShardOf(const ParsedArgs& args, size_t models, Logger& log) {
  std::string where;
  VERNIER_ASSIGN_OR_RETURN(const std::optional<ShardPlan> shard, FindShard(args, where));
  if (!shard) return ShardPlan();
  const auto total = static_cast<int64_t>(models);
  log.Info("--shard " + ShardText(*shard) + ": " +
           CountedOf(shard->CountOf(total), total, "model") +
           (where.empty() ? "" : ", from " + where));
  return *shard;
}

void KeepShare(const ShardPlan& shard, std::vector<BatchRun>& runs) {
  std::vector<BatchRun> own;
  const auto total = static_cast<int64_t>(runs.size());
  for (int64_t place = 0; place < shard.CountOf(total); ++place) {
    own.push_back(std::move(runs[static_cast<size_t>(shard.IndexOf(place, total))]));
  }
  runs = std::move(own);
}

// A shard of a run has no verdict: merge has, and a batch would call it nothing compared.
Status RefuseShardsOfRuns(const BatchPlan& plan) {
  if (plan.runs.empty()) return {};
  const OptionTable table = RunOptionTable();
  const ParseResult parsed = ParseCommandLine(table, std::span(plan.runs.front().words).subspan(2));
  if (!IsGiven<&ShardWords::shard>(parsed.args)) return {};
  return InvalidArgument(
      "--shard after --: a batch does not merge the shards of a run; give --shard before -- "
      "to divide the models, or use `vernier run --shard` for each model");
}

// What every model would be refused for alike is wrong with the options, and is said once.
Status CheckOptionsOfAll(const BatchPlan& plan, const Invocation& invocation) {
  if (plan.runs.size() < 2) return {};
  const OptionTable table = RunOptionTable();
  Status alike;
  NoLog silence;
  for (const BatchRun& run : plan.runs) {
    Invocation again = invocation;
    again.words = run.words;
    const auto words = std::span(run.words).subspan(2);
    const ParseResult parsed = ParseCommandLine(table, words);
    const Status bound = BindRun(parsed.args, again, silence).status();
    const bool differs = !alike.ok() && alike.message() != bound.message();
    if (bound.code() != StatusCode::kInvalidArgument || differs) return {};
    alike = bound;
  }
  return alike;
}

// No run may write what another reads or writes, which none of them can see.
Status CheckFilesOfAll(const BatchPlan& plan, const ParsedArgs& own) {
  const OptionTable table = RunOptionTable();
  std::vector<ParseResult> parsed;
  for (const BatchRun& run : plan.runs) {
    parsed.push_back(ParseCommandLine(table, std::span(run.words).subspan(2)));
  }
  std::vector<NamedCommand> commands = {{"the batch", &own}};
  for (size_t i = 0; i < parsed.size(); ++i) {
    const BatchRun& run = plan.runs[i];
    commands.push_back({"'" + run.model + "'", &parsed[i].args});
    if (plan.log_folder.empty()) continue;
    commands.front().logs.push_back(plan.log_folder + "/" + run.stem + ".log");
  }
  return CheckFilesBetween(commands);
}

// What is wrong with any of the models, which is wrong in every shard.
Status CheckBatch(const BatchPlan& plan, const ParsedArgs& own, const Invocation& invocation) {
  VERNIER_TRY(RefuseShardsOfRuns(plan));
  VERNIER_TRY(CheckOptionsOfAll(plan, invocation));
  return CheckFilesOfAll(plan, own);
}

int BatchCommand(std::span<const std::string> words, const Invocation& invocation) {
  const auto end = std::find(words.begin(), words.end(), "--");
  const std::vector<std::string> own(words.begin(), end);
  std::vector<std::string> options;
  if (end != words.end()) options.assign(end + 1, words.end());
  const CommandStart start = StartCommand(kBatchCommand, own, invocation);
  if (start.exit_code) return *start.exit_code;
  ConsoleLog& log = *start.log;
  Result<BatchPlan> plan = BindBatch(start.args, options, invocation);
  if (!plan.ok()) return EndCommand(plan.status(), invocation, log);
  if (Status fits = CheckBatch(*plan, start.args, invocation); !fits.ok()) {
    return EndCommand(fits, invocation, log);
  }
  const Result<ShardPlan> shard = ShardOf(start.args, plan->runs.size(), log);
  if (!shard.ok()) return EndCommand(shard.status(), invocation, log);
  KeepShare(*shard, plan->runs);
  plan->report = PathOfShard(plan->report, *shard);
  if (log.Enabled(Severity::kVerbose)) {
    plan->show_log = [&log](std::string_view text) { log.Plain(text); };
  }
  const Result<BatchOutcome> outcome = RunBatch(*plan, WatchSignals(), log);
  if (!outcome.ok()) return EndCommand(outcome.status(), invocation, log);
  // A shard that no model is left for has done its part.
  if (!outcome->results.empty()) log.Plain(FormatBatch(outcome->results));
  RunFaults faults = FaultsOf(outcome->results);
  faults.signal = ReceivedSignal();
  if (plan->keep_records) {
    log.Info("Saving report to " + plan->report);
    const Status saved = WriteFileAtomically(plan->report, FormatJunit(outcome->records));
    if (!saved.ok()) log.Critical(saved.message());
    faults.Add(saved);
  }
  if (!log.Close()) faults.unsaved = true;
  if (shard->ends_done && IsDone(faults)) return 0;
  return ExitCode(faults, invocation.as_polygraphy);
}

}  // namespace

constexpr CommandSpec kBatchCommand = {
    .name = "batch",
    .section = CommandSection::kCompare,
    .operands = "model [model ...] [options ...] -- RUN OPTIONS",
    .summary = "run many models with the same options and summarise the results",
    .about =
        "Run each model as vernier run MODEL RUN OPTIONS would, in a process of its own, so that a"
        " crash of one run does not end the others. Each file that a run saves gets the model's"
        " stem in its name (out.json becomes STEM-out.json, a folder DIR becomes DIR/STEM); {stem}"
        " in a path puts the stem there instead. Models with the same stem get their folder's"
        " name as well (x/model.onnx is x__model). The exit code is that of the worst run. For"
        " several feeds in one inference of a model, see run --batch-feeds.",
    .options =
        [] {
          return OptionTable({GeneralGroup(), BatchGroup(), ModelShardGroup(), LoggingGroup()});
        },
    .run = BatchCommand,
};

}  // namespace vernier
