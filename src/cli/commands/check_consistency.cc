// What must hold of each runner by itself, tried and reported line by line.
#include <chrono>

#include "cli/commands/command_start.h"
#include "cli/commands/comparison_session.h"
#include "cli/commands/interruption.h"
#include "cli/table/commands.h"
#include "options/bind/bind_check.h"
#include "options/table/command_options.h"

namespace vernier {
namespace {

int CheckConsistencyCommand(std::span<const std::string> words, const Invocation& invocation) {
  const CommandStart start = StartCommand(kCheckConsistencyCommand, words, invocation);
  if (start.exit_code) return *start.exit_code;
  ConsoleLog& log = *start.log;
  const Result<ConsistencyPlan> plan = BindConsistency(start.args, invocation, log);
  if (!plan.ok()) return EndCommand(plan.status(), invocation, log);
  const auto begin = std::chrono::steady_clock::now();
  log.Start("RUNNING | Command: " + invocation.command);
  const Result<ConsistencyOutcome> outcome = TryConsistency(*plan, WatchSignals(), log);
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
        " another process, batch rows that are equal, reordered or alone, tokens fed one by one,"
        " other shapes, thread counts, optimisation levels and contents of uninitialised memory. A"
        " violated property gives exit code 1 and the smallest case that violates it. The error"
        " bound is that of --tolerance auto unless tolerances are given.",
    .options = ConsistencyOptionTable,
    .run = CheckConsistencyCommand,
};

}  // namespace vernier
