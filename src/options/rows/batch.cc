#include "batch/batch.h"
#include "options/table/groups.h"
#include "options/table/option_values.h"
#include "options/table/parsed_args.h"
#include "report/files/report_files.h"
#include "util/threads/allowed_processors.h"

namespace vernier {
namespace {

// 0: as many as there are processors.
Status SetBatchJobs(const OptionInput& input, BatchPlan& plan) {
  int64_t jobs = 0;
  VERNIER_TRY(ReadValue(input, jobs));
  plan.jobs = jobs == 0 ? AllowedProcessors() : static_cast<size_t>(jobs);
  return {};
}

Status SetBatchReport(const OptionInput& input, BatchPlan& plan) {
  plan.report = TextOf(input);
  const Result<ReportFile> report = ReportFileFor("--report", plan.report);
  if (report.ok() && report->format == ReportFormat::kJunit) return {};
  return InvalidArgument(
      "--report: expected a file that ends in .xml (JUnit) for all models, got '" + plan.report +
      "'; after -- it is one for each model");
}

constexpr OptionRow kBatch[] = {
    {.dest = "models",
     .sets = Sets<&BatchPlan::models>(),
     .files = FileUse::kReadsModels,
     .arity = Arity::kPlus,
     .metavar = "model",
     .help = "Models: files, folders that are a model (a SavedModel), or quoted patterns such as"
             " 'models/*.onnx'. Other folders are not searched.",
     .origin = Origin::kOurs},
    {.flags = {"--jobs"},
     .dest = "jobs",
     .sets = SetBy<&SetBatchJobs>(kAtLeast0),
     .arity = Arity::kOne,
     .type = ValueType::kInt,
     .fallback = "1",
     .metavar = "N",
     .help = "Number of models to run at the same time; 0 means one per processor"
             " that this process may use.",
     .origin = Origin::kOurs},
    {.flags = {"--log-dir"},
     .dest = "log_dir",
     .sets = Sets<&BatchPlan::log_folder>(),
     .files = FileUse::kWritesInto,
     .arity = Arity::kOne,
     .metavar = "DIR",
     .help = "Save the output of each run in DIR/STEM.log.",
     .origin = Origin::kOurs},
    {.flags = {"--report"},
     .dest = "reports",
     .sets = SetBy<&SetBatchReport>(),
     .files = FileUse::kWrites,
     .arity = Arity::kOne,
     .metavar = "FILE.xml",
     .help = "Write one JUnit report for all models together. --report after -- writes one for each"
             " model.",
     .origin = Origin::kOurs},
};

}  // namespace

OptionGroup BatchGroup() { return {"Batch", "running many models", kBatch}; }

}  // namespace vernier
