#include "run/comparison_run.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "compare/comparator.h"
#include "compare/postprocess.h"
#include "record/runner_name.h"
#include "run/script_comparison.h"
#include "util/counted.h"
#include "util/number_text.h"

namespace vernier {
namespace {

// A script that puts as many outputs in the place of others has renamed them.
void AddDropped(const TensorMap& before, const TensorMap& after,
                std::vector<std::string>& dropped) {
  if (after.size() >= before.size()) return;
  for (const NamedTensor& output : before) {
    const bool known = std::find(dropped.begin(), dropped.end(), output.name) != dropped.end();
    if (!known && Find(after, output.name) == nullptr) dropped.push_back(output.name);
  }
}

std::vector<std::string> Union(std::vector<std::string> names,
                               const std::vector<std::string>& more) {
  for (const std::string& name : more) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

Result<size_t> IndexOf(const std::vector<std::string>& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<size_t>(found - names.begin());
  const auto called = [&](const std::string& other) { return IsCalled(other, name); };
  if (std::ranges::count_if(names, called) == 1) {
    return static_cast<size_t>(std::ranges::find_if(names, called) - names.begin());
  }
  std::string known;
  for (const std::string& n : names) known += (known.empty() ? "" : ", ") + n;
  return InvalidArgument("--pairs: there is no runner '" + name + "'; there are: " + known);
}

}  // namespace

Result<ComparisonRun> ComparisonRun::Create(const RunPlan& plan, std::vector<std::string> names,
                                            bool marked, RunObserver& observer) {
  ComparisonRun run(plan, observer);
  run.pool_ = std::make_unique<ThreadPool>();
  run.detail_ = observer.DetailWanted();
  run.detail_.pool = run.pool_.get();
  run.marked_ = marked;
  run.rule_ = plan.lenient ? PairingRule::kLenient
              : marked     ? PairingRule::kOneToOneMarked
                           : PairingRule::kOneToOne;
  VERNIER_TRY(run.MakePairs(names));
  run.names_ = std::move(names);
  run.dropped_.resize(run.names_.size());
  return run;
}

Status ComparisonRun::MakePairs(const std::vector<std::string>& names) {
  const Charts charts = plan_->save.WantsCharts() ? Charts::kWanted : Charts::kNone;
  const auto add = [&](size_t a, size_t b) {
    pairs_.push_back({a, b, PairRecorder(names[a], names[b], charts)});
  };
  switch (plan_->pairs.rule) {
    case PairRule::kNeighbours:
      for (size_t i = 0; i + 1 < names.size(); ++i) add(i, i + 1);
      break;
    case PairRule::kFirst:
      for (size_t i = 1; i < names.size(); ++i) add(0, i);
      break;
    case PairRule::kAll:
      for (size_t i = 0; i < names.size(); ++i) {
        for (size_t j = i + 1; j < names.size(); ++j) add(i, j);
      }
      break;
    case PairRule::kNamed:
      for (const auto& [first, second] : plan_->pairs.named) {
        VERNIER_ASSIGN_OR_RETURN(const size_t a, IndexOf(names, first));
        VERNIER_ASSIGN_OR_RETURN(const size_t b, IndexOf(names, second));
        add(a, b);
      }
      break;
  }
  return {};
}

std::vector<std::pair<size_t, size_t>> ComparisonRun::pairs() const {
  std::vector<std::pair<size_t, size_t>> pairs;
  for (const Pair& pair : pairs_) pairs.emplace_back(pair.first, pair.second);
  return pairs;
}

// Runners that take turns are gone when their outputs are compared.
void ComparisonRun::UseBars(PairBars& bars, LiveRuns& live) {
  UseBars(bars);
  if (plan_->execution.sequential) return;
  hearing_.emplace(live, bars);
  live.KeepInStep();
}

Status ComparisonRun::Postprocess(int64_t iteration, IterationOutputs& outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    std::optional<IterationResult>& side = outputs[i];
    if (!side) continue;
    if (scripts_.postprocessing == nullptr) {
      VERNIER_TRY(PostprocessTopK(side->outputs, plan_->postprocess));
    } else {
      VERNIER_ASSIGN_OR_RETURN(TensorMap changed,
                               scripts_.postprocessing->Postprocess(*side, iteration));
      AddDropped(side->outputs, changed, dropped_[i]);
      side->outputs = std::move(changed);
    }
  }
  return {};
}

Result<IterationComparison> ComparisonRun::ComparePair(const IterationResult& a,
                                                       const IterationResult& b,
                                                       int64_t iteration) {
  if (scripts_.comparison == nullptr) {
    return CompareIteration(a, b, plan_->compare, detail_, rule_);
  }
  VERNIER_ASSIGN_OR_RETURN(
      IterationComparison comparison,
      CompareWithScript(*scripts_.comparison, a, b, iteration,
                        plan_->lenient ? StrangeVerdicts::kTaken : StrangeVerdicts::kOnlyFailures));
  if (detail_.output_statistics) AddOutputStatistics(comparison, b, plan_->compare, detail_);
  return comparison;
}

// Outputs that are over their bounds, with bounds as wide as rounding on the inputs moves them.
// Flipped steps look like amplified rounding, and have their place in the bounds already.
Result<IterationComparison> ComparisonRun::HearAgain(const Pair& pair, int64_t iteration,
                                                     const IterationOutputs& outputs,
                                                     IterationComparison comparison) {
  ErrorBars bars = *detail_.bars;
  std::vector<std::string> over, measured;
  const bool second = !hearing_->CanInfer(pair.first);
  for (const OutputComparison& output : comparison.outputs) {
    const FunctionResult* simple = output.Find(CompareFunction::kSimple);
    const auto* data = simple == nullptr ? nullptr : std::get_if<SimpleResult>(&simple->data);
    const ErrorBar* bar = bars.Find(output.a_name);
    const bool failed = data != nullptr && data->bar && !data->bar->passed;
    if (!failed || bar == nullptr || bar->element > 0 || bar->rms == 0) continue;
    over.push_back(output.a_name);
    measured.push_back(second ? output.b_name : output.a_name);
  }
  if (over.empty()) return comparison;
  const size_t stream = second ? pair.second : pair.first;
  const std::vector<double> conditions =
      hearing_->Conditions(stream, measured, outputs[stream]->outputs);
  bool any = false;
  for (size_t i = 0; i < over.size(); ++i) {
    if (conditions[i] <= 1) continue;
    ErrorBar bar = *bars.Find(over[i]);
    bar.condition = conditions[i];
    bars.Set(over[i], std::move(bar));
    any = true;
  }
  if (!any) return comparison;
  const ErrorBars* const before = std::exchange(detail_.bars, &bars);
  Result<IterationComparison> again =
      ComparePair(*outputs[pair.first], *outputs[pair.second], iteration);
  detail_.bars = before;
  return again;
}

Result<bool> ComparisonRun::Compare(int64_t iteration, IterationOutputs& outputs) {
  VERNIER_TRY(Postprocess(iteration, outputs));
  if (plan_->validate && !plan_->execution.sequential && !Validate(iteration, outputs)) {
    invalid_ = true;
    stopped_ = true;
    return false;
  }
  if (!started_) {
    std::vector<RunnerPair> started;
    for (const Pair& pair : pairs_) started.emplace_back(names_[pair.first], names_[pair.second]);
    observer_->ComparisonsStarted(started);
    started_ = true;
  }
  observer_->IterationStarted(iteration);
  for (Pair& pair : pairs_) {
    if (!outputs[pair.first] || !outputs[pair.second]) continue;
    if (bars_ != nullptr) {
      detail_.bars = &bars_->For(pair.first, pair.second, outputs[pair.first]->outputs,
                                 outputs[pair.second]->outputs);
    }
    VERNIER_ASSIGN_OR_RETURN(IterationComparison comparison,
                             ComparePair(*outputs[pair.first], *outputs[pair.second], iteration));
    if (hearing_) {
      VERNIER_ASSIGN_OR_RETURN(comparison,
                               HearAgain(pair, iteration, outputs, std::move(comparison)));
    }
    std::vector<OutputRow> rows = pair.recorder.Add(comparison);
    if (rows_ != nullptr) VERNIER_TRY(rows_->Add(iteration, pair.label, std::move(rows)));
    observer_->PairCompared(comparison);
    if (plan_->compare.fail_fast && !comparison.passed()) stopped_ = true;
    // The peer gives up where nothing has a counterpart; we go on and say so at the end.
    if (plan_->lenient && !comparison.compared_something()) stopped_ = invalid_ = true;
    if (stopped_) return false;
  }
  return true;
}

namespace {

std::string ValidationSentence(const std::string& name, const std::string& output,
                               const Validation& validation) {
  return "validation failed: output '" + output + "' of " + name + " holds " +
         (validation.nan_count > 0 ? "NaN" : "infinite values");
}

}  // namespace

bool ComparisonRun::ValidateAll(const IterationOutputs& outputs,
                                std::vector<std::string>& sentences) {
  bool valid = true;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i]) continue;
    for (const NamedTensor& output : outputs[i]->outputs) {
      const Validation validation = ValidateTensor(output.tensor);
      observer_->OutputValidated(names_[i], -1, output, validation);
      if (validation.valid(true, true)) continue;
      valid = false;
      sentences.push_back(ValidationSentence(names_[i], output.name, validation));
    }
  }
  return valid;
}

// Stops at the first invalid output, as the peer does where it compares while running.
bool ComparisonRun::Validate(int64_t iteration, const IterationOutputs& outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i]) continue;
    for (const NamedTensor& output : outputs[i]->outputs) {
      const Validation validation = ValidateTensor(output.tensor);
      observer_->OutputValidated(names_[i], iteration, output, validation);
      if (validation.valid(true, true)) continue;
      invalid_output_ = ValidationSentence(names_[i], output.name, validation);
      return false;
    }
  }
  return true;
}

bool ComparisonRun::JudgePair(const Pair& pair) const {
  const ComparisonTally& tally = pair.recorder.tally();
  if (!plan_->compare.check_average) {
    // Not the iterations: one in which nothing could be compared is no mismatch.
    return std::all_of(tally.outputs().begin(), tally.outputs().end(), [](const OutputTally& o) {
      return o.passed + o.not_verified == o.iterations;
    });
  }
  const Result<std::vector<OutputAverage>> averages = tally.Averages();
  return averages.ok() && std::all_of(averages->begin(), averages->end(),
                                      [](const OutputAverage& o) { return !o.differs(); });
}

void ComparisonRun::Disbelieve(size_t first) {
  invalid_ = false;
  invalid_output_.clear();
  for (Pair& pair : pairs_) {
    if (std::max(pair.first, pair.second) < first) continue;
    pair.recorder = PairRecorder(names_[pair.first], names_[pair.second], Charts::kNone);
    pair.believed = false;
  }
}

void ComparisonRun::Finish(const std::vector<int64_t>& lengths, Coverage coverage,
                           RunFaults& faults, RunRecord& run) {
  std::vector<PairRecord>& records = run.pairs;
  if (invalid_) faults.mismatch = true;
  if (!invalid_output_.empty()) run.rejections.push_back(invalid_output_);
  if (plan_->comparison_asked && pairs_.empty()) {
    faults.incomplete = true;
    run.faults.push_back(std::string(plan_->runners.empty() ? "" : "--compare-outputs: ") +
                         "there is only one side to compare");
  }
  for (const Pair& pair : pairs_) {
    const int64_t expected = std::max(lengths[pair.first], lengths[pair.second]);
    records.push_back(pair.recorder.Finish(expected));
    records.back().dropped = Union(dropped_[pair.first], dropped_[pair.second]);
    if (!pair.believed) continue;
    const bool abandoned = plan_->lenient && coverage == Coverage::kIgnored;
    if (!stopped_ && started_ && !abandoned) {
      observer_->PairFinished({names_[pair.first], names_[pair.second]}, pair.recorder.tally());
    }
    const bool passed = JudgePair(pair);
    if (!passed) faults.mismatch = true;
    if (plan_->compare.check_average) records.back().average_passed = passed;
    const bool before = std::exchange(faults.incomplete, false);
    AddUnverified(pair, faults, run.faults);
    if (plan_->strict && pair.recorder.vacuous()) faults.mismatch = true;
    if (plan_->strict) RejectIllConditioned(records.back(), faults, run.rejections);
    if (plan_->strict || plan_->same_type) RejectRetyped(records.back(), faults);
    if (!stopped_ && coverage == Coverage::kJudged) {
      AddCoverageFaults(pair, records.back(), faults, run.faults);
    }
    records.back().incomplete = faults.incomplete;
    faults.incomplete |= before;
  }
  if (faults.mismatch && bars_ != nullptr) bars_->NoteProcessor(Processor(), run.faults);
}

// What could not be measured has neither passed nor failed: the run is not what was asked for.
void ComparisonRun::AddUnverified(const Pair& pair, RunFaults& faults,
                                  std::vector<std::string>& sentences) const {
  for (const OutputTally& output : pair.recorder.tally().outputs()) {
    // A mean may pass where an iteration, and with it the output, failed.
    const bool any =
        plan_->compare.check_average ? output.any_not_verified() : output.not_verified > 0;
    if (!any) continue;
    faults.incomplete = true;
    sentences.push_back(names_[pair.first] + " vs. " + names_[pair.second] + ": output '" +
                        output.name +
                        "' was not verified, and has not passed: " + output.failed_why);
  }
}

// An output that passes only with a wider bound has not been shown to be right.
void ComparisonRun::RejectIllConditioned(const PairRecord& record, RunFaults& faults,
                                         std::vector<std::string>& sentences) {
  for (const OutputRecord& output : record.outputs) {
    if (!output.bar || output.bar->condition <= 1 || output.bar->times_over > 1) continue;
    faults.mismatch = true;
    sentences.push_back(
        record.first + " vs. " + record.second + ": --strict: output '" + output.name +
        "' passes only because it is ill-conditioned: κ = " + FormatG(output.bar->condition, 3));
  }
}

// Numbers that agree say nothing of whoever reads the output by its type.
void ComparisonRun::RejectRetyped(PairRecord& record, RunFaults& faults) {
  for (const OutputRecord& output : record.outputs) {
    if (output.dtype == output.other_dtype) continue;
    faults.mismatch = true;
    record.retyped = true;
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
  if (scripts_.comparison != nullptr) {
    add(record.without_verdict, "'" + scripts_.comparison->name() + "' gave no verdict on outputs");
  }
  if (scripts_.postprocessing != nullptr) {
    add(record.dropped, "'" + scripts_.postprocessing->name() + "' dropped outputs");
  }
}

void ComparisonRun::AddCoverageFaults(const Pair& pair, const PairRecord& record, RunFaults& faults,
                                      std::vector<std::string>& sentences) const {
  const std::string who = record.first + " vs. " + record.second;
  if (plan_->lenient) {
    if (pair.recorder.compared_nothing()) faults.mismatch = true;
    return;
  }
  const auto add = [&](const std::string& what) {
    faults.incomplete = true;
    sentences.push_back(who + ": " + what);
  };
  if (record.compared_iterations < record.expected_iterations) {
    add((record.compared_iterations > 0 ? "only " : "") +
        CountedOf(record.compared_iterations, record.expected_iterations, "iteration") +
        " could be compared");
  } else if (record.compared_iterations == 0) {
    add("no iteration was compared");
  }
  if (pair.recorder.compared_nothing() && scripts_.comparison != nullptr) {
    add("'" + scripts_.comparison->name() + "' gave no verdict on any output");
  } else if (pair.recorder.compared_nothing()) {
    add(std::string("no output of one side has a counterpart on the other") +
        (marked_ ? "; mark tensors that both have" : "; --lenient pairs by position"));
  } else if (record.outputs.empty() && record.compared_iterations > 0) {
    // The peer passes what agrees because it is empty.
    add("neither side has an output to compare");
  } else if (pair.recorder.one_sided() && !marked_) {
    const size_t alone = record.only_in_first.size() + record.only_in_second.size();
    add(std::to_string(alone) + (alone == 1 ? " output has" : " outputs have") +
        " no counterpart (--lenient accepts that)");
  }
  if (plan_->strict) AddLeftOut(record, who, faults, sentences);
}

}  // namespace vernier
