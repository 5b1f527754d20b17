// What must hold of each runner by itself, tried and told line by line.
#include <algorithm>
#include <chrono>
#include <iterator>

#include "cli/commands/command_start.h"
#include "cli/commands/commands.h"
#include "cli/commands/comparison_session.h"
#include "cli/commands/consistency_session.h"
#include "cli/commands/interruption.h"
#include "cli/option_sets.h"
#include "core/version.h"
#include "record/side_names.h"
#include "util/atomic_file.h"

namespace vernier {
namespace {

Result<ConsistencyOptions> BindOptions(const ParsedArgs& args) {
  ConsistencyOptions options;
  VERNIER_ASSIGN_OR_RETURN(const std::optional<int64_t> repeats, args.Int("repeats"));
  VERNIER_ASSIGN_OR_RETURN(const std::optional<int64_t> rows, args.Int("rows"));
  options.repeats = repeats.value_or(options.repeats);
  options.rows = rows.value_or(options.rows);
  if (options.repeats < 2) return InvalidArgument("--repeats: expected a number from 2 on");
  if (options.rows < 2) return InvalidArgument("--rows: expected a number from 2 on");
  const auto only = args.List("only");
  const auto skip = args.List("skip");
  options.only.assign(only.begin(), only.end());
  options.skip.assign(skip.begin(), skip.end());
  VERNIER_TRY(CheckPropertyNames(options));
  return options;
}

Result<RunPlan> BindPlan(const ParsedArgs& args, const Invocation& invocation, Logger& log) {
  VERNIER_ASSIGN_OR_RETURN(RunPlan plan, BindRun(args, invocation, log));
  if (plan.runners.empty()) {
    return InvalidArgument("no runner is named: add --onnxrt, --openvino, --trt or another");
  }
  VERNIER_TRY(CheckRun(plan));
  if (!args.Has("rtol") && !args.Has("atol") && !args.Has("tolerance")) {
    plan.compare.tolerance.fallback = ToleranceRule::kAuto;
  }
  return plan;
}

std::string Listed(std::string_view what, const std::vector<NotedOutput>& outputs) {
  std::string text;
  for (const NotedOutput& output : outputs) {
    text += (text.empty() ? "; " + std::string(what) + ": " : ", ") + output.name + " (" +
            output.why + ")";
  }
  return text;
}

/// Prints each property as it is done, under the name of its runner.
class Teller {
 public:
  Teller(const std::vector<RunnerPlan>& runners, Logger& log) : log_(log) {
    for (const RunnerPlan& runner : runners) names_.push_back(runner.name);
    brief_ = ShortNames(names_);
  }

  void Tell(const ConsistencyRunner& runner, const PropertyRecord& property) {
    Introduce(runner);
    const LogIndent indent(log_);
    const std::string name(property.name);
    const std::string left_out = Listed("left out", property.left_out);
    switch (property.verdict) {
      case PropertyVerdict::kHolds:
        return log_.Finish("PASSED | " + name + " | " + property.detail + left_out);
      case PropertyVerdict::kNotApplicable:
        return log_.Info("NOT TRIED | " + name + " | " + property.detail);
      case PropertyVerdict::kBroken:
        log_.Error("FAILED | " + name + " | expected " + std::string(property.meaning) + ": " +
                   property.detail + " | smallest case: " + property.smallest_case + left_out);
    }
  }

  void TellFailure(const ConsistencyRunner& runner) {
    Introduce(runner);
    const LogIndent indent(log_);
    log_.Error("FAILED | " + runner.failure);
  }

 private:
  void Introduce(const ConsistencyRunner& runner) {
    if (runner.name == introduced_) return;
    introduced_ = runner.name;
    const std::string& version = runner.framework_version;  // none where it could not be loaded
    log_.Info(BriefName(runner.name) + ", " + runner.backend +
              (version.empty() ? "" : " " + version));
  }

  // As the lines at the end call it.
  std::string BriefName(const std::string& name) const {
    const auto at = std::ranges::find(names_, name);
    return at == names_.end() ? name : brief_[static_cast<size_t>(at - names_.begin())];
  }

  Logger& log_;
  std::vector<std::string> names_, brief_;
  std::string introduced_;
};

Status SaveRecord(const std::string& path, ConsistencyRecord& record,
                  const Invocation& invocation) {
  record.command = invocation.command;
  record.version = kVersion;
  if (path.empty()) return {};
  return WriteFileAtomically(path, ToJson(record));
}

// Runners as the lines at the end of a run call them; the log of the run keeps their own names.
ConsistencyRecord WithBriefNames(ConsistencyRecord record) {
  std::vector<std::string> names;
  for (const ConsistencyRunner& runner : record.runners) names.push_back(runner.name);
  names = ShortNames(names);
  for (size_t i = 0; i < names.size(); ++i) record.runners[i].name = names[i];
  return record;
}

/// Saves what was found so far, in case there is no end. Whether it can be written is told at the
/// end.
class Keeper {
 public:
  Keeper(std::string path, const Invocation& invocation)
      : path_(std::move(path)), invocation_(invocation) {
    record_.complete = false;
  }

  void Keep(const ConsistencyRunner& runner, const PropertyRecord& property) {
    if (record_.runners.empty() || record_.runners.back().name != runner.name) {
      record_.runners.push_back(runner);
    }
    record_.runners.back().properties.push_back(property);
    (void)SaveRecord(path_, record_, invocation_);
  }

 private:
  const std::string path_;
  const Invocation& invocation_;
  ConsistencyRecord record_;
};

Result<ConsistencyRecord> Check(const ConsistencyPlan& plan, const Invocation& invocation,
                                const std::atomic<int>& interrupted, Logger& log) {
  Teller teller(plan.run.runners, log);
  Keeper keeper(plan.run.save.record, invocation);
  const Probe::Shared shared{plan.run.execution, interrupted, log};
  VERNIER_ASSIGN_OR_RETURN(
      ConsistencyRecord record,
      CheckConsistency(plan.run, plan.options, shared,
                       [&](const ConsistencyRunner& runner, const PropertyRecord& property) {
                         teller.Tell(runner, property);
                         keeper.Keep(runner, property);
                       }));
  for (const ConsistencyRunner& runner : record.runners) {
    if (!runner.failure.empty()) teller.TellFailure(runner);
  }
  return record;
}

std::string DescribeCoverage(const ConsistencyCoverage& coverage) {
  return "compared " + std::to_string(coverage.outputs) +
         (coverage.outputs == 1 ? " output, " : " outputs, ") + std::to_string(coverage.elements) +
         (coverage.elements == 1 ? " element" : " elements") +
         Listed("shows nothing", coverage.shows_nothing) +
         Listed("not compared", coverage.not_compared) +
         Listed("left out where rows are held", coverage.no_rows);
}

// What the verdict rests on.
void TellCoverage(const ConsistencyRecord& record, Logger& log) {
  for (const ConsistencyRunner& runner : record.runners) {
    if (!runner.failure.empty()) continue;
    size_t held = 0, broken = 0;
    std::string not_tried;
    for (const PropertyRecord& property : runner.properties) {
      held += property.verdict == PropertyVerdict::kHolds ? 1 : 0;
      broken += property.verdict == PropertyVerdict::kBroken ? 1 : 0;
      if (property.verdict != PropertyVerdict::kNotApplicable) continue;
      not_tried += (not_tried.empty() ? "" : ", ") + std::string(property.name);
    }
    log.Info(runner.name + ": of " + std::to_string(runner.properties.size()) + " properties " +
             std::to_string(held) + " hold and " + std::to_string(broken) + " are broken" +
             (not_tried.empty() ? "" : "; not tried: " + not_tried) + "; " +
             DescribeCoverage(runner.coverage));
  }
}

// A verdict that rests on less than the runner's outputs, or on outputs that show nothing.
void JudgeCoverage(const ConsistencyRunner& runner, const RunPlan& plan, RunFaults& faults,
                   Logger& log) {
  const ConsistencyCoverage& coverage = runner.coverage;
  if (!runner.failure.empty()) return;
  if (coverage.elements == 0) {
    log.Error(runner.name + ": nothing was compared: no output has an element");
    faults.incomplete = true;
  }
  if (!coverage.not_compared.empty()) {
    const std::string text = runner.name + ": outputs" +
                             Listed("that could not be compared", coverage.not_compared).substr(1);
    plan.lenient ? log.Warning(text) : log.Error(text);
    faults.incomplete |= !plan.lenient;
  }
  if (plan.strict && !coverage.shows_nothing.empty()) {
    log.Error(runner.name + ": outputs" +
              Listed("whose agreement means nothing (--strict)", coverage.shows_nothing).substr(1));
    faults.mismatch = true;
  }
}

// What a dimension means nobody tells: a batch, or steps of time.
void HintAtRows(const ConsistencyRecord& record, Logger& log) {
  constexpr std::string_view kOfRows[] = {"identical-rows", "permuted-rows", "batch-of-one"};
  for (const ConsistencyRunner& runner : record.runners) {
    for (const PropertyRecord& property : runner.properties) {
      const bool of_rows = std::ranges::find(kOfRows, property.name) != std::end(kOfRows);
      if (!of_rows || property.verdict != PropertyVerdict::kBroken) continue;
      return log.Info(
          "If the first dimension is no batch, or rows are meant to see each other: --skip "
          "identical-rows permuted-rows batch-of-one");
    }
  }
}

RunFaults Judge(const ConsistencyRecord& record, const RunPlan& plan, Logger& log) {
  RunFaults faults;
  faults.mismatch = !record.consistent();
  for (const ConsistencyRunner& runner : record.runners) {
    const bool failed = !runner.failure.empty() && !runner.nothing_to_compare;
    faults.unavailable |= runner.unavailable;
    faults.backend |= failed && !runner.unavailable;
    faults.incomplete |= runner.nothing_to_compare;
  }
  HintAtRows(record, log);
  TellCoverage(record, log);
  for (const ConsistencyRunner& runner : record.runners) JudgeCoverage(runner, plan, faults, log);
  if (record.tried() == 0 && !faults.any()) {
    log.Error("nothing was tried: no property applies to this model and these inputs");
    faults.incomplete = true;
  }
  return faults;
}

}  // namespace

Result<ConsistencyPlan> BindConsistency(const ParsedArgs& args, const Invocation& invocation,
                                        Logger& log) {
  ConsistencyPlan plan;
  VERNIER_ASSIGN_OR_RETURN(plan.options, BindOptions(args));
  VERNIER_ASSIGN_OR_RETURN(plan.run, BindPlan(args, invocation, log));
  return plan;
}

Result<ConsistencyOutcome> TryConsistency(const ConsistencyPlan& plan, const Invocation& invocation,
                                          const std::atomic<int>& interrupted, Logger& log) {
  ConsistencyOutcome outcome;
  VERNIER_ASSIGN_OR_RETURN(outcome.record, Check(plan, invocation, interrupted, log));
  outcome.faults = Judge(WithBriefNames(outcome.record), plan.run, log);
  const Status saved = SaveRecord(plan.run.save.record, outcome.record, invocation);
  if (!saved.ok()) log.Critical(saved.message());
  outcome.faults.Add(saved);
  return outcome;
}

namespace {

int CheckConsistencyCommand(std::span<const std::string> words, const Invocation& invocation) {
  const CommandStart start = StartCommand(kCheckConsistencyCommand, words, invocation);
  if (start.exit_code) return *start.exit_code;
  ConsoleLog& log = *start.log;
  const Result<ConsistencyPlan> plan = BindConsistency(start.args, invocation, log);
  if (!plan.ok()) return EndCommand(plan.status(), invocation, log);
  const auto begin = std::chrono::steady_clock::now();
  log.Start("RUNNING | Command: " + invocation.command);
  const Result<ConsistencyOutcome> outcome = TryConsistency(*plan, invocation, WatchSignals(), log);
  if (outcome.status().code() == StatusCode::kCancelled) return 128 + ReceivedSignal();
  if (!outcome.ok()) return EndCommand(outcome.status(), invocation, log);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  return EndWithBanner(log, elapsed.count(), outcome->faults, invocation);
}

}  // namespace

constexpr CommandSpec kCheckConsistencyCommand = {
    .name = "check consistency",
    .section = CommandSection::kCompare,
    .operands = "[model_file] [runners ...] [options ...]",
    .summary = "check a single runner for self-consistency, without a reference",
    .about =
        "Run a model repeatedly under conditions that must not change its outputs: repeated runs,"
        " another process, batch rows that are equal, reordered or alone, other shapes, thread"
        " counts, optimization levels and contents of uninitialized memory. A violated property"
        " gives exit code 1 and the smallest case that violates it. The error bound is that of"
        " --tolerance auto unless tolerances are given.",
    .options =
        [] {
          return OptionTable(
              {RunnerAndInputOptions(), ConsistencyCheckGroup(),
               Only(CompareGroup(), {"rtol", "atol", "tolerance", "strict", "lenient"}),
               AnyWorkerOptions(), Only(ReportGroup(), {"save_record"})});
        },
    .run = CheckConsistencyCommand,
};

}  // namespace vernier
