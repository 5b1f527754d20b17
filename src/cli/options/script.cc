#include "cli/options/groups.h"

namespace vernier {
namespace {

constexpr OptionRow kScript[] = {
    {.flags = {"--gen", "--gen-script"},
     .dest = "gen_script",
     .arity = Arity::kOne,
     .metavar = "FILE",
     .help = "Write a Python script for Polygraphy's API that does what this command would do, and"
             " end; - prints it. FILE.sh becomes a shell script with this command.",
     .standing = Standing::kBetter,
     .note = "FILE is touched only when there is a script to write; FILE.sh is for all flags."},
};

}  // namespace

OptionGroup ScriptOptions() { return {"Script", "turning the command into a script", kScript}; }

}  // namespace vernier
