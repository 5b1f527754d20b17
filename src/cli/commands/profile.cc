// How fast runners are, one at a time.
#include "cli/commands/profile_session.h"

#include <cmath>

#include "cli/commands/command_start.h"
#include "cli/commands/commands.h"
#include "cli/commands/comparison_session.h"
#include "cli/commands/interruption.h"
#include "cli/commands/origin.h"
#include "cli/version.h"
#include "inputs/shape_grid.h"
#include "inputs/shape_spec.h"
#include "report/profile_text.h"
#include "util/atomic_file.h"

namespace vernier {
namespace {

constexpr size_t kShownLayers = 10;

Result<ProfileOptions> Bind(const ParsedArgs& args, const RunPlan& plan) {
  ProfileOptions options;
  VERNIER_ASSIGN_OR_RETURN(options.shapes, ExpandShapeGrid(args.List("input_shapes")));
  // A word that makes no sense ends the command before any framework loads.
  for (const std::vector<std::string>& words : options.shapes) {
    VERNIER_TRY(ParseShapeSpecs(words, Strictness::kStrict).status());
  }
  if (args.Has("input_shapes") && !plan.inputs.load_paths.empty()) {
    return InvalidArgument("--input-shapes: loaded inputs have their own shapes");
  }
  VERNIER_ASSIGN_OR_RETURN(const std::optional<int64_t> runs, args.Int("runs"));
  if (runs && *runs < 1) {
    return InvalidArgument("--runs: expected a number >= 1, got '" + std::to_string(*runs) + "'");
  }
  options.runs = runs.value_or(0);
  options.seconds = args.Float("duration").value_or(options.seconds);
  if (!(options.seconds >= 0) || std::isinf(options.seconds)) {
    return InvalidArgument("--duration: expected seconds >= 0");
  }
  VERNIER_ASSIGN_OR_RETURN(const std::optional<int64_t> warm_up, args.Int("profile_warm_up"));
  if (warm_up && *warm_up < 0) return InvalidArgument("--warm-up: expected a number >= 0");
  options.warm_up = warm_up.value_or(options.warm_up);
  options.layers = !args.Has("no_layer_times");
  return options;
}

// After each point, in case there is no end. Whether it can be written is told at the end.
void KeepAsMeasured(const std::string& path, const Invocation& invocation, RunRecord record) {
  record.command = invocation.command;
  record.version = kVersion;
  record.error = "the process had not come to its end: this is what was measured until then";
  (void)WriteFileAtomically(path, ToJson(record));
}

Status CheckPlan(const RunPlan& plan) {
  VERNIER_TRY(CheckRun(plan));
  if (plan.runners.empty()) {
    return InvalidArgument("name at least one runner to measure: --onnxrt, --openvino, --trt ...");
  }
  return {};
}

}  // namespace

Result<ProfilePlan> BindProfile(const ParsedArgs& args, const Invocation& invocation, Logger& log) {
  ProfilePlan plan;
  VERNIER_ASSIGN_OR_RETURN(plan.run, BindRun(args, invocation, log));
  VERNIER_TRY(CheckPlan(plan.run));
  VERNIER_ASSIGN_OR_RETURN(plan.options, Bind(args, plan.run));
  return plan;
}

int ProfileCommand(std::span<const std::string> words, const Invocation& invocation) {
  const CommandEntry& command = *FindCommand("profile");
  const CommandStart start = StartCommand(command, words, invocation);
  if (start.exit_code) return *start.exit_code;
  ConsoleLog& log = *start.log;
  Result<ProfilePlan> plan = BindProfile(start.args, invocation, log);
  if (!plan.ok()) return EndCommand(plan.status(), invocation, log);
  if (const std::string& path = plan->run.save.record; !path.empty()) {
    plan->options.keep = [&](const RunRecord& record) { KeepAsMeasured(path, invocation, record); };
  }
  log.Start("RUNNING | Command: " + invocation.command);
  RunOutcome outcome = ExecuteProfile(plan->run, plan->options, log, WatchSignals());
  CompleteRecord(outcome, plan->run, start.args, command, invocation);
  SaveRecordAndReports(plan->run.save, outcome.record, outcome.faults, log);
  const int code = EndWithBanner(log, outcome.record.seconds, outcome.faults, invocation);
  const size_t layers = log.Enabled(Severity::kVerbose) ? kShownLayers : 0;
  const std::string table = FormatProfile(outcome.record, layers);
  if (!table.empty()) log.Plain(table);
  return CloseLog(log, code, invocation);
}

}  // namespace vernier
