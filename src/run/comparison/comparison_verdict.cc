// What the comparisons of a run add up to.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "run/comparison/comparison_run.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

// Its decibels depend on the scale of the output then.
void NotePeaks(const PairRecord& record, std::vector<std::string>& notes) {
  for (const OutputRecord& output : record.outputs) {
    const std::optional<SideRecord>& first = output.figures.first;
    const bool asked = std::ranges::any_of(output.figures.gates, [](const GateRecord& gate) {
      return gate.function == "psnr" && gate.value && std::isfinite(*gate.value);
    });
    if (!asked || !first || !(first->max <= 0)) continue;
    notes.push_back("output '" + output.name + "' of " + record.first +
                    " has no positive value, and PSNR takes 1 as its peak, as Polygraphy does: snr "
                    "and relative_l2 depend on no scale");
  }
}

// Means are what counts then, not what single iterations failed.
void KeepMeans(const ComparisonTally& tally, PairRecord& record) {
  const Result<std::vector<OutputAverage>> averages = tally.Averages();
  if (!averages.ok()) return;
  for (const OutputAverage& average : *averages) {
    const auto output = std::ranges::find(record.outputs, average.name, &OutputRecord::name);
    if (output == record.outputs.end()) continue;
    output->failed_gates.clear();
    output->average_verdict = average.differs()  ? "failed"
                              : average.passed() ? "passed"
                                                 : "not verified";
    for (const AverageResult& mean : average.functions) {
      if (mean.passed || mean.not_verified) continue;
      GateRecord gate = {std::string(CompareFunctionName(mean.function)), "failed", "", {}, {}};
      if (mean.function != CompareFunction::kSimple) {
        gate.value = mean.value;
        gate.threshold = mean.threshold;
      }
      output->failed_gates.push_back(std::move(gate));
    }
  }
}

// Where all positions together pass, what the iterations of --compare logits failed by themselves
// does not count.
void KeepTotals(const RunPlan& plan, const ComparedPair& pair, PairRecord& record,
                std::vector<std::string>& notes) {
  for (OutputRecord& output : record.outputs) {
    const LogitsTotalGate* const gate = pair.recorder.LogitsGateOf(output.name);
    for (const auto describe :
         {&LogitsTotalGate::DescribeBeyondNoise, &LogitsTotalGate::DescribePeak}) {
      const std::string why = gate == nullptr ? "" : (gate->*describe)();
      if (why.empty()) continue;
      notes.push_back(pair.label() + ": output '" + output.name + "': " + why);
    }
    if (!PassesByTotal(plan, pair, output.name)) continue;
    output.failed_gates.clear();
    output.average_verdict = "passed";
    if (!output.time) continue;
    output.time->first_bad_step.reset();
    output.time->first_bad_sequence.reset();
    output.time->compared_before_bad.reset();
  }
}

void NoteShowsNothing(const ComparedPair& pair, const PairRecord& record,
                      std::vector<std::string>& notes) {
  for (const OutputRecord& output : record.outputs) {
    const std::string some = pair.recorder.ShowsNothingIn(output.name);
    if (some.empty()) continue;
    notes.push_back(pair.label() + ": output '" + output.name + "' shows nothing " + some);
  }
}

// Those of a shard go on where a run with --fail-fast ends: neither has them then.
void AddElementErrors(const ComparedPair& pair, PairRecord& record,
                      std::vector<std::string>& notes) {
  for (const std::string& sentence : pair.recorder.errors().AddTo(record)) {
    notes.push_back(pair.label() + ": " + sentence);
  }
}

}  // namespace

void ComparisonRun::AddRunNotes(RunFaults& faults, RunRecord& run) const {
  if (parts_.steps != nullptr) run.steps = parts_.steps->Record();
  if (end_.invalid) faults.mismatch = true;
  if (!end_.invalid_output.empty()) run.rejections.push_back(end_.invalid_output);
  if (parts_.positions != nullptr && !parts_.positions->foreign_token().empty()) {
    run.notes.push_back(parts_.positions->foreign_token());
  }
  if (parts_.positions != nullptr && !parts_.positions->unfit_mask().empty()) {
    run.notes.push_back(parts_.positions->unfit_mask());
  }
  if (std::string note = inner_nans_.Note(); !note.empty()) run.notes.push_back(std::move(note));
  if (plan_->comparison_asked && compared_.pairs.empty()) {
    faults.incomplete = true;
    run.faults.push_back(std::string(plan_->runners.empty() ? "" : "--compare-outputs: ") +
                         "there is only one side to compare");
  }
}

void ComparisonRun::Finish(const std::vector<StreamLength>& lengths, Coverage coverage,
                           RunFaults& faults, RunRecord& run) {
  AddRunNotes(faults, run);
  const VerdictScope scope{.plan = *plan_,
                           .parts = parts_,
                           .compared = compared_,
                           .given = given_,
                           .lengths = lengths,
                           .judge = judge_,
                           .coverage = coverage,
                           .stopped = end_.stopped,
                           .validated = end_.invalid_output.empty(),
                           .faults = faults,
                           .run = run,
                           .rules = rule_faults_};
  for (const Pair& pair : compared_.pairs) {
    const StreamLength &first = lengths[pair.first], &second = lengths[pair.second];
    const int64_t asked = std::max(first.asked.value_or(0), second.asked.value_or(0));
    // Where an early end leaves the number of all iterations unknown, those that were begun are
    // none.
    const bool known = first.asked || second.asked || !end_.stopped;
    const int64_t begun = known ? std::max(first.begun, second.begun) : 0;
    const int64_t expected = std::max({first.made, second.made, begun, asked});
    run.pairs.push_back(pair.recorder.Finish(expected));
    FinishPair(pair, scope, run.pairs.back());
  }
  if (!faults.mismatch) return;
  // That is about a mismatch, and nothing is missing for it.
  for (std::string& note : NotesOfMismatch()) {
    rule_faults_.gates.push_back(note);
    run.notes.push_back(std::move(note));
  }
}

void ComparisonRun::FinishPair(const Pair& pair, const VerdictScope& scope,
                               PairRecord& record) const {
  record.dropped = given_.Dropped(pair.first, pair.second);
  if (!end_.stopped) AddElementErrors(pair, record, scope.run.notes);
  pair.matching.AddTo(record);
  if (parts_.steps != nullptr) AddTimes(pair, record);
  if (!pair.believed) return;
  if (!pair.matching.swap().empty()) scope.run.notes.push_back(pair.matching.swap());
  NotePeaks(record, scope.run.notes);
  NoteShowsNothing(pair, record, scope.run.notes);
  const bool ignored = scope.coverage == Coverage::kIgnored;
  if (!end_.stopped && end_.started && !(plan_->lenient && ignored)) {
    observer_->PairFinished({compared_.names[pair.first], compared_.names[pair.second]},
                            pair.recorder.tally());
  }
  const bool passed = OutputsPass(*plan_, pair);
  if (!passed && JudgesElements()) scope.faults.mismatch = true;
  if (plan_->compare->check_average) {
    record.average_passed = passed;
    KeepMeans(pair.recorder.tally(), record);
  } else {
    KeepTotals(*plan_, pair, record, scope.run.notes);
  }
  const bool before = std::exchange(scope.faults.incomplete, false);
  JudgeDecisions(scope, pair, record);
  JudgeTokens(scope, pair, record);
  JudgeOutputs(scope, pair, record);
  if (!end_.stopped && !ignored) JudgeCoverage(scope, pair, record);
  const bool asked = scope.lengths[pair.first].asked && scope.lengths[pair.second].asked;
  const bool all = asked && record.compared_iterations == record.expected_iterations;
  record.incomplete = scope.faults.incomplete || ((end_.stopped || ignored) && !all);
  scope.faults.incomplete |= before;
}

std::vector<std::string> ComparisonRun::NotesOfMismatch() const {
  std::vector<std::string> notes = mismatch_notes_;
  if (bounds_.elements == nullptr) return notes;
  bounds_.elements->NoteProcessor(Processor(), notes);
  bounds_.elements->NoteFreeSizes(notes);
  return notes;
}

void ComparisonRun::AddTimes(const Pair& pair, PairRecord& record) const {
  const StepStates& steps = *parts_.steps;
  pair.times.AddTo(record, pair.own_errors);
  if (crossing_ != nullptr) pair.crossed.AddCrossedTo(record, !plan_->compare->fail_fast);
  for (OutputRecord& output : record.outputs) {
    if (!output.time) continue;
    output.time->fed_back =
        steps.IsState(pair.first, output.name) || steps.IsState(pair.second, output.other_name);
  }
}

}  // namespace vernier
