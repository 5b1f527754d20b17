#include "cli/options/groups.h"

namespace vernier {
namespace {

constexpr OptionRow kConsistency[] = {
    {.flags = {"--repeats"},
     .dest = "repeats",
     .arity = Arity::kOne,
     .type = ValueType::kInt,
     .fallback = "5",
     .metavar = "NUM",
     .help = "How often repeated-runs feeds the same inputs.",
     .origin = Origin::kOurs},
    {.flags = {"--rows"},
     .dest = "rows",
     .arity = Arity::kOne,
     .type = ValueType::kInt,
     .fallback = "8",
     .metavar = "NUM",
     .help = "Rows of the largest batch that is tried, where inputs are drawn.",
     .origin = Origin::kOurs},
    {.flags = {"--only"},
     .dest = "only",
     .arity = Arity::kPlus,
     .metavar = "PROPERTY",
     .help = "Try these properties alone.",
     .origin = Origin::kOurs},
    {.flags = {"--skip"},
     .dest = "skip",
     .arity = Arity::kPlus,
     .metavar = "PROPERTY",
     .help = "Do not try these properties.",
     .origin = Origin::kOurs},
};

}  // namespace

OptionGroup ConsistencyCheckGroup() { return {"Properties", "what is tried", kConsistency}; }

}  // namespace vernier
