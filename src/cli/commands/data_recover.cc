// What an interrupted run had saved.
#include <string>

#include "cli/commands/command_start.h"
#include "cli/table/commands.h"
#include "data/recovery.h"
#include "options/table/option_sets.h"

namespace vernier {
namespace {

int DataRecoverCommand(std::span<const std::string> words, const Invocation& invocation) {
  const CommandStart start = StartCommand(kDataRecoverCommand, words, invocation);
  if (start.exit_code) return *start.exit_code;
  DataRecoveryPlan plan;
  Status done = BindOptions(start.args, {.log = start.log.get()}, {plan});
  if (done.ok()) done = RecoverData(plan, *start.log);
  return EndCommand(done, invocation, *start.log);
}

}  // namespace

constexpr CommandSpec kDataRecoverCommand = {
    .name = "data recover",
    .section = CommandSection::kData,
    .operands = "path [-o PATH] [options ...]",
    .summary = "recover the outputs or inputs that an interrupted run had saved",
    .about =
        "A run with --save-outputs or --save-inputs NAME collects its data in NAME.partial and"
        " replaces NAME when it ends. If the run was killed or the disk was full, this command"
        " writes all completed iterations to a file and removes the folder.",
    .options =
        [] {
          return OptionTable({GeneralGroup(), LoggingGroup(), DataRecoverGroup()});
        },
    .run = DataRecoverCommand,
};

}  // namespace vernier
