#include "cli/commands/command_start.h"
#include "cli/commands/comparison_session.h"
#include "cli/script/script_file.h"
#include "cli/table/commands.h"
#include "options/bind/run_file.h"
#include "options/table/command_options.h"
#include "options/table/command_words.h"
#include "options/table/given_field.h"

namespace vernier {
namespace {

Result<RunPlan> Plan(const ParsedArgs& args, const Invocation& invocation, Logger& log) {
  if (!IsGiven<&RunCall::plan_file>(args)) return BindRun(args, invocation, log);
  VERNIER_ASSIGN_OR_RETURN(RunPlan plan, LoadRunFile(args));
  plan.command = invocation.command;
  return plan;
}

int RunCommand(std::span<const std::string> words, const Invocation& invocation) {
  const CommandStart start = StartCommand(kRunCommand, words, invocation);
  if (start.exit_code) return *start.exit_code;
  ConsoleLog& log = *start.log;
  const Result<RunPlan> plan = Plan(start.args, invocation, log);
  if (!plan.ok()) return EndCommand(plan.status(), invocation, log);
  if (const auto script = ReadField<&RunCall::script>(start.args)) {
    Status status = CheckRun(*plan);
    if (status.ok()) {
      status = GenerateScript(*script, *plan, start.args, invocation, log);
    }
    return EndCommand(status, invocation, log);
  }
  if (const Status saved = SaveRunFile(start.args, *plan); !saved.ok()) {
    return EndCommand(saved, invocation, log);
  }
  log.Start("RUNNING | Command: " + invocation.command);
  if (plan->runners.empty()) {
    log.Warning("No runners have been selected. Inference will not be run!");
  }
  const SessionContext context = ContextOf(start.args, kRunCommand.options(), invocation, log);
  return CarryOut(*plan, context, invocation, log);
}

}  // namespace

constexpr CommandSpec kRunCommand = {
    .name = "run",
    .section = CommandSection::kCompare,
    .operands = "[model_file] [runners ...] [options ...]",
    .summary = "run a model under several frameworks and compare their outputs",
    .about =
        "Run a model with one or more runners on the same inputs and compare their outputs."
        " Runners run, and are compared, in the given order. Polygraphy's long options may be"
        " abbreviated as long as they stay unambiguous.",
    .options = RunOptionTable,
    .run = RunCommand,
};

}  // namespace vernier
