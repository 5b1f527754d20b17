#include "cli/options/groups.h"

namespace vernier {
namespace {

constexpr OptionRow kLint[] = {
    {.flags = {"-o", "--output"},
     .dest = "output",
     .arity = Arity::kOne,
     .metavar = "FILE",
     .help = "Save the report as JSON."},
    {.flags = {"--skip"},
     .dest = "skip",
     .arity = Arity::kPlus,
     .metavar = "RULE",
     .help = "Do not tell what breaks these rules.",
     .origin = Origin::kOurs},
    {.flags = {"--strict"},
     .dest = "strict",
     .help = "A warning is a fault too: exit code 1.",
     .origin = Origin::kOurs},
    {.flags = {"--no-run"},
     .dest = "no_run",
     .help = "Check by rules alone: no framework is asked.",
     .origin = Origin::kOurs,
     .excludes = {"runners"}},
    {.flags = {"--list-rules"},
     .dest = "list_rules",
     .help = "Print every rule with its level, and end.",
     .origin = Origin::kOurs},
};

}  // namespace

OptionGroup LintCheckGroup() { return {"Rules", "what is told, and where", kLint}; }

}  // namespace vernier
