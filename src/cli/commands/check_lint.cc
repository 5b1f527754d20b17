// The faults of an ONNX model by itself: by rules, and by what runners say.
#include <chrono>
#include <cstdio>

#include "cli/commands/command_start.h"
#include "cli/commands/comparison_session.h"
#include "cli/commands/interruption.h"
#include "cli/table/commands.h"
#include "lint/rules.h"
#include "options/bind/bind_check.h"
#include "options/table/command_options.h"
#include "options/table/command_words.h"

namespace vernier {
namespace {

/// Polygraphy asks ONNX Runtime; without a runner's name so do we.
std::vector<std::string> WithDefaultRunner(std::span<const std::string> words) {
  std::vector<std::string> all = {"--onnxrt"};
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

void PrintRules() {
  for (const LintRule* rule : lint_rule::All()) {
    std::printf("%-20s %-10s %s\n", std::string(rule->name).c_str(),
                std::string(LintLevelName(rule->level)).c_str(),
                std::string(rule->meaning).c_str());
  }
}

int CarryOutLint(const LintPlan& plan, const Invocation& invocation, ConsoleLog& log) {
  const auto begin = std::chrono::steady_clock::now();
  log.Start("RUNNING | Command: " + invocation.command);
  const Result<LintOutcome> outcome = LintAndReport(plan, WatchSignals(), log);
  if (outcome.status().code() == StatusCode::kCancelled) return 128 + ReceivedSignal();
  RunFaults faults;
  if (outcome.ok()) {
    faults = outcome->faults;
  } else {
    log.Critical(outcome.status().message());
    faults.Add(outcome.status());
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  return EndWithBanner(log, elapsed.count(), faults, invocation);
}

int CheckLintCommand(std::span<const std::string> words, const Invocation& invocation) {
  CommandStart start = StartCommand(kCheckLintCommand, words, invocation);
  if (start.exit_code) return *start.exit_code;
  LintWords asked;
  const Status bound = BindOptions(start.args, {}, {asked});
  if (!bound.ok()) return EndCommand(bound, invocation, *start.log);
  if (asked.list_rules) {
    PrintRules();
    return 0;
  }
  const bool named = !start.args.Runners().empty();
  if (!named && !asked.no_run) {
    start = StartCommand(kCheckLintCommand, WithDefaultRunner(words), invocation);
    if (start.exit_code) return *start.exit_code;
  }
  Result<LintPlan> plan = BindLint(start.args, invocation, *start.log);
  if (!plan.ok()) return EndCommand(plan.status(), invocation, *start.log);
  plan->default_runner = !named;
  return CarryOutLint(*plan, invocation, *start.log);
}

}  // namespace

constexpr CommandSpec kCheckLintCommand = {
    .name = "check lint",
    .section = CommandSection::kModels,
    .operands = "model_file [runners ...] [options ...]",
    .summary = "check an ONNX model for faults, each reported under a named rule",
    .about =
        "Check names, order, operators, types, shapes and weights of an ONNX model without a"
        " framework, then run it: with ONNX Runtime if it is installed, or with the runners given."
        " If the model does not run as a whole, its nodes are run one by one. A finding of level"
        " exception gives exit code 1 (--list-rules shows the levels).",
    .options = LintOptionTable,
    .run = CheckLintCommand,
};

}  // namespace vernier
