#include "options/table/groups.h"
#include "options/table/option_values.h"
#include "session/rows/accuracy_session.h"

namespace vernier {
namespace {

constexpr OptionRow kAccuracy[] = {
    {.dest = "path",
     .sets = Sets<&AccuracyPlan::path>(),
     .files = FileUse::kReads,
     .arity = Arity::kOne,
     .metavar = "path",
     .help = "A file that --save-accuracy-results wrote, here or in Polygraphy, or the rows of"
             " --save-rows."},
};

}  // namespace

OptionGroup AccuracyFileGroup() { return {"Files", "what is read", kAccuracy}; }

}  // namespace vernier
