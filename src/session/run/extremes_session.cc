#include "session/run/extremes_session.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "core/version.h"
#include "record/schema/side_names.h"
#include "report/text/text_table.h"
#include "util/files/atomic_file.h"
#include "util/text/first_line.h"
#include "util/values/joined.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

std::string Beside(const ExtremeAnswer& answer) {
  if (!answer.failure.empty()) return "FAILED: " + FirstLine(answer.failure);
  std::string text;
  const auto add = [&](int64_t count, const std::string& what) {
    if (count > 0) text += (text.empty() ? "" : "; ") + std::to_string(count) + " " + what;
  };
  add(answer.only_here_not_finite, "not finite only here");
  add(answer.only_here_finite, "finite here alone");
  add(answer.other_kind, "not finite, but different");
  add(answer.flushed, "denormals flushed to zero");
  add(answer.kept, "denormals kept that are zero there");
  add(answer.other_value, "finite, but different");
  add(answer.other_exact, "different integers, booleans or strings");
  add(answer.other_sign, "zeros of the opposite sign");
  add(static_cast<int64_t>(answer.not_compared.size()), "outputs not compared");
  if (!answer.output.empty()) text += " (first in '" + answer.output + "')";
  if (!text.empty() || answer.beside.empty()) return text;
  return answer.compared > 0 ? "the same" : "nothing to compare";
}

// Runners as the lines at the end of a run call them; the log of the run keeps their own names.
ExtremesRecord WithShortNames(ExtremesRecord record) {
  std::vector<std::string> names;
  for (const ExtremeRunner& runner : record.runners) names.push_back(runner.name);
  const std::vector<std::string> brief = ShortNames(names);
  const auto shorten = [&](std::string& name) {
    const auto at = std::ranges::find(names, name);
    if (at != names.end()) name = brief[static_cast<size_t>(at - names.begin())];
  };
  for (ExtremeRunner& runner : record.runners) shorten(runner.name);
  for (ExtremeAnswer& answer : record.answers) {
    shorten(answer.runner);
    shorten(answer.beside);
  }
  return record;
}

RunFaults JudgeRunners(const ExtremesRecord& record, Logger& log) {
  RunFaults faults;
  for (const ExtremeRunner& runner : record.runners) {
    if (runner.failure.empty()) continue;
    log.Error(runner.name + " | FAILED: " + runner.failure);
    (runner.unavailable ? faults.unavailable : faults.backend) = true;
  }
  return faults;
}

// What the verdict rests on, over all sets and runners.
void LogCompared(const ExtremesRecord& record, Logger& log) {
  int64_t elements = 0;
  for (const ExtremeAnswer& answer : record.answers) elements += answer.compared;
  const bool alone = std::ranges::all_of(
      record.answers, [](const ExtremeAnswer& answer) { return answer.beside.empty(); });
  if (alone) return log.Info("compared nothing: fewer than two runners answered");
  std::string text = "compared " + Counted(record.outputs, "output") + ", " +
                     Counted(elements, "element") + " in all";
  for (const IdleOutput& output : record.shows_nothing) {
    text += (&output == record.shows_nothing.data() ? "; shows nothing with any set: " : ", ") +
            output.name + " (" + output.why + ")";
  }
  log.Info(text);
}

void LogNotTried(const ExtremesRecord& record, bool sets_named, Logger& log) {
  if (!record.not_tried.empty()) {
    const std::string text =
        "not tried, as no input's type has such values: " + Joined(record.not_tried);
    sets_named ? log.Error(text + " (--sets names it)") : log.Warning(text);
  }
  if (!record.integers_kept.empty()) {
    log.Warning("not tried: the limits of integers; kept the values that they had: " +
                Joined(record.integers_kept) + " (--sets limits tries them)");
  }
}

void JudgeDifferences(const ExtremesRecord& record, bool strict, RunFaults& faults, Logger& log) {
  std::set<std::string> disagree, other_kinds, flush, failed, others, exact, wrong;
  for (const ExtremeAnswer& answer : record.answers) {
    // The limits of integers are as good as any others: what is computed from them is no matter of
    // rounding.
    const bool limits = answer.set.starts_with("limits");
    if (answer.disagrees()) disagree.insert(answer.set);
    if (answer.other_kind > 0) other_kinds.insert(answer.set);
    if (answer.other_exact > 0) (limits ? wrong : exact).insert(answer.set);
    if (answer.flushed + answer.kept > 0) flush.insert(answer.set);
    if (!answer.failure.empty()) failed.insert(answer.set);
    if (answer.other_value > 0) others.insert(answer.set);
  }
  const std::string_view no_floats = "runners differ in integers, booleans or strings with: ";
  if (!disagree.empty()) log.Error("runners differ in what is finite with: " + Joined(disagree));
  if (!wrong.empty()) log.Error(std::string(no_floats) + Joined(wrong));
  if (!failed.empty()) log.Error("runners fail with: " + Joined(failed));
  faults.mismatch = !record.agree() || !wrong.empty();
  const std::pair<std::string_view, const std::set<std::string>&> weaker[] = {
      {"runners differ in what is NaN, Inf or -Inf with: ", other_kinds},
      {"runners differ in flushing denormals with: ", flush},
      {"runners differ in finite values (by more than 1 %) with: ", others},
      {no_floats, exact}};
  for (const auto& [what, sets] : weaker) {
    if (sets.empty()) continue;
    log.Warning(std::string(what) + Joined(sets) +
                (strict ? "" : " (a failure with --strict only)"));
    faults.mismatch |= strict;
  }
  faults.backend |= !failed.empty();
}

RunFaults JudgeAnswers(const ExtremesRecord& record, const ExtremesPlan& plan, Logger& log) {
  RunFaults faults = JudgeRunners(record, log);
  if (record.answers.empty()) {
    if (!faults.any()) {
      log.Error(
          record.inputs_are_empty
              ? "nothing was tried: the inputs of floating-point types have no elements"
          : record.integers_kept.empty()
              ? "nothing was tried: no input's type has such values"
              : "nothing was tried: no input has a floating-point type with such values; --sets "
                "limits tries the limits of integers");
    }
    faults.incomplete |= !faults.any();
    return faults;
  }
  log.Info("What came out\n" + FormatAnswers(record));
  LogCompared(record, log);
  std::set<std::string> not_compared;
  for (const ExtremeAnswer& answer : record.answers) {
    not_compared.insert(answer.not_compared.begin(), answer.not_compared.end());
  }
  if (!not_compared.empty()) {
    log.Error("outputs that were not examined: " + Joined(not_compared));
    faults.incomplete = true;
  }
  if (record.counted_nothing()) {
    log.Error("nothing was examined: no output has an element");
    faults.incomplete = true;
  }
  LogNotTried(record, plan.sets_named, log);
  faults.incomplete |= plan.sets_named && !record.not_tried.empty();
  if (record.compared_nothing()) {
    log.Error(
        "nothing was compared: no output of the same name and shape has elements on both sides");
    faults.incomplete = true;
  }
  JudgeDifferences(record, plan.strict, faults, log);
  return faults;
}

}  // namespace

std::string FormatAnswers(const ExtremesRecord& given) {
  if (given.answers.empty()) return "";
  const ExtremesRecord record = WithShortNames(given);
  const std::string& first = record.answers.front().runner;
  std::vector<TextRow> rows = {
      {"set", "runner", "NaN", "Inf", "denormal", "zero", "of", "beside " + first}};
  for (const ExtremeAnswer& answer : record.answers) {
    TextRow row = {answer.set, answer.runner};
    if (answer.failure.empty()) {
      for (const int64_t count :
           {answer.nan, answer.infinite, answer.denormal, answer.zero, answer.elements}) {
        row.push_back(std::to_string(count));
      }
    } else {
      row.insert(row.end(), 5, "-");
    }
    // Where the first runner failed, another takes its place.
    const bool other = !answer.beside.empty() && answer.beside != first;
    row.push_back(Beside(answer) + (other ? " (beside " + answer.beside + ")" : ""));
    rows.push_back(std::move(row));
  }
  std::string text = FormatTable(rows, {.indent = 0, .first_number = 2, .end_number = 7});
  text.pop_back();
  return text;
}

Result<std::vector<ExtremeSetRow>> ChooseExtremeSets(std::span<const std::string> names) {
  std::vector<std::string> known;
  std::vector<ExtremeSetRow> sets;
  for (const ExtremeSetRow& row : ExtremeSets()) {
    known.emplace_back(row.name);
    const bool named = std::ranges::find(names, row.name) != names.end();
    if (named || (names.empty() && !row.asked_only)) sets.push_back(row);
  }
  for (const std::string& name : names) {
    if (std::ranges::find(known, name) != known.end()) continue;
    return InvalidArgument("there is no set '" + name + "' of extreme values (choose from " +
                           Joined(known) + ")");
  }
  return sets;
}

Result<ExtremesOutcome> TryExtremes(const ExtremesPlan& plan, const std::atomic<int>& interrupted,
                                    Logger& log) {
  const Probe::Shared shared{plan.run.execution, interrupted, log};
  const auto log_answer = [&](const ExtremeAnswer& answer) {
    log.Verbose(answer.set + " | " + answer.runner + " | " +
                (answer.failure.empty() ? "done" : answer.failure));
  };
  VERNIER_ASSIGN_OR_RETURN(ExtremesRecord record,
                           CheckExtremes(plan.run, plan.sets, shared, log_answer));
  record.command = plan.run.command;
  record.version = kVersion;
  RunFaults faults = JudgeAnswers(WithShortNames(record), plan, log);
  if (!plan.run.save.record.empty()) {
    const Status saved = WriteFileAtomically(plan.run.save.record, ToJson(record));
    if (!saved.ok()) log.Critical(saved.message());
    faults.Add(saved);
  }
  return ExtremesOutcome{std::move(record), faults};
}

}  // namespace vernier
