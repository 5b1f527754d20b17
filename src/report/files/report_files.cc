#include "report/files/report_files.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "record/schema/side_names.h"
#include "report/files/blame_report.h"
#include "report/files/junit.h"
#include "report/files/markdown.h"
#include "report/html/page.h"
#include "util/files/atomic_file.h"
#include "util/log/workflow_commands.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

struct Extension {
  std::string_view end;
  ReportFormat format;
};
constexpr Extension kExtensions[] = {
    {".html", ReportFormat::kHtml},         {".htm", ReportFormat::kHtml},
    {".xml", ReportFormat::kJunit},         {".jsonl", ReportFormat::kJsonLines},
    {".ndjson", ReportFormat::kJsonLines},  {".md", ReportFormat::kMarkdown},
    {".markdown", ReportFormat::kMarkdown},
};

std::string Format(const RunRecord& record, ReportFormat format) {
  switch (format) {
    case ReportFormat::kHtml:
      return FormatPage(WithSideNames(record, NameStyle::kShort));
    case ReportFormat::kJunit:
      return FormatJunit(record);
    case ReportFormat::kJsonLines:
      return ToJsonLines(WithSideNames(record, NameStyle::kShort));
    case ReportFormat::kMarkdown:
      return FormatMarkdown(WithSideNames(record, NameStyle::kShort));
  }
  return "";
}

// Steps of a job share the file: what others wrote stays.
Status Append(const char* path, const std::string& text) {
  std::FILE* file = std::fopen(path, "ab");
  const bool written =
      file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool closed = file != nullptr && std::fclose(file) == 0;
  if (written && closed) return {};
  return IoError(std::string("$GITHUB_STEP_SUMMARY: cannot write '") + path +
                 "': " + std::strerror(errno));
}

}  // namespace

Result<ReportFile> ReportFileFor(const std::string& flag, const std::string& path) {
  const std::string lower = ToLower(path);
  for (const Extension& extension : kExtensions) {
    const bool named = lower.size() > extension.end.size();
    if (named && lower.ends_with(extension.end)) return ReportFile{path, extension.format};
  }
  return InvalidArgument(
      flag + ": expected a file that ends in .html, .xml (JUnit), .jsonl or .md, got '" + path +
      "'");
}

Status WriteReport(const ReportFile& report, const RunRecord& record) {
  if (record.blame) {
    return WriteFileAtomically(report.path, Format(WithLayers(record), report.format));
  }
  return WriteFileAtomically(report.path, Format(record, report.format));
}

Result<std::string> AnnotateGitHub(const RunRecord& given) {
  const RunRecord record = WithSideNames(given, NameStyle::kShort);
  if (!InGitHubWorkflow()) return std::string();
  const char* summary = std::getenv("GITHUB_STEP_SUMMARY");
  if (summary != nullptr && *summary != '\0') {
    VERNIER_TRY(Append(summary, FormatMarkdown(record.blame ? WithLayers(record) : record) + "\n"));
  }
  return FormatAnnotations(record);
}

}  // namespace vernier
