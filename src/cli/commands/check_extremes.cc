// What runners make of extreme values, as a table.
#include "cli/commands/plan_command.h"
#include "cli/table/commands.h"
#include "options/bind/bind_check.h"
#include "options/table/command_options.h"

namespace vernier {
namespace {

int CheckExtremesCommand(std::span<const std::string> words, const Invocation& invocation) {
  return RunPlanCommand(kCheckExtremesCommand, words, invocation, &BindExtremes, &TryExtremes);
}

}  // namespace

constexpr CommandSpec kCheckExtremesCommand = {
    .name = "check extremes",
    .section = CommandSection::kCompare,
    .operands = "[model_file] [runners ...] [options ...]",
    .summary = "show how runners handle denormals, zeros, large values, NaN and infinity",
    .about =
        "Put sets of extreme values into the float inputs, run every runner on each set, and show"
        " the results in a table: NaN, infinities, denormals, zeros, and elements that are finite"
        " in one runner and not in the first. If runners differ in which elements are finite, or"
        " in integers with --sets limits, the exit code is 1. Denormals that are flushed to zero,"
        " and other finite values, are only reported.",
    .options = ExtremesOptionTable,
    .run = CheckExtremesCommand,
};

}  // namespace vernier
