// What runners make of extreme values, as a table.
#include <chrono>

#include "cli/commands/command_start.h"
#include "cli/commands/comparison_session.h"
#include "cli/commands/interruption.h"
#include "cli/table/commands.h"
#include "options/bind/bind_check.h"
#include "options/table/command_options.h"

namespace vernier {
namespace {

int CheckExtremesCommand(std::span<const std::string> words, const Invocation& invocation) {
  const CommandStart start = StartCommand(kCheckExtremesCommand, words, invocation);
  if (start.exit_code) return *start.exit_code;
  ConsoleLog& log = *start.log;
  const Result<ExtremesPlan> plan = BindExtremes(start.args, invocation, log);
  if (!plan.ok()) return EndCommand(plan.status(), invocation, log);
  const auto begin = std::chrono::steady_clock::now();
  log.Start("RUNNING | Command: " + invocation.command);
  const Result<ExtremesOutcome> outcome = TryExtremes(*plan, WatchSignals(), log);
  if (outcome.status().code() == StatusCode::kCancelled) return 128 + ReceivedSignal();
  if (!outcome.ok()) return EndCommand(outcome.status(), invocation, log);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  return EndWithBanner(log, elapsed.count(), outcome->faults, invocation);
}

}  // namespace

constexpr CommandSpec kCheckExtremesCommand = {
    .name = "check extremes",
    .section = CommandSection::kCompare,
    .operands = "[model_file] [runners ...] [options ...]",
    .summary = "show how runners handle denormals, zeros, large values, NaN and infinity",
    .about =
        "Put sets of extreme values into the float inputs, run every runner on each set, and show"
        " the results in a table: NaN, infinities, denormals, zeros, and elements that are finite"
        " in one runner and not in the first. If runners differ in which elements are finite, or"
        " in integers with --sets limits, the exit code is 1. Denormals that are flushed to zero,"
        " and other finite values, are only reported.",
    .options = ExtremesOptionTable,
    .run = CheckExtremesCommand,
};

}  // namespace vernier
