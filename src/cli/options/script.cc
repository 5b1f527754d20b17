#include "cli/options/groups.h"

namespace vernier {
namespace {

constexpr OptionRow kScript[] = {
    {.flags = {"--gen", "--gen-script"},
     .dest = "gen_script",
     .arity = Arity::kOne,
     .metavar = "FILE",
     .help =
         "Write a Python script that does what this command would do, and end; - prints it. It is"
         " for Polygraphy's API, or for the package vernier where that API lacks something."
         " FILE.sh becomes a shell script with this command.",
     .standing = Standing::kBetter,
     .note = "FILE is touched only when there is a script to write; what Polygraphy's API lacks is"
             " written for the package vernier; FILE.sh is for all flags."},
};

}  // namespace

OptionGroup ScriptGroup() { return {"Script", "turning the command into a script", kScript}; }

}  // namespace vernier
