// What the comparisons of a run add up to.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "record/coverage.h"
#include "run/comparison/comparison_run.h"
#include "util/counted.h"
#include "util/number_text.h"
#include "vernier/compare_options.h"
#include "vernier/dtype.h"

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

std::vector<std::string> Union(std::vector<std::string> names,
                               const std::vector<std::string>& more) {
  for (const std::string& name : more) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
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

std::string TypesOf(const std::set<DType>& types) {
  std::string text;
  for (const DType type : types)
    text += (text.empty() ? "" : " or ") + std::string(DTypeName(type));
  return text;
}

// Of the side that has fewer iterations: ": b has no iteration 10", ": b has no iterations 3 to
// 10"; of both ": neither side has iterations 3 to 10".
std::string WhichAreMissing(const std::pair<std::string, std::string>& sides, int64_t first,
                            int64_t second, int64_t expected) {
  const int64_t from = std::min(first, second), last = expected - 1;
  if (from > last) return "";
  const bool both = first == second;
  if (both && from == 0) return "";
  const std::string who = both             ? ": neither side has "
                          : first < second ? ": " + sides.first + " has "
                                           : ": " + sides.second + " has ";
  if (from == 0) return who + "none";
  return who + (both ? "" : "no ") + (from == last ? "iteration " : "iterations ") +
         std::to_string(from) +
         (from == last ? "" : (from + 1 == last ? " and " : " to ") + std::to_string(last));
}

}  // namespace

bool ComparisonRun::JudgePair(const Pair& pair) const {
  const ComparisonTally& tally = pair.recorder.tally();
  if (!plan_->compare->check_average) {
    // Not the iterations: one in which nothing could be compared is no mismatch.
    return std::all_of(tally.outputs().begin(), tally.outputs().end(), [](const OutputTally& o) {
      return o.passed + o.not_verified == o.iterations;
    });
  }
  const Result<std::vector<OutputAverage>> averages = tally.Averages();
  return averages.ok() && std::all_of(averages->begin(), averages->end(),
                                      [](const OutputAverage& o) { return !o.differs(); });
}

void ComparisonRun::Finish(const std::vector<StreamLength>& lengths, Coverage coverage,
                           RunFaults& faults, RunRecord& run) {
  std::vector<PairRecord>& records = run.pairs;
  if (steps_ != nullptr) run.steps = steps_->Record();
  if (invalid_) faults.mismatch = true;
  if (!invalid_output_.empty()) run.rejections.push_back(invalid_output_);
  if (positions_ != nullptr && !positions_->foreign_token().empty()) {
    run.notes.push_back(positions_->foreign_token());
  }
  if (plan_->comparison_asked && pairs_.empty()) {
    faults.incomplete = true;
    run.faults.push_back(std::string(plan_->runners.empty() ? "" : "--compare-outputs: ") +
                         "there is only one side to compare");
  }
  for (const Pair& pair : pairs_) {
    const StreamLength &first = lengths[pair.first], &second = lengths[pair.second];
    const int64_t asked = std::max(first.asked.value_or(0), second.asked.value_or(0));
    const int64_t expected = std::max({first.made, second.made, first.begun, second.begun, asked});
    records.push_back(pair.recorder.Finish(expected));
    records.back().dropped = Union(dropped_[pair.first], dropped_[pair.second]);
    if (!stopped_) AddElementErrors(pair, records.back(), run.notes);
    pair.matching.AddTo(records.back());
    if (steps_ != nullptr) AddTimes(pair, records.back());
    if (!pair.believed) continue;
    if (!pair.matching.swap().empty()) run.notes.push_back(pair.matching.swap());
    NotePeaks(records.back(), run.notes);
    const bool abandoned = plan_->lenient && coverage == Coverage::kIgnored;
    if (!stopped_ && started_ && !abandoned) {
      observer_->PairFinished({names_[pair.first], names_[pair.second]}, pair.recorder.tally());
    }
    const bool passed = JudgePair(pair);
    if (!passed && JudgesElements()) faults.mismatch = true;
    if (plan_->compare->check_average) {
      records.back().average_passed = passed;
      KeepMeans(pair.recorder.tally(), records.back());
    }
    const bool before = std::exchange(faults.incomplete, false);
    JudgeDecisions(pair, records.back(), coverage, faults, run);
    JudgeTokens(pair, records.back(), faults, run);
    AddPadded(pair, records.back(), faults, run);
    AddOtherInputs(pair, faults, run.faults);
    AddGivenUp(pair, records.back(), faults, run.faults);
    AddUnverified(pair, faults, run.faults);
    AddHiddenNans(pair, faults, run.faults);
    if (plan_->strict) RejectIllConditioned(records.back(), pair.label(), faults, run.rejections);
    if (plan_->strict || plan_->same_type) {
      RejectRetyped(pair, records.back(), faults, run.rejections);
    }
    if (!stopped_ && coverage == Coverage::kJudged) {
      AddCoverageFaults(pair, records.back(), lengths, faults, run.faults);
    }
    const bool ended_early = stopped_ || coverage == Coverage::kIgnored;
    const bool all = first.asked && second.asked && records.back().compared_iterations == expected;
    records.back().incomplete = faults.incomplete || (ended_early && !all);
    faults.incomplete |= before;
  }
  if (!faults.mismatch) return;
  // That is about a mismatch, and nothing is missing for it.
  for (std::string& note : NotesOfMismatch()) {
    gate_faults_.push_back(note);
    run.faults.push_back(std::move(note));
  }
}

// Those of a shard go on where a run with --fail-fast ends: neither has them then.
void ComparisonRun::AddElementErrors(const Pair& pair, PairRecord& record,
                                     std::vector<std::string>& notes) {
  for (const std::string& sentence : pair.recorder.errors().AddTo(record)) {
    notes.push_back(pair.label() + ": " + sentence);
  }
}

std::vector<std::string> ComparisonRun::NotesOfMismatch() const {
  std::vector<std::string> notes = mismatch_notes_;
  if (bounds_ != nullptr) bounds_->NoteProcessor(Processor(), notes);
  return notes;
}

void ComparisonRun::AddTimes(const Pair& pair, PairRecord& record) const {
  pair.times.AddTo(record, steps_->plan().state == StateSource::kReference);
  if (crossing_) pair.crossed.AddCrossedTo(record);
  for (OutputRecord& output : record.outputs) {
    if (!output.time) continue;
    output.time->fed_back =
        steps_->IsState(pair.first, output.name) || steps_->IsState(pair.second, output.other_name);
  }
}

// Their differences say nothing of the runners.
void ComparisonRun::AddOtherInputs(const Pair& pair, RunFaults& faults,
                                   std::vector<std::string>& sentences) {
  if (pair.of_other_inputs == 0) return;
  faults.incomplete = true;
  const int64_t more = pair.of_other_inputs - 1;
  sentences.push_back(pair.why_other_inputs +
                      (more > 0 ? "; so was " + Counted(more, "more iteration") : ""));
}

// As in Polygraphy: what agreed before does not make that a pass.
void ComparisonRun::AddGivenUp(const Pair& pair, const PairRecord& record, RunFaults& faults,
                               std::vector<std::string>& sentences) const {
  const bool given_up = plan_->lenient && invalid_output_.empty() && stopped_;
  if (!given_up || !pair.recorder.compared_nothing() || record.outputs.empty()) return;
  faults.incomplete = true;
  sentences.push_back(pair.label() + ": the comparison ended at iteration " +
                      std::to_string(pair.recorder.tally().iterations() - 1) +
                      ", in which no output is on both sides");
}

// What could not be measured has neither passed nor failed: the run is not what was asked for.
void ComparisonRun::AddUnverified(const Pair& pair, RunFaults& faults,
                                  std::vector<std::string>& sentences) const {
  for (const OutputTally& output : pair.recorder.tally().outputs()) {
    // A mean may pass where an iteration, and with it the output, failed.
    const bool any =
        plan_->compare->check_average ? output.any_not_verified() : output.not_verified > 0;
    if (!any) continue;
    faults.incomplete = true;
    sentences.push_back(pair.label() + ": output '" + output.name +
                        "' was not verified, and has not passed: " + output.failed_why);
  }
}

// An output that passes only with a wider bound has not been shown to be right.
void ComparisonRun::RejectIllConditioned(const PairRecord& record, const std::string& who,
                                         RunFaults& faults, std::vector<std::string>& sentences) {
  for (const OutputRecord& output : record.outputs) {
    if (!output.bound || output.bound->condition <= 1 || output.bound->times_over > 1) continue;
    faults.mismatch = true;
    sentences.push_back(
        who + ": --strict: output '" + output.name +
        "' passes only because it is ill-conditioned: κ = " + FormatG(output.bound->condition, 3));
  }
}

// The largest values of the rest may agree whatever the NaN stands for.
void ComparisonRun::AddHiddenNans(const Pair& pair, RunFaults& faults,
                                  std::vector<std::string>& sentences) const {
  for (const auto& [stream, output] : nans_hidden_) {
    if (stream != pair.first && stream != pair.second) continue;
    faults.incomplete = true;
    sentences.push_back(names_[pair.first] + " vs. " + names_[pair.second] + ": output '" + output +
                        "' of " + names_[stream] +
                        " holds NaN, which --postprocess left out (--lenient accepts that)");
  }
}

// Numbers that agree say nothing of whoever reads the output by its type: neither the type that is
// compared, nor, where post-processing has changed it, the one that the runner gave.
void ComparisonRun::RejectRetyped(const Pair& pair, PairRecord& record, RunFaults& faults,
                                  std::vector<std::string>& sentences) const {
  for (const OutputRecord& output : record.outputs) {
    const auto first = given_types_[pair.first].find(output.name);
    const auto second = given_types_[pair.second].find(output.other_name);
    const bool known =
        first != given_types_[pair.first].end() && second != given_types_[pair.second].end();
    const bool before = known && first->second != second->second;
    const bool after = IsRetyped(output);
    if (!before && !after) continue;
    faults.mismatch = true;
    record.retyped = true;
    if (after) continue;  // the record has these types
    sentences.push_back(pair.label() + ": output '" + output.name + "' is of type " +
                        TypesOf(first->second) + " in " + pair.shown.first + ", and " +
                        TypesOf(second->second) + " in " + pair.shown.second +
                        ", before post-processing");
  }
}

// Their scripts may choose what they look at; --strict wants all of it.
void ComparisonRun::AddLeftOut(const PairRecord& record, const std::string& who, RunFaults& faults,
                               std::vector<std::string>& sentences) const {
  const auto add = [&](const std::vector<std::string>& names, const std::string& what) {
    if (names.empty()) return;
    faults.incomplete = true;
    sentences.push_back(
        who + ": --strict: " + what + ": '" + names.front() + "'" +
        (names.size() > 1 ? " and " + std::to_string(names.size() - 1) + " more" : std::string()));
  };
  std::vector<std::string> differ;
  for (const OutputRecord& output : record.outputs) {
    const bool differs = output.tokens && output.tokens->excluded_differ > 0;
    if (differs && plan_->compare->mask.empty()) differ.push_back(output.name);
  }
  add(differ, "positions that the mask excludes differ beyond tolerance in outputs");
  if (scripts_.comparison != nullptr) {
    add(record.without_verdict, "'" + scripts_.comparison->name() + "' gave no verdict on outputs");
  }
  add(record.not_logits, "--compare logits left out outputs");
  if (scripts_.postprocessing != nullptr) {
    add(record.dropped, "'" + scripts_.postprocessing->name() + "' dropped outputs");
  }
}

std::string ComparisonRun::WhyNothingMeets(const Pair& pair, const PairRecord& record) const {
  const bool left_out =
      !record.left_out.empty() && record.only_in_first.empty() && record.only_in_second.empty();
  if (left_out) return "--map-outputs leaves out every output";
  if (!record.not_logits.empty()) {
    return "--compare logits is for none of the outputs: it takes floating ones with two classes "
           "or "
           "more; --compare simple takes all";
  }
  return std::string("no output of one side has a counterpart on the other") +
         (marked_ ? "; mark tensors that both have" : "; --lenient pairs by position") +
         pair.matching.Advice(record);
}

// Where feeds are sequences: which step the first missing iteration is.
std::string ComparisonRun::StepInWords(int64_t iteration, int64_t expected) const {
  if (steps_ == nullptr || iteration <= 0 || iteration >= expected) return "";
  const StepPosition position = steps_->timeline().Of(iteration);
  if (position.step >= position.steps) return "";
  return ", from step " + std::to_string(position.step) + " of sequence " +
         std::to_string(position.sequence) + " on";
}

void ComparisonRun::AddCoverageFaults(const Pair& pair, const PairRecord& record,
                                      const std::vector<StreamLength>& lengths, RunFaults& faults,
                                      std::vector<std::string>& sentences) const {
  const std::string who = pair.label();
  if (plan_->lenient && pair.recorder.compared_nothing()) faults.mismatch = true;
  const auto add = [&](const std::string& what) {
    faults.incomplete = true;
    sentences.push_back(who + ": " + what);
  };
  const int64_t empty = pair.recorder.empty_iterations();
  // Polygraphy passes iterations without an output, but a whole run of them shows nothing.
  if (empty > 0 && (!plan_->lenient || record.compared_iterations == 0)) {
    add("neither side has an output to compare in " +
        CountedOf(empty, record.expected_iterations, "iteration"));
  }
  const int64_t seen = record.compared_iterations + empty + pair.of_other_inputs +
                       pair.tokens.left_out() + pair.padded.left_out();
  const bool none = seen == 0;
  // Polygraphy passes that. Who runs a model may ask for it (--iterations 0), who compares does
  // not.
  if (plan_->lenient && plan_->runners.empty() && none) add("no iteration was compared");
  const StreamLength &first = lengths[pair.first], &second = lengths[pair.second];
  // Leniency accepts sides that end early, and never a runner that did not make what it was asked.
  const bool accepts = plan_->lenient && !plan_->strict;
  if (accepts && !first.failed && !second.failed) return;
  if (seen < record.expected_iterations) {
    add((record.compared_iterations > 0 ? "only " : "") +
        CountedOf(record.compared_iterations, record.expected_iterations, "iteration") +
        " could be compared" +
        WhichAreMissing(pair.shown, first.made, second.made, record.expected_iterations) +
        StepInWords(std::min(first.made, second.made), record.expected_iterations));
  }
  if (accepts) return;
  if (seen >= record.expected_iterations && none) {
    add("no iteration was compared");
  }
  if (pair.recorder.compared_nothing() && scripts_.comparison != nullptr) {
    add("'" + scripts_.comparison->name() + "' gave no verdict on any output");
  } else if (pair.recorder.compared_nothing()) {
    add(WhyNothingMeets(pair, record));
  } else if (pair.recorder.one_sided() && !marked_) {
    const size_t alone = record.only_in_first.size() + record.only_in_second.size();
    add(Counted(alone, "output has", "outputs have") + " no counterpart" +
        (plan_->shard.wanted() ? "" : " (--lenient accepts that)") + pair.matching.Advice(record));
  }
  if (plan_->strict) AddLeftOut(record, who, faults, sentences);
}

}  // namespace vernier
