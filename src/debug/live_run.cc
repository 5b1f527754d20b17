#include "debug/live_run.h"

#include <algorithm>
#include <utility>

#include "backend/worker/worker.h"
#include "record/schema/gate_text.h"
#include "run/comparison/no_reports.h"
#include "run/executor.h"
#include "run/outcome/exit_code.h"
#include "util/process/interruption.h"

namespace vernier {
namespace {

constexpr const char* kWhatToDo =
    "save all tensors of the reference with --onnx-outputs mark all, or name runners for both "
    "sides";

// What of the decisions was not made; empty: all were, or none was asked for.
std::string WhyUndecided(const RunRecord& record) {
  const auto about = std::ranges::find_if(record.faults, [](const std::string& fault) {
    return fault.find(": --decision ") != std::string::npos;
  });
  return about == record.faults.end() ? "" : *about;
}

// Where neither side has anything to decide about, every model would pass.
Status JudgeVacuous(const RunRecord& record) {
  for (const PairRecord& pair : record.pairs) {
    if (pair.judged_by == "elements") continue;
    for (const DecisionRecord& decision : pair.decisions) {
      if (decision.vacuous.empty()) continue;
      return InvalidArgument(
          "the check says nothing of the model: " + DecisionName(decision.kind, decision.output) +
          " shows nothing: " + decision.vacuous);
    }
  }
  return {};
}

// A gate that so many samples do not decide would often fail with others; empty: there is none.
std::string UndecidedGate(const RunRecord& record) {
  for (const PairRecord& pair : record.pairs) {
    for (const DecisionGateRecord& gate : pair.decision_gates) {
      if (gate.undecided && !GateIsMissed(gate)) return GateInWords(gate);
    }
  }
  return "";
}

bool AllRunnersDidTheirPart(const RunRecord& record) {
  return std::all_of(record.runners.begin(), record.runners.end(),
                     [](const RunnerRecord& runner) { return runner.failure.empty(); });
}

Status JudgeByCode(int code, const std::string& reason, const RunRecord& record) {
  const std::string text = "vernier run: " + reason;
  if (code == kUnsavedCode) return ErrorOfExitCode(code, text);
  // A model's fault does not explain these where all runners did their part.
  if (!AllRunnersDidTheirPart(record)) return {};
  if (code == kMalformedCode) return ErrorOfExitCode(code, text);
  if (code != kIncompleteCode) return {};
  std::string why = WhyUndecided(record);
  // Of gates and their labels, what is missing has been said as well as it can be.
  const bool gated = std::ranges::any_of(
      record.pairs, [](const PairRecord& pair) { return pair.judged_by == "decisions"; });
  if (why.empty() && gated && !record.faults.empty()) why = record.faults.front();
  if (!why.empty()) return InvalidArgument("the check says nothing of the model: " + why);
  return InvalidArgument(
      "vernier run could not compare all outputs, so the check says nothing of the model" +
      (reason.empty() ? "" : " (" + reason + ")") + ": " + kWhatToDo);
}

// Of a part of a model with these outputs.
Status JudgeByNames(const RunRecord& record, const std::vector<std::string>& model_outputs) {
  for (const PairRecord& pair : record.pairs) {
    for (const OutputRecord& output : pair.outputs) {
      const bool by_name =
          output.paired_by == "exact" || output.paired_by == "folded" || output.paired_by == "map";
      const std::string& own = pair.first_file.empty() ? output.name : output.other_name;
      const bool of_model =
          std::find(model_outputs.begin(), model_outputs.end(), own) != model_outputs.end();
      if (by_name || of_model || output.other_name.empty()) continue;
      return InvalidArgument("the check compares '" + own + "', a tensor within the model, with '" +
                             (&own == &output.name ? output.other_name : output.name) +
                             "', which says nothing about it: " + kWhatToDo);
    }
  }
  return {};
}

}  // namespace

LiveRun::LiveRun(Logger& log, bool show, RunReader reader, const std::atomic<int>& interrupted)
    : reader_(std::move(reader)),
      interrupted_(interrupted),
      now_(std::time(nullptr)),
      show_(show),
      // What is news in a single run is noise in the tenth.
      log_(
          log,
          [](Severity severity) {
            return ForwardingLog::Line{.severity = std::min(severity, Severity::kVerbose),
                                       .plain = true};
          },
          {.least = show ? Severity::kInfo : Severity::kError,
           .receive = [this](Severity severity, std::string_view text) { Keep(severity, text); }}) {
  caller_.kept_workers = &kept_;
  caller_.keeps_outputs = true;  // what is compared with a file has to come here anyway
}

void LiveRun::Keep(Severity severity, std::string_view text) {
  if (severity >= logged_.worst && severity >= Severity::kError) {
    logged_.worst = severity;
    logged_.reason = text;
  }
  if (show_) logged_.said += std::string(text) + "\n";
}

Result<RunPlan> LiveRun::Plan(const std::vector<std::string>& words, Side side) {
  // Python serves runners by their names: equal ones share what they loaded.
  return reader_.read(words, side == Side::kReference ? now_ - 1 : now_, log_);
}

bool LiveRun::CanRun(const RunPlan& plan) {
  const SavePlan& save = plan.save;
  const PicturePlan& pictures = plan.pictures;
  return save.accuracy.empty() && save.record.empty() && save.reports.empty() &&
         pictures.heatmaps.empty() && pictures.error_plots.empty() && !pictures.show_heatmaps &&
         !pictures.show_error_plots && !plan.execution.in_process;
}

Result<LiveRun::Outcome> LiveRun::Run(const RunPlan& plan) {
  Outcome outcome;
  RunFaults faults;
  RunRecord record;
  if (const Status status = reader_.check(plan); !status.ok()) {
    log_.Critical(status.message());
    faults.Add(status);
  } else if (plan.runners.empty() && plan.load_outputs.empty()) {
    log_.Critical("no runner is named: nothing would be checked");
    faults.usage = true;
  } else {
    NoReports no_reports;
    RunOutcome ran = ExecuteRun(plan, log_, no_reports, interrupted_, &caller_);
    faults = ran.faults;
    record = std::move(ran.record);
    if (on_end_) on_end_(record);
  }
  VERNIER_TRY(CheckInterrupted(interrupted_));
  outcome.code = ExitCode(faults, false);
  LoggedWords logged = std::exchange(logged_, {});
  outcome.reason = std::move(logged.reason);
  outcome.said = std::move(logged.said);
  outcome.undecided = UndecidedGate(record);
  outcome.judged = JudgeByCode(outcome.code, outcome.reason, record);
  if (outcome.judged.ok()) outcome.judged = JudgeVacuous(record);
  if (outcome.judged.ok() && !model_outputs_.empty()) {
    outcome.judged = JudgeByNames(record, model_outputs_);
  }
  return outcome;
}

}  // namespace vernier
