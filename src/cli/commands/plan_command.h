// Commands that carry out one plan and end with one line: `check consistency`, `check extremes`.
#pragma once

#include <atomic>
#include <chrono>
#include <span>
#include <string>

#include "cli/commands/command_start.h"
#include "cli/commands/comparison_session.h"
#include "cli/commands/interruption.h"
#include "vernier/status.h"

namespace vernier {

template <typename Plan>
using PlanBinder = Result<Plan> (*)(const ParsedArgs& args, const Invocation& invocation,
                                    Logger& log);
/// What it returns has `faults`, of which the last line and the exit code are made.
template <typename Plan, typename Outcome>
using PlanExecutor = Result<Outcome> (*)(const Plan& plan, const std::atomic<int>& interrupted,
                                         Logger& log);

/// The whole of such a command, from its words to the exit code.
template <typename Plan, typename Outcome>
int RunPlanCommand(const CommandSpec& command, std::span<const std::string> words,
                   const Invocation& invocation, PlanBinder<Plan> bind,
                   PlanExecutor<Plan, Outcome> execute) {
  const CommandStart start = StartCommand(command, words, invocation);
  if (start.exit_code) return *start.exit_code;
  ConsoleLog& log = *start.log;
  const Result<Plan> plan = bind(start.args, invocation, log);
  if (!plan.ok()) return EndCommand(plan.status(), invocation, log);
  const auto begin = std::chrono::steady_clock::now();
  log.Start("RUNNING | Command: " + invocation.command);
  const Result<Outcome> outcome = execute(*plan, WatchSignals(), log);
  if (outcome.status().code() == StatusCode::kCancelled) return 128 + ReceivedSignal();
  if (!outcome.ok()) return EndCommand(outcome.status(), invocation, log);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  return EndWithBanner(log, elapsed.count(), outcome->faults, invocation);
}

}  // namespace vernier
