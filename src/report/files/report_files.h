// --report: a record as a file.
#pragma once

#include <string>

#include "vernier/run_plan.h"
#include "vernier/run_record.h"
#include "vernier/status.h"

namespace vernier {

/// By the extension: .html, .xml (JUnit), .jsonl, .md. kInvalidArgument, which begins with `flag`,
/// for any other.
Result<ReportFile> ReportFileFor(const std::string& flag, const std::string& path);

/// Writes the file, which appears whole or not at all. kIo.
Status WriteReport(const ReportFile& report, const RunRecord& record);

/// In a GitHub workflow ($GITHUB_ACTIONS is "true"): the annotations to print; otherwise empty. The
/// Markdown report goes to the file that $GITHUB_STEP_SUMMARY names; kIo when that fails.
Result<std::string> AnnotateGitHub(const RunRecord& record);

}  // namespace vernier
