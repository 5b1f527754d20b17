// A file of saved tensors in another format.
#include <string>

#include "cli/commands/command_start.h"
#include "cli/commands/interruption.h"
#include "cli/table/commands.h"
#include "data/conversion.h"
#include "options/table/option_sets.h"

namespace vernier {
namespace {

int DataConvertCommand(std::span<const std::string> words, const Invocation& invocation) {
  const CommandStart start = StartCommand(kDataConvertCommand, words, invocation);
  if (start.exit_code) return *start.exit_code;
  DataConversionPlan plan;
  plan.may_replace = invocation.as_polygraphy;
  Status done = BindOptions(start.args, {.log = start.log.get()}, {plan});
  if (done.ok()) done = ConvertData(plan, WatchSignals(), *start.log);
  return EndCommand(done, invocation, *start.log);
}

}  // namespace

constexpr CommandSpec kDataConvertCommand = {
    .name = "data convert",
    .section = CommandSection::kData,
    .operands = "path -o PATH [options ...]",
    .summary = "convert saved inputs or outputs to another format",
    .about =
        "Write the contents of a file in another format, with one iteration in memory at a time.",
    .options =
        [] {
          return OptionTable({GeneralGroup(), LoggingGroup(), DataConvertGroup()});
        },
    .run = DataConvertCommand,
};

}  // namespace vernier
