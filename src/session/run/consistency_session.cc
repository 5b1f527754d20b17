#include "session/run/consistency_session.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "core/version.h"
#include "record/schema/side_names.h"
#include "util/files/atomic_file.h"
#include "util/text/number_text.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

std::string Listed(std::string_view what, const std::vector<NotedOutput>& outputs) {
  std::string text;
  for (const NotedOutput& output : outputs) {
    text += (text.empty() ? "; " + std::string(what) + ": " : ", ") + output.name + " (" +
            output.why + ")";
  }
  return text;
}

/// Prints each property as it is done, under the name of its runner.
class PropertyTeller {
 public:
  PropertyTeller(const std::vector<RunnerPlan>& runners, Logger& log) : log_(log) {
    for (const RunnerPlan& runner : runners) names_.push_back(runner.name);
    brief_ = ShortNames(names_);
  }

  void LogProperty(const ConsistencyRunner& runner, const PropertyRecord& property) {
    Introduce(runner);
    const LogIndent indent(log_);
    const std::string name(property.name);
    const std::string left_out = Listed("left out", property.left_out);
    switch (property.verdict) {
      case PropertyVerdict::kHolds:
        return log_.Finish("PASSED | " + name + " | " + property.detail + left_out);
      case PropertyVerdict::kNotApplicable:
        return log_.Info("NOT TRIED | " + name + " | " + property.detail);
      case PropertyVerdict::kBroken:
        log_.Error("FAILED | " + name + " | expected " + std::string(property.meaning) + ": " +
                   property.detail + " | smallest case: " + property.smallest_case + left_out);
    }
  }

  void LogFailure(const ConsistencyRunner& runner) {
    Introduce(runner);
    const LogIndent indent(log_);
    log_.Error("FAILED | " + runner.failure);
  }

 private:
  void Introduce(const ConsistencyRunner& runner) {
    if (runner.name == introduced_) return;
    introduced_ = runner.name;
    const std::string& version = runner.framework_version;  // none where it could not be loaded
    log_.Info(BriefName(runner.name) + ", " + runner.backend +
              (version.empty() ? "" : " " + version));
  }

  // As the lines at the end call it.
  std::string BriefName(const std::string& name) const {
    const auto at = std::ranges::find(names_, name);
    return at == names_.end() ? name : brief_[static_cast<size_t>(at - names_.begin())];
  }

  Logger& log_;
  std::vector<std::string> names_, brief_;
  std::string introduced_;
};

Status SaveRecord(const RunPlan& plan, ConsistencyRecord& record) {
  record.command = plan.command;
  record.version = kVersion;
  if (plan.save.record.empty()) return {};
  return WriteFileAtomically(plan.save.record, ToJson(record));
}

// Runners as the lines at the end of a run call them; the log of the run keeps their own names.
ConsistencyRecord WithBriefNames(ConsistencyRecord record) {
  std::vector<std::string> names;
  for (const ConsistencyRunner& runner : record.runners) names.push_back(runner.name);
  names = ShortNames(names);
  for (size_t i = 0; i < names.size(); ++i) record.runners[i].name = names[i];
  return record;
}

/// Saves what was found so far, in case there is no end. Whether it can be written is reported at
/// the end.
class RecordKeeper {
 public:
  explicit RecordKeeper(const RunPlan& plan) : plan_(plan) { record_.complete = false; }

  void Keep(const ConsistencyRunner& runner, const PropertyRecord& property) {
    if (record_.runners.empty() || record_.runners.back().name != runner.name) {
      record_.runners.push_back(runner);
    }
    record_.runners.back().properties.push_back(property);
    (void)SaveRecord(plan_, record_);
  }

 private:
  const RunPlan& plan_;
  ConsistencyRecord record_;
};

Result<ConsistencyRecord> TryProperties(const ConsistencyPlan& plan,
                                        const std::atomic<int>& interrupted, Logger& log) {
  PropertyTeller teller(plan.run.runners, log);
  RecordKeeper keeper(plan.run);
  const Probe::Shared shared{.execution = plan.run.execution,
                             .interrupted = interrupted,
                             .logger = log,
                             .resets = plan.run.steps.resets,
                             .with_parts = !plan.run.lenient};
  VERNIER_ASSIGN_OR_RETURN(
      ConsistencyRecord record,
      CheckConsistency(plan.run, plan.options, shared,
                       [&](const ConsistencyRunner& runner, const PropertyRecord& property) {
                         teller.LogProperty(runner, property);
                         keeper.Keep(runner, property);
                       }));
  for (const ConsistencyRunner& runner : record.runners) {
    if (!runner.failure.empty()) teller.LogFailure(runner);
  }
  return record;
}

std::string DescribeCoverage(const ConsistencyCoverage& coverage) {
  return "compared " + Counted(coverage.outputs, "output") + ", " +
         Counted(coverage.elements, "element") + Listed("shows nothing", coverage.shows_nothing) +
         Listed("not compared", coverage.not_compared) +
         Listed("left out where rows are held", coverage.no_rows);
}

// What the verdict rests on.
void LogTotals(const ConsistencyRecord& record, Logger& log) {
  for (const ConsistencyRunner& runner : record.runners) {
    if (!runner.failure.empty()) continue;
    size_t held = 0, broken = 0;
    std::string not_tried;
    for (const PropertyRecord& property : runner.properties) {
      held += property.verdict == PropertyVerdict::kHolds ? 1 : 0;
      broken += property.verdict == PropertyVerdict::kBroken ? 1 : 0;
      if (property.verdict != PropertyVerdict::kNotApplicable) continue;
      not_tried += (not_tried.empty() ? "" : ", ") + std::string(property.name);
    }
    log.Info(runner.name + ": of " + std::to_string(runner.properties.size()) + " properties " +
             std::to_string(held) + " hold and " + std::to_string(broken) + " are broken" +
             (not_tried.empty() ? "" : "; not tried: " + not_tried) + "; " +
             DescribeCoverage(runner.coverage));
  }
}

// What holds only within amplified rounding has not been shown to hold.
void RejectIllConditioned(const ConsistencyRunner& runner, Logger& log, RunFaults& faults) {
  for (const PropertyRecord& property : runner.properties) {
    if (property.condition <= 1) continue;
    log.Error(
        runner.name + ": --strict: " + std::string(property.name) +
        " holds only because the model is ill-conditioned: κ = " + FormatG(property.condition, 3));
    faults.mismatch = true;
  }
}

// NaN agrees with itself, whatever a model does.
void JudgeNans(const ConsistencyRunner& runner, const RunPlan& plan, RunFaults& faults,
               Logger& log) {
  std::vector<NotedOutput> nans = runner.coverage.shows_nothing;
  std::erase_if(nans, [](const NotedOutput& output) { return output.why != kAllNan; });
  if (nans.empty()) return;
  const std::string text = runner.name + ": nothing was shown of outputs" +
                           Listed("that hold no number", nans).substr(1) +
                           ": give inputs for which they do, or --lenient";
  plan.lenient ? log.Warning(text) : log.Error(text);
  faults.incomplete |= !plan.lenient;
}

// A verdict that rests on less than the runner's outputs, or on outputs that show nothing.
void JudgeCoverage(const ConsistencyRunner& runner, const RunPlan& plan, RunFaults& faults,
                   Logger& log) {
  const ConsistencyCoverage& coverage = runner.coverage;
  if (!runner.failure.empty()) return;
  if (coverage.elements == 0) {
    log.Error(runner.name + ": nothing was compared: no output has an element");
    faults.incomplete = true;
  }
  if (!coverage.not_compared.empty()) {
    const std::string text = runner.name + ": outputs" +
                             Listed("that could not be compared", coverage.not_compared).substr(1);
    plan.lenient ? log.Warning(text) : log.Error(text);
    faults.incomplete |= !plan.lenient;
  }
  JudgeNans(runner, plan, faults, log);
  if (plan.strict && !coverage.shows_nothing.empty()) {
    log.Error(runner.name + ": outputs" +
              Listed("whose agreement means nothing (--strict)", coverage.shows_nothing).substr(1));
    faults.mismatch = true;
  }
  if (plan.strict) RejectIllConditioned(runner, log, faults);
}

// What a dimension means is unknown: a batch, or steps of time.
void HintAtRows(const ConsistencyRecord& record, Logger& log) {
  constexpr std::string_view kOfRows[] = {"identical-rows", "permuted-rows", "batch-of-one"};
  for (const ConsistencyRunner& runner : record.runners) {
    for (const PropertyRecord& property : runner.properties) {
      const bool of_rows = std::ranges::find(kOfRows, property.name) != std::end(kOfRows);
      if (!of_rows || property.verdict != PropertyVerdict::kBroken) continue;
      return log.Info(
          "If the first dimension is not a batch, or rows are meant to see each other: --skip "
          "identical-rows permuted-rows batch-of-one");
    }
  }
}

RunFaults JudgeProperties(const ConsistencyRecord& record, const RunPlan& plan, Logger& log) {
  RunFaults faults;
  faults.mismatch = !record.consistent();
  for (const ConsistencyRunner& runner : record.runners) {
    const bool failed = !runner.failure.empty() && !runner.nothing_to_compare;
    faults.unavailable |= runner.unavailable;
    faults.backend |= failed && !runner.unavailable;
    faults.incomplete |= runner.nothing_to_compare;
  }
  HintAtRows(record, log);
  LogTotals(record, log);
  for (const ConsistencyRunner& runner : record.runners) JudgeCoverage(runner, plan, faults, log);
  if (record.tried() == 0 && !faults.any()) {
    log.Error("nothing was checked: no property applies to this model and these inputs");
    faults.incomplete = true;
  }
  return faults;
}

}  // namespace

Result<ConsistencyOutcome> TryConsistency(const ConsistencyPlan& plan,
                                          const std::atomic<int>& interrupted, Logger& log) {
  ConsistencyOutcome outcome;
  VERNIER_ASSIGN_OR_RETURN(outcome.record, TryProperties(plan, interrupted, log));
  outcome.faults = JudgeProperties(WithBriefNames(outcome.record), plan.run, log);
  const Status saved = SaveRecord(plan.run, outcome.record);
  if (!saved.ok()) log.Critical(saved.message());
  outcome.faults.Add(saved);
  return outcome;
}

}  // namespace vernier
