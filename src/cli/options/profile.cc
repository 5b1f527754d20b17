#include "cli/options/groups.h"

namespace vernier {
namespace {

constexpr OptionRow kProfile[] = {
    {.flags = {"--duration"},
     .dest = "duration",
     .arity = Arity::kOne,
     .type = ValueType::kFloat,
     .fallback = "3",
     .metavar = "SECONDS",
     .help = "How long to measure each runner with each set of shapes; ten inferences at least.",
     .origin = Origin::kOurs},
    {.flags = {"--runs"},
     .dest = "runs",
     .arity = Arity::kOne,
     .type = ValueType::kInt,
     .metavar = "NUM",
     .help = "Measure so many inferences, however long they take.",
     .origin = Origin::kOurs,
     .excludes = {"duration"}},
    {.flags = {"--warm-up", "--warm-up-runs"},
     .dest = "profile_warm_up",
     .arity = Arity::kOne,
     .type = ValueType::kInt,
     .fallback = "5",
     .metavar = "NUM",
     .help = "Inferences before measuring, for each runner and set of shapes; one at least."},
    {.flags = {"--no-layer-times"},
     .dest = "no_layer_times",
     .help = "Do not open each model once more to measure its layers.",
     .origin = Origin::kOurs},
    {.flags = {"--save-profile", "--save-record"},
     .dest = "save_record",
     .arity = Arity::kOne,
     .metavar = "FILE",
     .help = "Save what was measured as JSON, which vernier report reads.",
     .origin = Origin::kOurs},
};

}  // namespace

OptionGroup ProfileOptionRows() {
  return {"Measuring", "shapes, and how long to measure", kProfile};
}

}  // namespace vernier
