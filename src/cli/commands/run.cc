#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>

#include "cli/arg_parser.h"
#include "cli/commands/commands.h"
#include "cli/flag_suggestion.h"
#include "cli/help_text.h"
#include "cli/version.h"
#include "report/run_reporter.h"
#include "report/run_summary.h"
#include "run/executor.h"
#include "util/atomic_file.h"
#include "util/number_text.h"

namespace vernier {
namespace {

// Set by the signal handler, read between steps of the run: the only state that a handler can
// share with the program.
std::atomic<int> g_interrupted{0};

void OnSignal(int signal) {
  // A second Ctrl-C means it.
  if (g_interrupted.exchange(signal) != 0) ::_exit(128 + signal);
}

void WatchSignals() {
  struct sigaction action {};
  action.sa_handler = &OnSignal;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &action, nullptr);
  // A file that reaches a limit is an error of that write, not the end of the program.
  action.sa_handler = SIG_IGN;
  ::sigaction(SIGXFSZ, &action, nullptr);
}

int UsageError(const std::string& message) {
  std::fputs(FormatUsageError(RunHelpSubject("vernier run"), message).c_str(), stderr);
  return 2;
}

int UnknownOptions(const OptionTable& table, const std::vector<std::string>& unknown,
                   const Invocation& invocation) {
  std::fprintf(stdout, "[E] Unrecognized Options: %s\n", FormatPythonList(unknown).c_str());
  if (const std::optional<std::string> suggestion = SuggestFlag(table, unknown.front())) {
    std::fprintf(stdout, "    Did you mean %s?\n", suggestion->c_str());
  }
  return invocation.as_peer ? 1 : 2;
}

// The last lines of the log, the same for every way in which a run ends.
int EndRun(ConsoleLog& log, const RunRecord& record, const RunFaults& faults,
           const Invocation& invocation) {
  const int code = ExitCode(faults, invocation.as_peer);
  char seconds[32];
  std::snprintf(seconds, sizeof(seconds), "%.3f", record.seconds);
  const std::string line = std::string(code == 0 ? "PASSED" : "FAILED") + " | Runtime: " + seconds +
                           "s | Command: " + record.command;
  if (code == 0) {
    log.Finish(line);
  } else {
    log.Error(line);
  }
  return code;
}

void SaveRecord(const std::string& path, const RunRecord& record, RunFaults& faults, Logger& log) {
  if (path.empty()) return;
  if (const Status status = WriteFileAtomically(path, ToJson(record)); !status.ok()) {
    log.Critical(status.message());
    faults.Add(status);
  }
}

// Pictures that were asked for and are not made: the run is not what was asked for.
void RefusePictures(const ParsedArgs& args, RunOutcome& outcome, Logger& log) {
  for (const std::string_view dest : {"save_heatmaps", "show_heatmaps", "save_error_metrics_plot",
                                      "show_error_metrics_plot"}) {
    if (!args.Has(dest)) continue;
    log.Critical(std::string(args.Flag(dest)) + ": pictures are not available in this version");
    outcome.faults.unsaved = true;
  }
}

int Execute(const ParsedArgs& args, const Invocation& invocation, ConsoleLog& log) {
  RunRecord record;
  RunFaults faults;
  record.command = invocation.command;
  Result<RunPlan> plan = BindRun(args, invocation, log);
  if (!plan.ok()) {
    log.Critical(plan.status().message());
    faults.Add(plan.status());
    return ExitCode(faults, invocation.as_peer);
  }
  log.Start("RUNNING | Command: " + invocation.command);
  if (plan->runners.empty()) {
    log.Warning("No runners have been selected. Inference will not be run!");
  }
  if (const Status status = CheckRun(*plan); !status.ok()) {
    log.Critical(status.message());
    faults.Add(status);
    return EndRun(log, record, faults, invocation);
  }
  if (plan->runners.empty() && plan->load_outputs.empty()) {
    // The peer says PASSED; nothing was done that could have.
    faults.usage = !invocation.as_peer;
    return EndRun(log, record, faults, invocation);
  }
  WatchSignals();
  RunReporter reporter(log, *plan, args.Has("no_progress"));
  RunOutcome outcome = ExecuteRun(*plan, log, reporter, g_interrupted);
  outcome.record.command = invocation.command;
  outcome.record.version = kVersion;
  outcome.record.exit_code = ExitCode(outcome.faults, invocation.as_peer);
  if (const Status status = reporter.SaveAccuracy(); !status.ok()) {
    log.Critical(status.message());
    outcome.faults.Add(status);
  }
  SaveRecord(plan->save.record, outcome.record, outcome.faults, log);
  RefusePictures(args, outcome, log);
  const int code = EndRun(log, outcome.record, outcome.faults, invocation);
  const bool interleaved = !plan->execution.sequential && plan->runners.size() > 1;
  log.Plain(FormatRunSummary(outcome.record, interleaved));
  if (code == 0 && !log.Close()) {
    std::fprintf(stderr, "[!] --log-file: not everything could be written\n");
    return invocation.as_peer ? 1 : 7;
  }
  return code;
}

}  // namespace

int RunCommand(std::span<const std::string> words, const Invocation& invocation) {
  const OptionTable table = RunOptionTable();
  const ParseResult parsed = ParseCommandLine(table, words);
  if (parsed.end == ParseEnd::kHelp) {
    const std::string help = FormatHelp(table, RunHelpSubject("vernier run"),
                                        HelpWidth(std::getenv("COLUMNS")));
    std::fputs(help.c_str(), stdout);
    return 0;
  }
  if (parsed.end == ParseEnd::kUsageError) return UsageError(parsed.error);
  if (!parsed.unknown.empty()) return UnknownOptions(table, parsed.unknown, invocation);
  const Result<ConsoleLogOptions> options = BindLog(parsed.args);
  if (!options.ok()) {
    std::fprintf(stderr, "[!] %s\n", options.status().message().c_str());
    return invocation.as_peer ? 1 : 2;
  }
  const Result<std::unique_ptr<ConsoleLog>> log = ConsoleLog::Create(*options);
  if (!log.ok()) {
    std::fprintf(stderr, "[!] %s\n", log.status().message().c_str());
    return invocation.as_peer ? 1 : 7;
  }
  return Execute(parsed.args, invocation, **log);
}

}  // namespace vernier
