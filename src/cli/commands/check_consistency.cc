// What must hold of each runner by itself, tried and reported line by line.
#include "cli/commands/plan_command.h"
#include "cli/table/commands.h"
#include "options/bind/bind_check.h"
#include "options/table/command_options.h"

namespace vernier {
namespace {

int CheckConsistencyCommand(std::span<const std::string> words, const Invocation& invocation) {
  return RunPlanCommand(kCheckConsistencyCommand, words, invocation, &BindConsistency,
                        &TryConsistency);
}

}  // namespace

constexpr CommandSpec kCheckConsistencyCommand = {
    .name = "check consistency",
    .section = CommandSection::kCompare,
    .operands = "[model_file] [runners ...] [options ...]",
    .summary = "check a single runner for self-consistency, without a reference",
    .about =
        "Run a model repeatedly under conditions that must not change its outputs: repeated runs,"
        " another process, batch rows that are equal, reordered or alone, tokens fed one by one,"
        " other shapes, thread counts, optimisation levels and contents of uninitialised memory. A"
        " violated property gives exit code 1 and the smallest case that violates it. The error"
        " bound is that of --tolerance auto unless tolerances are given.",
    .options = ConsistencyOptionTable,
    .run = CheckConsistencyCommand,
};

}  // namespace vernier
