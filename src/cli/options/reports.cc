#include "cli/options/groups.h"

namespace vernier {
namespace {

constexpr OptionRow kReports[] = {
    {.flags = {"--save-record"},
     .dest = "save_record",
     .arity = Arity::kOne,
     .metavar = "FILE",
     .help = "Save what was run, measured and decided as JSON.",
     .origin = Origin::kOurs},
};

}  // namespace

OptionGroup ReportOptions() { return {"Reports", "records of the run", kReports}; }

}  // namespace vernier
