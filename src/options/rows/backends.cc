#include "options/table/groups.h"

namespace vernier {
namespace {

constexpr OptionRow kBackends[] = {
    {.dest = "names",
     .arity = Arity::kStar,
     .metavar = "name",
     .help = "List only these backends. Exit code 5 if one of them does not exist.",
     .origin = Origin::kOurs},
    {.flags = {"-v", "--verbose"},
     .dest = "verbose",
     .action = OptionAction::kCount,
     .help = "Also list the options of each backend.",
     .origin = Origin::kOurs},
    {.flags = {"--require"},
     .dest = "require",
     .arity = Arity::kPlus,
     .metavar = "NAME",
     .help = "Exit with code 5 if one of these cannot be used.",
     .origin = Origin::kOurs},
};

}  // namespace

OptionGroup BackendListGroup() { return {"Backends", "listing backends", kBackends}; }

}  // namespace vernier
