// Parts of shards to the record of the run that was not divided.
#include <malloc.h>

#include <filesystem>
#include <iterator>
#include <system_error>

#include "cli/commands/command_start.h"
#include "cli/commands/comparison_session.h"
#include "cli/table/commands.h"
#include "options/table/option_sets.h"
#include "options/table/option_values.h"
#include "report/text/run_summary.h"
#include "run/saved/row_writer.h"
#include "run/shards/shard_merge.h"
#include "run/shards/shard_status.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

Status CheckMergePlan(const MergePlan& merge, const SavePlan& save) {
  if (merge.output.empty() && !merge.only_status) {
    return InvalidArgument("merge: the name of the record is missing: give -o FILE");
  }
  const bool reports = !save.reports.empty() || !merge.rows.empty() || save.reproducible;
  const bool merges = reports || merge.partial || !merge.output.empty();
  if (merge.only_status && merges) {
    return InvalidArgument(
        "--status: it only looks at the parts and writes nothing: leave -o, --partial,"
        " --report, --save-rows and --reproducible out, or leave --status out to merge");
  }
  if (merge.partial && reports) {
    return InvalidArgument(
        "--partial: a part has no rows and reports: give them where all parts are merged");
  }
  if (!merge.rows.empty() && !RowWriter::Takes(merge.rows)) {
    return InvalidArgument("--save-rows: expected FILE.jsonl or FILE.npz, got '" + merge.rows +
                           "'");
  }
  std::error_code ignored;
  for (const std::string& part : merge.parts) {
    if (merge.output.empty() || !std::filesystem::equivalent(part, merge.output, ignored)) continue;
    return InvalidArgument("-o: '" + merge.output + "' is one of the parts, which stay");
  }
  return {};
}

// 0 once every shard is done, and merge would take the parts.
int ReportStatus(const MergePlan& merge, const Invocation& invocation, ConsoleLog& log) {
  const ShardsSeen seen = LookAtShards(merge.parts, log);
  log.Plain(DescribeShards(seen));
  RunFaults faults;
  faults.incomplete = seen.count == 0 || std::ssize(seen.done) < seen.count;
  if (!faults.incomplete) {
    const Status fits = CheckMerge(seen.parts, merge.mixed);
    if (!fits.ok()) log.Critical("these parts do not merge: " + fits.message());
    faults.Add(fits);
  }
  return CloseLog(log, ExitCode(faults, invocation.as_polygraphy), invocation);
}

// What is read of a line is freed soon, for millions of lines: glibc would give that memory back to
// the system, and get it again, each time.
void KeepFreedMemory() {
  constexpr int kKept = 64 << 20, kAtOnce = 1 << 20;
  ::mallopt(M_TRIM_THRESHOLD, kKept);
  ::mallopt(M_TOP_PAD, kAtOnce);
}

int MergeCommand(std::span<const std::string> words, const Invocation& invocation) {
  std::vector<std::string> more;
  const CommandStart start = StartCommand(kMergeCommand, words, invocation, &more);
  if (start.exit_code) return *start.exit_code;
  ConsoleLog& log = *start.log;
  const ParsedArgs& args = start.args;
  MergePlan merge;
  SavePlan save;
  Status bound = BindOptions(args, {.log = &log}, {merge, save});
  merge.parts.insert(merge.parts.end(), more.begin(), more.end());
  merge.rows = save.rows;
  if (bound.ok()) bound = CheckMergePlan(merge, save);
  if (!bound.ok()) return EndCommand(bound, invocation, log);
  if (merge.only_status) return ReportStatus(merge, invocation, log);
  KeepFreedMemory();
  MergeOutcome merged = MergeShards(merge, log);
  RunOutcome& outcome = merged.outcome;
  if (!merged.merged)
    return CloseLog(log, ExitCode(outcome.faults, invocation.as_polygraphy), invocation);
  log.Info("Merged " + std::to_string(merge.parts.size()) + " part(s) to " + merge.output);
  if (merge.partial) return CloseLog(log, 0, invocation);
  merged.plan.command = invocation.command;
  merged.plan.save = save;
  merged.plan.save.rows.clear();
  merged.plan.save.record = merge.output;
  const SessionContext context = ContextOf(args, kMergeCommand.options(), invocation, log);
  FinishRecord(merged.plan, context, outcome);
  log.Plain(FormatRunSummary(
      outcome.record, {.interleaved = false, .all_outputs = log.Enabled(Severity::kVerbose)}));
  return CloseLog(log, ExitCode(outcome.faults, invocation.as_polygraphy), invocation);
}

}  // namespace

constexpr CommandSpec kMergeCommand = {
    .name = "merge",
    .section = CommandSection::kCompare,
    .operands = "part [part ...] -o FILE [options ...]",
    .summary = "merge the parts of shards into the record of the whole run",
    .about =
        "Merge the parts that the shards of a run saved (--save-record) into the record that a"
        " single process would have written, with the same numbers, and exit with its code. Every"
        " iteration must be present exactly once; for missing shards, the"
        " command that runs them is printed (exit code 4). Duplicate parts of a shard are accepted"
        " if they agree. To join files of saved outputs see data concat; data merge is for inputs.",
    .options =
        [] {
          return OptionTable({GeneralGroup(), LoggingGroup(), MergeGroup(),
                              Only(ReportGroup(), {"reports", "save_rows"}), ReproducibleGroup()});
        },
    .run = MergeCommand,
};

}  // namespace vernier
