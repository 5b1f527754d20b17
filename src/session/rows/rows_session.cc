#include "session/rows/rows_session.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "decide/gates/decision_fold.h"
#include "decide/gates/decision_gates.h"
#include "decide/kinds/decision.h"
#include "decide/labels/label_scores.h"
#include "io/archive/archive_names.h"
#include "record/rows/decision_rows.h"
#include "record/schema/gate_text.h"
#include "report/text/decision_text.h"
#include "run/labels/sample_labels.h"
#include "session/rows/folded_rows.h"
#include "session/rows/rows_labels.h"
#include "session/rows/rows_scope.h"
#include "session/rows/rows_verdicts.h"
#include "util/text/number_text.h"
#include "util/values/plural_text.h"
#include "vernier/decision_plan.h"
#include "vernier/decision_record.h"
#include "vernier/row_record.h"

namespace vernier {
namespace {

// What the classes of saved rows are called (`check accuracy --class-names`).
class RowsClasses {
 public:
  /// Both must outlive it.
  RowsClasses(const DecisionOptions& options, const RunLabels& labels)
      : options_(options), names_(labels.class_names()) {}

  /// Names the classes of a map whose output has so many, as far as the rows say.
  void Name(const DecisionPlan& decision, std::optional<int64_t> classes, DecisionRecord& record);

  /// That names are for other classes, in sentences: none where they are those of one output.
  std::vector<std::string> Doubts() const;

  /// Why --class-names change nothing of the rows of `path`; empty: they do, or are not given.
  std::string WhyUseless(const std::string& path) const;

 private:
  const DecisionOptions& options_;
  const ClassNames& names_;
  std::vector<std::string> misnamed_;
  bool any_maps_ = false, any_named_ = false;
};

void RowsClasses::Name(const DecisionPlan& decision, std::optional<int64_t> classes,
                       DecisionRecord& record) {
  if (record.class_ious.empty() || names_.empty()) return;
  any_maps_ = true;
  const std::optional<bool> named = names_.AreOf(decision, classes);
  if (named == false) {
    misnamed_.push_back(
        names_.WhyNotOf(options_.class_names, *classes, DecisionName(record.kind, record.output)));
    return;
  }
  any_named_ |= named == true;
  names_.Name(record.class_ious);
}

std::vector<std::string> RowsClasses::Doubts() const {
  return any_named_ ? std::vector<std::string>() : misnamed_;
}

std::string RowsClasses::WhyUseless(const std::string& path) const {
  const bool of_folders = std::ranges::find(options_.labels, kLabelsOfFolders, &LabelsPlan::path) !=
                          options_.labels.end();
  if (names_.empty() || any_maps_ || of_folders) return "";
  return "--class-names has no effect without --labels folder, as '" + path +
         "' has no map of classes: add that, or leave it out";
}

// The --labels that are for no decision of the file.
void AddUnusedLabels(const std::string& path, const std::vector<FoldedDecision>& folded,
                     const DecisionOptions& options, std::vector<std::string>& sentences) {
  for (const LabelsPlan& labels : options.labels) {
    const bool used = std::ranges::any_of(folded, [&](const FoldedDecision& one) {
      return one.labels.has_labels() && LabelsFor(options, one.plan.kind, one.output) == &labels;
    });
    if (used) continue;
    sentences.push_back("--labels " + (labels.output.empty() ? "" : labels.output + ":") +
                        labels.path + ": '" + path + "' has no decision that they are for");
  }
}

// Whose labels are missing, and which limits of --max-drop no decision with labels has.
std::vector<std::string> MissingLabels(const std::string& path,
                                       const std::vector<FoldedDecision>& folded,
                                       const DecisionOptions& options) {
  std::vector<std::string> sentences;
  AddUnusedLabels(path, folded, options, sentences);
  bool any = false;
  std::set<std::string> used;
  for (const FoldedDecision& one : folded) {
    const DecisionRecord record = one.fold.Record();
    const std::string name = one.pair + ": " + DecisionName(one.kind, one.output);
    const std::string fault = one.labels.Fault(one.plan);
    if (!fault.empty()) sentences.push_back(name + ": " + fault);
    if (!one.counts_classes) {
      sentences.push_back(name + ": '" + path +
                          "' does not say how many classes the output has, so that labels beyond "
                          "them would pass: save the rows again");
    }
    if (!record.labels) continue;
    any = true;
    for (const auto& [metric, limit] : options.max_drop.entries) {
      if (NamesMetric(metric, one.output, one.kind)) used.insert(metric);
    }
    if (!fault.empty() || record.labels->samples == record.samples) continue;
    const int64_t labelled = record.labels->samples;
    sentences.push_back(name + ": only " + CountedOf(labelled, record.samples, "sample") +
                        Verb(labelled, " has", " have") + " a label in '" + path + "'");
  }
  if (options.gates_drop() && !any) {
    const auto kind = [](const FoldedDecision& one) { return one.plan.kind; };
    const bool takes = folded.empty() || std::ranges::any_of(folded, TakesLabels, kind);
    sentences.push_back("--max-drop: " + WhyNoDrop(path, options, takes));
    return sentences;
  }
  AddUnusedDrops(path, options, used, sentences);
  return sentences;
}

// Are there other labels now than those of which a run said `why`: "a vs. b: top1 of 'y': ..."?
bool AreReplaced(const std::string& why, const std::vector<FoldedDecision>& folded,
                 const DecisionOptions& options) {
  for (const FoldedDecision& one : folded) {
    const std::string of = one.pair + ": " + DecisionName(one.kind, one.output) + ": ";
    if (why.starts_with(of)) return one.labels.has_labels();
  }
  return !options.labels.empty();
}

// What a run said of its own --lenient, which a check of rows does not have.
std::string OfTheRun(std::string why) {
  constexpr std::string_view kSaid = "(--lenient accepts";
  const size_t at = why.rfind(kSaid);
  return at == why.npos ? why : why.replace(at, kSaid.size(), "(--lenient of that run accepts");
}

// What the run did not do, and which of its rows are not there.
std::vector<std::string> MissingRows(const std::string& path, const FoldedRows& rows,
                                     const DecisionOptions& options) {
  std::vector<std::string> sentences;
  for (const std::string& why : {WhyNotWhole(path, rows.extent), rows.shards.WhyNotAll(path)}) {
    if (!why.empty()) sentences.push_back(why);
  }
  for (const std::string& why : rows.end.not_done) {
    sentences.push_back("'" + path + "' is of a run that was not complete: " + OfTheRun(why));
  }
  for (const std::string& why : rows.end.unfit_labels) {
    if (!options.gates_drop() || AreReplaced(why, rows.decisions, options)) continue;
    sentences.push_back("'" + path + "' has labels that did not fit: " + why);
  }
  int64_t most = 0;
  for (const auto& [pair, of] : rows.rows) most = std::max(most, of.next);
  for (const auto& [pair, of] : rows.rows) {
    if (of.gap) {
      sentences.push_back(pair + ": '" + path + "' lacks " +
                          Counted(of.next - of.count, "iteration") + ", the first of them " +
                          std::to_string(*of.gap));
    }
    if (of.next == most) continue;
    sentences.push_back(pair + ": only " + Counted(of.count, "row") + " in '" + path +
                        "', and another pair has iterations up to " + std::to_string(most - 1));
  }
  return sentences;
}

// Of decisions and the gates that are about them.
std::vector<std::string> MissingDecisions(const std::string& path, const FoldedRows& rows,
                                          const DecisionOptions& options) {
  std::vector<std::string> sentences;
  if (rows.decisions.empty()) {
    sentences.push_back("nothing was checked: '" + path +
                        "' holds no decisions, which --decision makes");
  } else if (!options.has_gates()) {
    sentences.emplace_back(
        "nothing was checked: add --max-flip-rate, --max-clear-flips or --max-drop");
  }
  for (const FoldedDecision& one : rows.decisions) {
    const int64_t all = rows.rows.at(one.pair).count;
    if (one.rows == all) continue;
    sentences.push_back(one.pair + ": " + DecisionName(one.kind, one.output) +
                        ": not everything was decided, only " + CountedOf(one.rows, all, "row") +
                        Verb(one.rows, " has", " have") + " it in '" + path + "'");
  }
  for (const auto& [output, limit] : options.max_flip_rate.entries) {
    const bool used = std::ranges::any_of(rows.decisions, [&](const FoldedDecision& one) {
      return NamesRate(output, one.output, one.kind);
    });
    if (used) continue;
    sentences.push_back("--max-flip-rate " + output + ": '" + path +
                        "' has no decision about that output (expected [OUTPUT:]R, KIND:R or "
                        "OUTPUT:KIND:R, as logits:top1:0.01)");
  }
  return sentences;
}

// What was asked for and is not in the file.
void LogMissing(const std::string& path, const FoldedRows& rows, const DecisionOptions& options,
                Logger& log, RunFaults& faults) {
  for (const std::vector<std::string>& sentences :
       {MissingRows(path, rows, options), MissingDecisions(path, rows, options),
        MissingLabels(path, rows.decisions, options)}) {
    for (const std::string& sentence : sentences) {
      faults.incomplete = true;
      log.Error(sentence);
    }
  }
}

// The line of the decision has them already.
void RefuseDoubts(const FoldedDecision& one, const DecisionRecord& record, Logger& log,
                  RunFaults& faults) {
  for (const std::string& doubt : DoubtsOf(record)) {
    faults.incomplete = true;
    log.Error(one.pair + ": --strict: " + DecisionName(one.kind, one.output) + " " + doubt);
  }
}

// An output is called as it is, or as in the names of columns ("a%2Fb" for "a/b").
void DecodeOutputNames(const FoldedRows& rows, DecisionOptions& options) {
  for (PerOutput<double>* const limits : {&options.max_flip_rate, &options.max_drop}) {
    for (auto& [name, limit] : limits->entries) {
      const auto is_known = [&rows](const std::string& one) {
        return std::ranges::any_of(rows.decisions, [&one](const FoldedDecision& decision) {
          return NamesRate(one, decision.output, decision.kind);
        });
      };
      const std::string decoded = PercentDecode(name);
      if (!is_known(name) && is_known(decoded)) name = decoded;
    }
  }
}

// What may make labels or samples others than those that were meant.
void NoteDoubts(const FoldedRows& rows, const RunLabels& labels, const RunPlan& plan, Logger& log,
                RunFaults& faults) {
  std::vector<std::string> doubts = labels.Doubts();
  std::ranges::copy(rows.end.passed_over, std::back_inserter(doubts));
  for (const FoldedDecision& one : rows.decisions) {
    const SampleLabels* const given = labels.For(one.plan, one.output);
    if (one.relabelled == 0 || given == nullptr || !given->of_images()) continue;
    doubts.push_back(one.pair + ": " + DecisionName(one.kind, one.output) + ": " +
                     Counted(one.relabelled, "sample") +
                     " had another label in the run than by the order or the names of the folders: "
                     "give the --class-names of the run, or leave --labels out");
  }
  LogDoubts(doubts, plan.strict, log, faults);
}

void LogDecision(const std::string& pair, const DecisionRecord& record, Logger& log) {
  log.Info(pair + ": decision " + FormatDecision(record));
  if (record.labels) log.Info(pair + ": labels: " + FormatLabels(record));
  if (const std::string totals = FormatTotals(record); !totals.empty()) {
    log.Info(pair + ": " + DecisionName(record.kind, record.output) + " " + totals);
  }
}

// What the run judges and rows do not.
void LogFailed(const FoldedRows& rows, const std::vector<PairGate>& gates, Logger& log) {
  JudgedOutputs judged;
  for (const PairGate& one : gates) judged.emplace(one.pair, one.gate.output);
  for (const std::string& sentence : rows.failed.Sentences(judged)) log.Warning(sentence);
}

struct JudgedRows {
  const std::string& path;
  const FoldedRows& rows;
  const RunLabels& labels;
  const RunPlan& plan;
};

// Logs what is decided, and returns the gates about it.
std::vector<PairGate> JudgeDecisions(const JudgedRows& judged, const DecisionOptions& options,
                                     Logger& log, RunFaults& faults) {
  const bool strict = judged.plan.strict;
  RowsClasses classes(options, judged.labels);
  std::vector<PairGate> gates;
  for (const FoldedDecision& one : judged.rows.decisions) {
    DecisionRecord record = one.fold.FinalRecord(static_cast<uint64_t>(judged.plan.inputs.seed));
    record.near_tie_rule = options.near_tie ? "--near-tie " + FormatG(*options.near_tie, 4)
                                            : "the limits that the rows have";
    classes.Name(one.plan, one.classes, record);
    LogDecision(one.pair, record, log);
    if (strict) RefuseDoubts(one, record, log, faults);
    for (DecisionGateRecord& gate : JudgeDecision(record, options)) {
      AddFaults(gate, strict, faults);
      gates.push_back({one.pair, std::move(gate)});
    }
  }
  LogDoubts(classes.Doubts(), strict, log, faults);
  if (const std::string why = classes.WhyUseless(judged.path); !why.empty()) {
    log.Error(why);
    faults.usage = true;
  }
  return gates;
}

}  // namespace

RunFaults JudgeRows(const std::string& path, const RunPlan& plan, Logger& log) {
  DecisionOptions options = plan.decisions;
  options.decisions.clear();  // those of the rows, whichever are judged
  RowSelection selection(plan.decisions.decisions);
  RunFaults faults;
  Result<RunLabels> labels = OpenLabelsOfRows(path, options, log);
  if (!labels.ok()) {
    log.Critical(labels.status().message());
    faults.Add(labels.status());
    return faults;
  }
  log.Info("Loading rows from " + path);
  const Result<FoldedRows> folded = FoldRows(path, {options, *labels, selection});
  if (!folded.ok()) {
    log.Critical(folded.status().message());
    // What is not there to be read is no file that could not be written.
    const bool usage = folded.status().code() == StatusCode::kInvalidArgument;
    (usage ? faults.usage : faults.malformed) = true;
    return faults;
  }
  DecodeOutputNames(*folded, options);
  NoteDoubts(*folded, *labels, plan, log, faults);
  const std::vector<PairGate> gates =
      JudgeDecisions({path, *folded, *labels, plan}, options, log, faults);
  LogMissing(path, *folded, options, log, faults);
  LogFailed(*folded, gates, log);
  for (const PairGate& one : gates) LogGate(one, plan.strict, faults, log);
  return faults;
}

}  // namespace vernier
