// Which layer is to blame.
#include <chrono>
#include <utility>

#include "cli/commands/command_start.h"
#include "cli/commands/comparison_session.h"
#include "cli/table/commands.h"
#include "options/bind/bind_blame.h"
#include "options/table/command_options.h"

namespace vernier {
namespace {

int BlameCommand(std::span<const std::string> words, const Invocation& invocation) {
  const CommandStart start = StartCommand(kBlameCommand, words, invocation);
  if (start.exit_code) return *start.exit_code;
  ConsoleLog& log = *start.log;
  const Result<BlamePlan> plan = BindBlamePlan(start.args, invocation, log);
  if (!plan.ok()) return EndCommand(plan.status(), invocation, log);
  log.Start("RUNNING | Command: " + invocation.command);
  const auto begin = std::chrono::steady_clock::now();
  RunFaults faults;
  RunRecord record;
  if (const Status status = CheckRun(plan->run); !status.ok()) {
    log.Critical(status.message());
    faults.Add(status);
  } else {
    SessionContext context = ContextOf(start.args, kBlameCommand.options(), invocation, log);
    context.blamed = [&log](const BlameRecord& blame) { ShowBlame(blame, log); };
    BlameOutcome outcome = CarryOutBlame(*plan, context);
    faults = outcome.faults;
    record = RecordOf(std::move(outcome.record));
    record.origin = context.origin;
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  const int code = EndWithBanner(log, seconds.count(), faults, invocation);
  if (record.blame) AnnotateWorkflow(record, log);
  return code;
}

}  // namespace

constexpr CommandSpec kBlameCommand = {
    .name = "blame",
    .section = CommandSection::kCause,
    .operands = "[model_file] [runners ...] [options ...]",
    .summary = "find the layer that makes two runners differ",
    .about =
        "Run a model with two runners, or with one against saved outputs, and compare every"
        " intermediate tensor. The candidate also runs each layer alone on the reference's"
        " tensors, which separates errors that a layer introduces from errors that it inherits. A"
        " TensorFlow or PyTorch model can be the reference for an ONNX model. Exit code 0 means"
        " that no layer is to blame.",
    .options = BlameOptionTable,
    .run = BlameCommand,
};

}  // namespace vernier
