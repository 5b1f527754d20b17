// Saved files against each other: a run without runners.
#include "cli/commands/command_start.h"
#include "cli/commands/comparison_session.h"
#include "cli/table/commands.h"
#include "options/table/command_options.h"
#include "options/table/saved_sides.h"

namespace vernier {
namespace {

int CompareCommand(std::span<const std::string> words, const Invocation& invocation) {
  std::vector<std::string> more_files;
  const CommandStart start = StartCommand(kCompareCommand, words, invocation, &more_files);
  if (start.exit_code) return *start.exit_code;
  Result<RunPlan> plan = BindRun(start.args, invocation, *start.log);
  if (!plan.ok()) return EndCommand(plan.status(), invocation, *start.log);
  for (const std::string& file : more_files) AddSavedSide(file, *plan);
  plan->inputs_as_outputs = true;
  plan->comparison_asked = true;
  start.log->Start("RUNNING | Command: " + invocation.command);
  const SessionContext context =
      ContextOf(start.args, kCompareCommand.options(), invocation, *start.log);
  return CarryOut(*plan, context, invocation, *start.log);
}

}  // namespace

constexpr CommandSpec kCompareCommand = {
    .name = "compare",
    .section = CommandSection::kCompare,
    .operands = "file [file ...] [options ...]",
    .summary = "compare saved outputs, without a model or a framework",
    .about =
        "Compare the contents of files, as vernier run --load-outputs does: each file, or each"
        " runner in a file, is one side, and neighbours are compared. Polygraphy's JSON, .npz,"
        " .npy, .safetensors and ONNX test data can be mixed; saved inputs can be compared too."
        " Only one iteration is in memory at a time. Put the files first: an option that takes"
        " several values takes all words up to the next option.",
    .options = CompareOptionTable,
    .run = CompareCommand,
};

}  // namespace vernier
