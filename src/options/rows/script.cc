#include "options/table/command_words.h"
#include "options/table/groups.h"
#include "options/table/option_values.h"

namespace vernier {
namespace {

constexpr OptionRow kScript[] = {
    {.flags = {"--gen", "--gen-script"},
     .dest = "gen_script",
     .sets = Sets<&RunCall::script>(),
     .files = FileUse::kWrites,
     .in_api = InApi::kYes,
     .in_package = InPackage::kOwnWay,
     .elsewhere = kOnlyProgram,
     .arity = Arity::kOne,
     .metavar = "FILE",
     .help = "Write a Python script that does what this command would do, and exit; - prints it. It"
             " uses Polygraphy's API, or the package vernier for what that API lacks. FILE.sh is a"
             " shell script with this command.",
     .standing = Standing::kBetter,
     .note = "FILE is touched only when there is a script to write; what Polygraphy's API lacks is"
             " written for the package vernier; FILE.sh is for all flags."},
};

}  // namespace

OptionGroup ScriptGroup() { return {"Script", "turning the command into a script", kScript}; }

}  // namespace vernier
