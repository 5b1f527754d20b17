// A file of saved tensors in another format.
#include <string>

#include "cli/commands/command_start.h"
#include "cli/commands/interruption.h"
#include "cli/table/commands.h"
#include "data/conversion.h"
#include "options/table/option_sets.h"

namespace vernier {
namespace {

DataConversionPlan BindDataConversion(const ParsedArgs& args, const Invocation& invocation) {
  DataConversionPlan plan;
  plan.path = TextOf(args, "path");
  plan.output = TextOf(args, "output");
  plan.format = TextOf(args, "format");
  if (const auto kind = args.Value("kind")) {
    plan.kind = *kind == "outputs" ? SavedKind::kOutputs : SavedKind::kInputs;
  }
  if (const auto runner = args.Value("runner")) plan.runner = std::string(*runner);
  plan.may_replace = invocation.as_polygraphy;
  return plan;
}

int DataConvertCommand(std::span<const std::string> words, const Invocation& invocation) {
  const CommandStart start = StartCommand(kDataConvertCommand, words, invocation);
  if (start.exit_code) return *start.exit_code;
  const DataConversionPlan plan = BindDataConversion(start.args, invocation);
  const Status done = ConvertData(plan, WatchSignals(), *start.log);
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
