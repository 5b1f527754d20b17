// Saved files against each other: a run without runners.
#include "cli/commands/command_start.h"
#include "cli/commands/commands.h"
#include "cli/commands/comparison_session.h"

namespace vernier {

int CompareCommand(std::span<const std::string> words, const Invocation& invocation) {
  std::vector<std::string> more_files;
  const CommandStart start = StartCommand(*FindCommand("compare"), words, invocation, &more_files);
  if (start.exit_code) return *start.exit_code;
  Result<RunPlan> plan = BindRun(start.args, invocation, *start.log);
  if (!plan.ok()) return EndCommand(plan.status(), invocation, *start.log);
  const std::span<const std::string> files = start.args.List("files");
  plan->load_outputs.assign(files.begin(), files.end());
  plan->load_outputs.insert(plan->load_outputs.end(), more_files.begin(), more_files.end());
  plan->inputs_as_outputs = true;
  plan->comparison_asked = true;
  start.log->Start("RUNNING | Command: " + invocation.command);
  return CarryOut(*plan, start.args, *FindCommand("compare"), invocation, *start.log);
}

}  // namespace vernier
