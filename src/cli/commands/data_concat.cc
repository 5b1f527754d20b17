// Files of saved tensors behind each other.
#include "cli/commands/command_start.h"
#include "cli/commands/interruption.h"
#include "cli/table/commands.h"
#include "data/joining.h"
#include "options/table/command_words.h"
#include "options/table/given_field.h"
#include "options/table/option_sets.h"

namespace vernier {
namespace {

constexpr OptionRow kDataConcat[] = {
    {.flags = {"--lenient"},
     .dest = "lenient",
     .sets = Sets<&Leniency::lenient>(),
     .help = "Also join files of outputs whose runners differ, as Polygraphy does. Iterations with"
             " the same number then need not belong together. Enabled when the program is called"
             " polygraphy.",
     .origin = Origin::kOurs},
};

int DataConcatCommand(std::span<const std::string> words, const Invocation& invocation) {
  const CommandStart start = StartCommand(kDataConcatCommand, words, invocation);
  if (start.exit_code) return *start.exit_code;
  DataJoinPlan plan;
  plan.may_replace = invocation.as_polygraphy;
  plan.lenient = ReadField<&Leniency::lenient>(start.args);
  Status done = BindOptions(start.args, {.log = start.log.get()}, {plan});
  if (done.ok()) done = ConcatenateData(plan, WatchSignals(), *start.log);
  return EndCommand(done, invocation, *start.log);
}

}  // namespace

constexpr CommandSpec kDataConcatCommand = {
    .name = "data concat",
    .section = CommandSection::kData,
    .operands = "paths ... -o FILE [options ...]",
    .summary = "concatenate the iterations of saved files",
    .about =
        "Write one file with the iterations of several, in order. The files must all hold inputs"
        " or all hold outputs. Outputs are matched by the names of their runners. Files of shards"
        " (vernier run --shard) must be complete and in the order of their numbers. To join the"
        " records of shards see vernier merge; data merge joins the tensors of single iterations.",
    .options =
        [] {
          return OptionTable({GeneralGroup(), LoggingGroup(), DataFilesGroup(),
                              OptionGroup{"Files", "what is read and written", kDataConcat}});
        },
    .run = DataConcatCommand,
};

}  // namespace vernier
