#include <limits>

#include "options/table/groups.h"
#include "options/table/option_values.h"
#include "vernier/profile_options.h"

namespace vernier {
namespace {

constexpr NumberRule kMeasuredSeconds = {
    .expected = "seconds >= 0", .least = 0, .most = std::numeric_limits<double>::max()};

constexpr OptionRow kProfile[] = {
    {.flags = {"--duration"},
     .dest = "duration",
     .sets = Sets<&ProfileOptions::seconds>(kMeasuredSeconds),
     .arity = Arity::kOne,
     .type = ValueType::kFloat,
     .fallback = "3",
     .metavar = "SECONDS",
     .help = "How long to measure each runner with each set of shapes; at least ten inferences.",
     .origin = Origin::kOurs},
    {.flags = {"--runs"},
     .dest = "runs",
     .sets = Sets<&ProfileOptions::runs>(kAtLeast1),
     .arity = Arity::kOne,
     .type = ValueType::kInt,
     .metavar = "NUM",
     .help = "Measure this number of inferences, however long they take.",
     .origin = Origin::kOurs,
     .excludes = {"duration"}},
    {.flags = {"--warm-up", "--warm-up-runs"},
     .dest = "profile_warm_up",
     .sets = Sets<&ProfileOptions::warm_up>(kAtLeast0),
     .arity = Arity::kOne,
     .type = ValueType::kInt,
     .fallback = "5",
     .metavar = "NUM",
     .help = "Untimed inferences for each runner and set of shapes; at least one."},
    {.flags = {"--no-layer-times"},
     .dest = "no_layer_times",
     .sets = Sets<&ProfileOptions::layers>(),
     .turns_off = true,
     .help = "Do not measure layer times. Measuring them opens each model once more.",
     .origin = Origin::kOurs},
    {.flags = {"--save-profile", "--save-record"},
     .dest = "save_record",
     .sets = Saves<&SavePlan::record>(),
     .arity = Arity::kOne,
     .metavar = "FILE",
     .help = "Save the measurements as JSON, which vernier report reads.",
     .origin = Origin::kOurs},
};

}  // namespace

OptionGroup ProfileOptionRows() {
  return {"Measuring", "how long to measure, and what is saved", kProfile};
}

}  // namespace vernier
