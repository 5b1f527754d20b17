// How fast runners are, one at a time.
#include "options/bind/bind_profile.h"

#include "cli/commands/command_start.h"
#include "cli/commands/comparison_session.h"
#include "cli/table/commands.h"
#include "options/table/command_options.h"
#include "report/text/profile_text.h"

namespace vernier {
namespace {

constexpr size_t kShownLayers = 10;

int ProfileCommand(std::span<const std::string> words, const Invocation& invocation) {
  const CommandStart start = StartCommand(kProfileCommand, words, invocation);
  if (start.exit_code) return *start.exit_code;
  ConsoleLog& log = *start.log;
  const Result<ProfilePlan> plan = BindProfile(start.args, invocation, log);
  if (!plan.ok()) return EndCommand(plan.status(), invocation, log);
  log.Start("RUNNING | Command: " + invocation.command);
  const RunOutcome outcome = CarryOutProfile(
      plan->run, plan->options, ContextOf(start.args, kProfileCommand.options(), invocation, log));
  const int code = EndWithBanner(log, outcome.record.seconds, outcome.faults, invocation);
  const size_t layers = log.Enabled(Severity::kVerbose) ? kShownLayers : 0;
  const std::string table = FormatProfile(outcome.record, layers);
  if (!table.empty()) log.Plain(table);
  return CloseLog(log, code, invocation);
}

}  // namespace

constexpr CommandSpec kProfileCommand = {
    .name = "profile",
    .section = CommandSection::kCompare,
    .operands = "[model_file] [runners ...] [options ...]",
    .summary = "measure the speed of runners, one at a time",
    .about =
        "Measure the latency of each runner while the others are closed, over a grid of input"
        " shapes: percentiles, throughput, memory, layer times where the framework provides them,"
        " and the noise. Outputs are compared with those of the first runner, which reveals a"
        " runner that is faster but wrong.",
    .options = ProfileOptionTable,
    .run = ProfileCommand,
};

}  // namespace vernier
