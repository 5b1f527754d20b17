// What runners make of extreme values, told as a table.
#include <algorithm>
#include <chrono>
#include <set>

#include "check/extremes.h"
#include "cli/bind_run.h"
#include "cli/commands/command_start.h"
#include "cli/commands/commands.h"
#include "cli/commands/comparison_session.h"
#include "cli/commands/interruption.h"
#include "cli/version.h"
#include "util/atomic_file.h"

namespace vernier {
namespace {

using Row = std::vector<std::string>;

Result<RunPlan> BindPlan(const ParsedArgs& args, const Invocation& invocation, Logger& log) {
  VERNIER_ASSIGN_OR_RETURN(RunPlan plan, BindRun(args, invocation, log));
  if (plan.runners.empty()) {
    return InvalidArgument("no runner is named: add --onnxrt, --openvino, --trt or another");
  }
  VERNIER_TRY(CheckRun(plan));
  return plan;
}

std::vector<ExtremeSetRow> ChosenSets(const ParsedArgs& args) {
  const std::span<const std::string> words = args.List("sets");
  std::vector<ExtremeSetRow> sets;
  for (const ExtremeSetRow& row : ExtremeSets()) {
    const bool named = std::find(words.begin(), words.end(), row.name) != words.end();
    if (words.empty() || named) sets.push_back(row);
  }
  return sets;
}

std::string Beside(const ExtremeAnswer& answer) {
  if (!answer.failure.empty())
    return "FAILED: " + answer.failure.substr(0, answer.failure.find('\n'));
  std::string text;
  const auto add = [&](int64_t count, const std::string& what) {
    if (count > 0) text += (text.empty() ? "" : "; ") + std::to_string(count) + " " + what;
  };
  add(answer.only_here_not_finite, "not finite here alone");
  add(answer.only_here_finite, "finite here alone");
  add(answer.other_kind, "not finite in another way");
  add(answer.flushed, "denormals flushed to zero");
  add(answer.kept, "denormals kept that are zero there");
  add(static_cast<int64_t>(answer.not_compared.size()), "outputs not compared");
  if (!answer.output.empty()) text += " (first in '" + answer.output + "')";
  if (text.empty() && answer.compared > 0) return "the same";
  return text;
}

std::string FormatRows(const std::vector<Row>& rows) {
  std::vector<size_t> widths;
  for (const Row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      line += row[i] + std::string(widths[i] - row[i].size() + 2, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  if (!text.empty()) text.pop_back();
  return text;
}

std::string FormatTable(const ExtremesRecord& record) {
  std::vector<Row> rows = {{"set", "runner", "NaN", "Inf", "denormal", "zero", "of",
                            "beside " + record.answers.front().runner}};
  for (const ExtremeAnswer& answer : record.answers) {
    Row row = {answer.set, answer.runner};
    if (answer.failure.empty()) {
      for (const int64_t count :
           {answer.nan, answer.infinite, answer.denormal, answer.zero, answer.elements}) {
        row.push_back(std::to_string(count));
      }
    } else {
      row.insert(row.end(), 5, "-");
    }
    row.push_back(Beside(answer));
    rows.push_back(std::move(row));
  }
  return FormatRows(rows);
}

RunFaults Judge(const ExtremesRecord& record, bool strict, Logger& log) {
  RunFaults faults;
  for (const ExtremeRunner& runner : record.runners) {
    if (runner.failure.empty()) continue;
    log.Error(runner.name + " | FAILED: " + runner.failure);
    (runner.unavailable ? faults.unavailable : faults.backend) = true;
  }
  if (record.answers.empty()) {
    if (!faults.any()) log.Error("nothing was tried: the model has no inputs of a float type");
    faults.incomplete |= !faults.any();
    return faults;
  }
  log.Info("What came out\n" + FormatTable(record));
  std::set<std::string> disagree, flush, failed;
  for (const ExtremeAnswer& answer : record.answers) {
    if (answer.disagrees()) disagree.insert(answer.set);
    if (answer.flushed + answer.kept > 0) flush.insert(answer.set);
    if (!answer.failure.empty()) failed.insert(answer.set);
    faults.incomplete |= !answer.not_compared.empty();
  }
  const auto list = [](const std::set<std::string>& sets) {
    std::string text;
    for (const std::string& set : sets) text += (text.empty() ? "" : ", ") + set;
    return text;
  };
  if (!disagree.empty()) log.Error("runners differ in what is finite with: " + list(disagree));
  if (!failed.empty()) log.Error("runners fail with: " + list(failed));
  if (!flush.empty()) log.Warning("runners differ in flushing denormals with: " + list(flush));
  faults.mismatch = !record.agree() || (strict && !flush.empty());
  faults.backend |= !failed.empty();
  return faults;
}

}  // namespace

int CheckExtremesCommand(std::span<const std::string> words, const Invocation& invocation) {
  const CommandStart start = StartCommand(*FindCommand("check extremes"), words, invocation);
  if (start.exit_code) return *start.exit_code;
  ConsoleLog& log = *start.log;
  const Result<RunPlan> plan = BindPlan(start.args, invocation, log);
  if (!plan.ok()) return EndCommand(plan.status(), invocation, log);
  const auto begin = std::chrono::steady_clock::now();
  log.Start("RUNNING | Command: " + invocation.command);
  const Probe::Shared shared{plan->execution, WatchSignals(), log};
  Result<ExtremesRecord> record =
      CheckExtremes(*plan, ChosenSets(start.args), shared, [&](const ExtremeAnswer& answer) {
        log.Verbose(answer.set + " | " + answer.runner + " | " +
                    (answer.failure.empty() ? "done" : answer.failure));
      });
  if (record.status().code() == StatusCode::kCancelled) return 128 + ReceivedSignal();
  if (!record.ok()) return EndCommand(record.status(), invocation, log);
  record->command = invocation.command;
  record->version = kVersion;
  RunFaults faults = Judge(*record, start.args.Has("strict"), log);
  if (!plan->save.record.empty()) {
    const Status saved = WriteFileAtomically(plan->save.record, ToJson(*record));
    if (!saved.ok()) log.Critical(saved.message());
    faults.Add(saved);
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  return EndWithBanner(log, elapsed.count(), faults, invocation);
}

}  // namespace vernier
