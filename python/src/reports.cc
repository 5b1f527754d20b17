// Records that the package holds as JSON, in the words and pages of the program.
#include "bindings.h"
#include "gil.h"
#include "named_tensors.h"
#include "report/files/report_files.h"
#include "report/text/run_summary.h"
#include "status_error.h"
#include "vernier/run_record.h"

namespace nb = nanobind;

namespace vernier::python {
namespace {

std::string Summary(const std::string& json, bool interleaved) {
  const RunRecord record = Check(ReadRecord(json, "the record"));
  return FormatRunSummary(record, {.interleaved = interleaved, .all_outputs = false});
}

void Report(const std::string& json, const std::string& path) {
  const RunRecord record = Check(ReadRecord(json, "the record"));
  const ReportFile file = Check(ReportFileFor("report", path));
  const GilRelease release;
  Check(WriteReport(file, record));
}

}  // namespace

void BindReports(nb::module_& module) {
  module.def("summary", &Summary, nb::arg("record"), nb::arg("interleaved"));
  module.def("report", &Report, nb::arg("record"), nb::arg("path"));
}

}  // namespace vernier::python
