// Saved files against each other: a run without runners.
#include "cli/commands/command_start.h"
#include "cli/commands/commands.h"
#include "cli/commands/comparison_session.h"
#include "cli/saved_sides.h"

namespace vernier {

int CompareCommand(std::span<const std::string> words, const Invocation& invocation) {
  std::vector<std::string> more_files;
  const CommandStart start = StartCommand(*FindCommand("compare"), words, invocation, &more_files);
  if (start.exit_code) return *start.exit_code;
  Result<RunPlan> plan = BindRun(start.args, invocation, *start.log);
  if (!plan.ok()) return EndCommand(plan.status(), invocation, *start.log);
  const std::span<const std::string> files = start.args.List("files");
  for (const std::string& file : files) AddSavedSide(file, *plan);
  for (const std::string& file : more_files) AddSavedSide(file, *plan);
  plan->inputs_as_outputs = true;
  plan->comparison_asked = true;
  start.log->Start("RUNNING | Command: " + invocation.command);
  const SessionContext context =
      ContextOf(start.args, FindCommand("compare")->options(), invocation, *start.log);
  return CarryOut(*plan, context, invocation, *start.log);
}

}  // namespace vernier
