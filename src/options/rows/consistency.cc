#include "options/table/groups.h"
#include "options/table/option_values.h"
#include "vernier/checks.h"

namespace vernier {
namespace {

constexpr OptionRow kConsistency[] = {
    {.flags = {"--repeats"},
     .dest = "repeats",
     .sets = Sets<&ConsistencyOptions::repeats>(kAtLeast2),
     .arity = Arity::kOne,
     .type = ValueType::kInt,
     .fallback = "5",
     .metavar = "NUM",
     .help = "How many times repeated-runs feeds the same inputs.",
     .origin = Origin::kOurs},
    {.flags = {"--rows"},
     .dest = "rows",
     .sets = Sets<&ConsistencyOptions::rows>(kAtLeast2),
     .arity = Arity::kOne,
     .type = ValueType::kInt,
     .fallback = "8",
     .metavar = "NUM",
     .help = "Rows of the largest batch to try, if inputs are generated.",
     .origin = Origin::kOurs},
    {.flags = {"--steps"},
     .dest = "steps",
     .sets = Sets<&ConsistencyOptions::steps>(kAtLeast1),
     .arity = Arity::kOne,
     .type = ValueType::kInt,
     .fallback = "4",
     .metavar = "NUM",
     .help = "How many inferences follow each reset of a model that keeps state inside.",
     .origin = Origin::kOurs},
    {.flags = {"--only"},
     .dest = "only",
     .sets = Sets<&ConsistencyOptions::only>(),
     .arity = Arity::kPlus,
     .metavar = "PROPERTY",
     .help = "Check only these properties, by their names in the results (prefill-decode ...).",
     .origin = Origin::kOurs},
    {.flags = {"--skip"},
     .dest = "skip",
     .sets = Sets<&ConsistencyOptions::skip>(),
     .arity = Arity::kPlus,
     .metavar = "PROPERTY",
     .help = "Do not check these properties, by their names in the results.",
     .origin = Origin::kOurs},
};

}  // namespace

OptionGroup ConsistencyCheckGroup() {
  return {"Properties", "which properties are checked", kConsistency};
}

}  // namespace vernier
