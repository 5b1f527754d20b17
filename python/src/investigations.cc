// vernier.blame, .profile, .check_consistency, .check_extremes and .check_lint: commands of the
// libraries that end in a record of their own.
#include <functional>

#include "bindings.h"
#include "named_tensors.h"
#include "option_words.h"
#include "options/bind/bind_blame.h"
#include "options/bind/bind_check.h"
#include "options/bind/bind_profile.h"
#include "options/bind/describe_origin.h"
#include "options/table/command_options.h"
#include "own_thread.h"
#include "python_logger.h"
#include "report/text/blame_text.h"
#include "report/text/profile_text.h"
#include "session/run/run_session.h"
#include "status_error.h"

namespace nb = nanobind;

namespace vernier::python {
namespace {

constexpr size_t kShownLayers = 10;

struct Answer {
  std::string record = {};   // JSON
  std::string summary = {};  // the tables of the program
  std::string error = {};    // why it was given up
  int exit_code = 0;
};

// What is asked beside the words.
struct Settings {
  std::vector<std::string> environment;
  std::string python;
  bool default_runner = false;  // the caller named none

  void Apply(RunPlan& plan) const {
    AddBefore(environment, plan.execution.environment);
    if (plan.execution.python.empty()) plan.execution.python = python;
  }
};

SessionContext ContextOf(const Words& words, std::string_view command, PythonLogger& logger,
                         OwnThread& thread) {
  SessionContext context{logger, thread.interrupted()};
  context.origin = DescribeOrigin(words.args, Check(OptionsOf(command)), words.invocation);
  return context;
}

Answer DoBlame(const Words& words, const Settings& settings, PythonLogger& logger,
               OwnThread& thread) {
  BlamePlan plan = Check(BindBlamePlan(words.args, words.invocation, logger));
  settings.Apply(plan.run);
  Check(CheckRun(plan.run));
  Answer answer;
  thread.Do([&] {
    const BlameOutcome outcome = CarryOutBlame(plan, ContextOf(words, "blame", logger, thread));
    const BlameRecord& record = outcome.record;
    answer = {ToJson(record), record.layers.empty() ? "" : FormatBlame(record, false), record.error,
              record.exit_code};
  });
  return answer;
}

// Of the runners that failed, a line each. `name` is where an item has the runner's name.
template <typename Item>
std::string Failures(const std::vector<Item>& items, std::string Item::*name) {
  std::string text;
  for (const Item& item : items) {
    if (item.failure.empty()) continue;
    text += (text.empty() ? "" : "\n") + item.*name + ": " + item.failure;
  }
  return text;
}

Answer DoProfile(const Words& words, const Settings& settings, PythonLogger& logger,
                 OwnThread& thread) {
  ProfilePlan plan = Check(BindProfile(words.args, words.invocation, logger));
  settings.Apply(plan.run);
  Answer answer;
  thread.Do([&] {
    const RunOutcome outcome =
        CarryOutProfile(plan.run, plan.options, ContextOf(words, "profile", logger, thread));
    const RunRecord& record = outcome.record;
    std::string error = record.error;
    if (error.empty() && record.profile) {
      error = Failures(record.profile->points, &ProfilePoint::runner);
    }
    answer = {ToJson(record), FormatProfile(record, kShownLayers), error, record.exit_code};
  });
  return answer;
}

Answer DoCheck(const Words& words, const Settings& settings, PythonLogger& logger,
               OwnThread& thread) {
  ConsistencyPlan plan = Check(BindConsistency(words.args, words.invocation, logger));
  settings.Apply(plan.run);
  Result<ConsistencyOutcome> outcome = Internal("not done");
  thread.Do([&] { outcome = TryConsistency(plan, thread.interrupted(), logger); });
  const auto [record, faults] = Check(std::move(outcome));
  return {ToJson(record), "", Failures(record.runners, &ConsistencyRunner::name),
          ExitCode(faults, false)};
}

Answer DoExtremes(const Words& words, const Settings& settings, PythonLogger& logger,
                  OwnThread& thread) {
  ExtremesPlan plan = Check(BindExtremes(words.args, words.invocation, logger));
  settings.Apply(plan.run);
  Result<ExtremesOutcome> outcome = Internal("not done");
  thread.Do([&] { outcome = TryExtremes(plan, thread.interrupted(), logger); });
  const auto [record, faults] = Check(std::move(outcome));
  return {ToJson(record), FormatAnswers(record), Failures(record.runners, &ExtremeRunner::name),
          ExitCode(faults, false)};
}

Answer DoLint(const Words& words, const Settings& settings, PythonLogger& logger,
              OwnThread& thread) {
  LintPlan plan = Check(BindLint(words.args, words.invocation, logger));
  settings.Apply(plan.run);
  plan.default_runner = settings.default_runner;
  Result<LintOutcome> outcome = Internal("not done");
  thread.Do([&] { outcome = LintAndReport(plan, thread.interrupted(), logger); });
  const auto [record, faults] = Check(std::move(outcome));
  return {ToJson(record), "", record.failure, ExitCode(faults, false)};
}

using Investigation = Answer (*)(const Words&, const Settings&, PythonLogger&, OwnThread&);

struct InvestigationRow {
  std::string_view command;
  Investigation carry_out;
};

constexpr InvestigationRow kInvestigations[] = {{"blame", DoBlame},
                                                {"profile", DoProfile},
                                                {"check consistency", DoCheck},
                                                {"check extremes", DoExtremes},
                                                {"check lint", DoLint}};

// The record as JSON, the program's tables, why it was given up, the exit code.
std::tuple<std::string, std::string, std::string, int> CarryOut(const std::string& command,
                                                                const CallOptions& options,
                                                                const nb::dict& said,
                                                                nb::object log, int threshold) {
  PythonLogger logger(std::move(log), threshold);
  const Settings settings{nb::cast<std::vector<std::string>>(said["environment"]),
                          nb::cast<std::string>(said["python"]),
                          nb::cast<bool>(said["default_runner"])};
  const Words words = Check(ReadOptions(command, options, logger));
  OwnThread thread;
  for (const InvestigationRow& row : kInvestigations) {
    if (row.command != command) continue;
    auto [record, summary, error, code] = row.carry_out(words, settings, logger, thread);
    return {std::move(record), std::move(summary), std::move(error), code};
  }
  throw StatusError{InvalidArgument("there is no command '" + command + "' to call")};
}

}  // namespace

void BindInvestigations(nb::module_& module) {
  module.def("investigate", &CarryOut, nb::arg("command"), nb::arg("options"), nb::arg("settings"),
             nb::arg("log"), nb::arg("threshold"));
}

}  // namespace vernier::python
