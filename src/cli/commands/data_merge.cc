// Files of saved tensors side by side.
#include "cli/commands/command_start.h"
#include "cli/commands/interruption.h"
#include "cli/table/commands.h"
#include "data/joining.h"
#include "options/table/option_sets.h"

namespace vernier {
namespace {

int DataMergeCommand(std::span<const std::string> words, const Invocation& invocation) {
  const CommandStart start = StartCommand(kDataMergeCommand, words, invocation);
  if (start.exit_code) return *start.exit_code;
  DataJoinPlan plan;
  plan.may_replace = invocation.as_polygraphy;
  Status done = BindOptions(start.args, {.log = start.log.get()}, {plan});
  if (done.ok()) done = MergeData(plan, WatchSignals(), *start.log);
  return EndCommand(done, invocation, *start.log);
}

}  // namespace

constexpr CommandSpec kDataMergeCommand = {
    .name = "data merge",
    .older_name = "data to-input",  // in older releases of Polygraphy
    .section = CommandSection::kData,
    .operands = "paths ... -o FILE [options ...]",
    .summary = "merge saved inputs and outputs into one file of inputs",
    .about =
        "Write a file for --load-inputs in which each iteration holds the tensors that all files"
        " have for that iteration. Outputs should come from one runner; if a name occurs twice, the"
        " later file wins, with a warning. Polygraphy calls it `data to-input`. To put iterations"
        " one after another see data concat; for the records of shards see vernier merge.",
    .options =
        [] {
          return OptionTable({GeneralGroup(), LoggingGroup(), DataFilesGroup()});
        },
    .run = DataMergeCommand,
};

}  // namespace vernier
