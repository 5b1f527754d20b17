#include "options/table/command_words.h"
#include "options/table/groups.h"
#include "options/table/option_values.h"
#include "vernier/checks.h"

namespace vernier {
namespace {

constexpr OptionRow kLint[] = {
    {.flags = {"-o", "--output"},
     .dest = "output",
     .sets = Sets<&SavePlan::record>(),
     .files = FileUse::kWritesThere,
     .arity = Arity::kOne,
     .metavar = "FILE",
     .help = "Save the report as JSON."},
    {.flags = {"--skip"},
     .dest = "skip",
     .sets = Sets<&LintOptions::skip>(),
     .arity = Arity::kPlus,
     .metavar = "RULE",
     .help = "Do not report violations of these rules.",
     .origin = Origin::kOurs},
    {.flags = {"--strict"},
     .dest = "strict",
     .sets = Sets<&LintOptions::strict>(),
     .help = "Exit with code 1 if there are warnings, too.",
     .origin = Origin::kOurs},
    {.flags = {"--no-run"},
     .dest = "no_run",
     .sets = Sets<&LintWords::no_run>(),
     .help = "Check the rules only, without running the model.",
     .origin = Origin::kOurs,
     .excludes = {"runners"}},
    {.flags = {"--list-rules"},
     .dest = "list_rules",
     .sets = Sets<&LintWords::list_rules>(),
     .help = "Print every rule with its level, and exit.",
     .origin = Origin::kOurs},
};

}  // namespace

OptionGroup LintCheckGroup() {
  return {"Rules", "which rules are checked, and where the report goes", kLint};
}

}  // namespace vernier
