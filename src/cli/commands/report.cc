// Reports of a saved record.
#include "cli/commands/command_start.h"
#include "cli/table/commands.h"
#include "options/table/option_sets.h"
#include "options/table/option_values.h"
#include "report/files/report_files.h"
#include "util/files/mapped_file.h"

namespace vernier {
namespace {

struct SavedRecord {
  std::string path;
};

constexpr OptionRow kReportFiles[] = {
    {.dest = "record",
     .sets = Sets<&SavedRecord::path>(),
     .files = FileUse::kReads,
     .arity = Arity::kOne,
     .metavar = "record",
     .help = "A file that --save-record wrote."},
    {.flags = {"-o", "--report"},
     .dest = "reports",
     .sets = Sets<&SavePlan::reports>(),
     .files = FileUse::kWrites,
     .arity = Arity::kOne,
     .action = OptionAction::kAppend,
     .required = true,
     .metavar = "FILE",
     .help = "Where to write: FILE.html, FILE.xml, FILE.jsonl or FILE.md. May be repeated.",
     .origin = Origin::kOurs},
};

// A larger record would be one of hundreds of thousands of outputs.
constexpr uint64_t kLargestRecord = uint64_t{1} << 30;

Result<RunRecord> Load(const std::string& path) {
  VERNIER_ASSIGN_OR_RETURN(const std::shared_ptr<const MappedFile> file, MappedFile::Open(path));
  const std::span<const std::byte> bytes = file->bytes();
  if (bytes.size() > kLargestRecord) return Malformed("'" + path + "' is too large for a record");
  Result<RunRecord> record =
      ReadRecord(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), path);
  VERNIER_TRY(file->CheckIntact());
  return record;
}

Status MakeReports(const ParsedArgs& args, Logger& log) {
  SavedRecord saved;
  SavePlan save;
  VERNIER_TRY(BindOptions(args, {.log = &log}, {saved, save}));
  VERNIER_ASSIGN_OR_RETURN(const RunRecord record, Load(saved.path));
  for (const ReportFile& report : save.reports) {
    log.Info("Saving report to " + report.path);
    VERNIER_TRY(WriteReport(report, record));
  }
  return {};
}

int ReportCommand(std::span<const std::string> words, const Invocation& invocation) {
  const CommandStart start = StartCommand(kReportCommand, words, invocation);
  if (start.exit_code) return *start.exit_code;
  return EndCommand(MakeReports(start.args, *start.log), invocation, *start.log);
}

}  // namespace

constexpr CommandSpec kReportCommand = {
    .name = "report",
    .section = CommandSection::kCompare,
    .operands = "record -o FILE [options ...]",
    .summary = "write reports from a saved record, without running anything",
    .about =
        "Write reports, as --report does, from a record that --save-record saved. A record holds"
        " everything that the HTML page shows.",
    .options =
        [] {
          return OptionTable({GeneralGroup(), LoggingGroup(),
                              OptionGroup{"Reports", "the record and the reports", kReportFiles}});
        },
    .run = ReportCommand,
};

}  // namespace vernier
