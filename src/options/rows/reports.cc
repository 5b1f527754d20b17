#include "options/table/command_words.h"
#include "options/table/groups.h"
#include "options/table/option_values.h"

namespace vernier {
namespace {

constexpr OptionRow kReports[] = {
    {.flags = {"--report"},
     .dest = "reports",
     .sets = Sets<&SavePlan::reports>(),
     .files = FileUse::kWrites,
     .arity = Arity::kOne,
     .action = OptionAction::kAppend,
     .metavar = "FILE",
     .help =
         "Write a report: FILE.html is a page for people, FILE.xml is in JUnit's format,"
         " FILE.jsonl has a line for each output, FILE.md is for pull requests. May be repeated.",
     .origin = Origin::kOurs},
    {.flags = {"--save-record"},
     .dest = "save_record",
     .sets = Saves<&SavePlan::record>(),
     .arity = Arity::kOne,
     .metavar = "FILE",
     .help = "Save what was run, measured and decided as JSON.",
     .origin = Origin::kOurs},
    {.flags = {"--save-rows"},
     .dest = "save_rows",
     .sets = Saves<&SavePlan::rows>(),
     .arity = Arity::kOne,
     .metavar = "FILE",
     .help = "Save the statistics of every output in every iteration, a row for each iteration and"
             " pair: FILE.jsonl holds JSON lines, FILE.npz an array for each column.",
     .origin = Origin::kOurs},
};

constexpr OptionRow kRunFiles[] = {
    {.flags = {"--run-file"},
     .dest = "run_file",
     .sets = Sets<&RunCall::plan_file>(),
     .files = FileUse::kReads,
     .elsewhere = "only the program carries run files out: `python -m vernier run --run-file FILE`;"
                  " vernier.load_record reads the record that the file's run saves",
     .arity = Arity::kOne,
     .metavar = "FILE",
     .help =
         "Perform the run described in FILE, which --save-run-file or a program wrote. Only logging"
         " options may be added.",
     .origin = Origin::kOurs},
    {.flags = {"--save-run-file"},
     .dest = "save_run_file",
     .sets = Sets<&RunCall::save_plan_file>(),
     .files = FileUse::kWrites,
     .in_package = InPackage::kNot,
     .elsewhere = "only the program writes run files: `python -m vernier run ... --save-run-file"
                  " FILE`; here a function that calls vernier.run is one",
     .arity = Arity::kOne,
     .metavar = "FILE",
     .help = "Save the run that this command line describes as JSON, before it starts.",
     .origin = Origin::kOurs},
};

}  // namespace

OptionGroup RunFileGroup() { return {"Run files", "a run as a file", kRunFiles}; }

OptionGroup ReportGroup() { return {"Reports", "records of the run", kReports}; }

}  // namespace vernier
