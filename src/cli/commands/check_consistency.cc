// What must hold of each runner by itself, tried and reported line by line.
#include <chrono>

#include "cli/commands/command_start.h"
#include "cli/commands/comparison_session.h"
#include "cli/commands/interruption.h"
#include "cli/table/commands.h"
<<<<<<< HEAD
#include "options/bind/bind_check.h"
#include "options/table/command_options.h"
=======
#include "cli/table/option_sets.h"
#include "inputs/shape_grid.h"
#include "util/list_has.h"
#include "vernier/compare_options.h"
>>>>>>> refs/box/B

namespace vernier {
namespace {

<<<<<<< HEAD
=======
constexpr std::string_view kShapeSweep = "shape-sweep";

Result<ConsistencyOptions> BindOptions(const ParsedArgs& args) {
  ConsistencyOptions options;
  VERNIER_ASSIGN_OR_RETURN(const std::optional<int64_t> repeats, args.Int("repeats"));
  VERNIER_ASSIGN_OR_RETURN(const std::optional<int64_t> rows, args.Int("rows"));
  options.repeats = repeats.value_or(options.repeats);
  options.rows = rows.value_or(options.rows);
  for (const auto& [flag, value] :
       {std::pair("--repeats", options.repeats), std::pair("--rows", options.rows)}) {
    if (value >= 2) continue;
    return InvalidArgument(std::string(flag) + ": expected a number >= 2, got '" +
                           std::to_string(value) + "'");
  }
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
    plan.compare->tolerance.fallback = ToleranceRule::kAuto;
  }
  return plan;
}

}  // namespace

Result<ConsistencyPlan> BindConsistency(const ParsedArgs& args, const Invocation& invocation,
                                        Logger& log) {
  ConsistencyPlan plan;
  VERNIER_ASSIGN_OR_RETURN(plan.options, BindOptions(args));
  VERNIER_ASSIGN_OR_RETURN(plan.run, BindPlan(args, invocation, log));
  // The others use the first shape of each input.
  const ConsistencyOptions& options = plan.options;
  const bool sweeps = (options.only.empty() || ListHas(options.only, kShapeSweep)) &&
                      !ListHas(options.skip, kShapeSweep);
  if (!sweeps && !plan.run.lenient) {
    VERNIER_TRY(RefuseSeveralShapes("--input-shapes", plan.run.inputs.shape_words,
                                    "check consistency without shape-sweep"));
  }
  return plan;
}

namespace {

>>>>>>> refs/box/B
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
