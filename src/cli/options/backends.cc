#include "cli/options/groups.h"

namespace vernier {
namespace {

constexpr OptionRow kBackends[] = {
    {.flags = {"--require"},
     .dest = "require",
     .arity = Arity::kPlus,
     .metavar = "NAME",
     .help = "Exit with 5 if one of these cannot be used.",
     .origin = Origin::kOurs},
};

}  // namespace

OptionGroup BackendListOptions() { return {"Backends", "listing backends", kBackends}; }

}  // namespace vernier
