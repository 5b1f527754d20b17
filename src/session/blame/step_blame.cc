#include "session/blame/step_blame.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "compare/functions/shared_non_finite.h"
#include "run/comparison/no_reports.h"
#include "run/executor.h"
#include "run/steps/step_timeline.h"
#include "session/blame/near_largest.h"
#include "session/blame/run_before_search.h"
#include "util/log/forwarding_log.h"
#include "util/text/number_text.h"
#include "util/values/plural_text.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

// How far the worst output of a step is out of its error bound.
struct StepError {
  int64_t iteration = -1;  // -1: there is none
  std::string output;
  double times = 0;
  bool failed = false;
  std::string not_finite = {};  // OneSidedNonFinite()

  bool there() const { return iteration >= 0; }
};

double TimesOver(const OutputComparison& output) {
  const auto* const data = output.FindData<SimpleResult>(CompareFunction::kSimple);
  if (data != nullptr) return data->times_over();
  return output.passed() ? 0 : std::numeric_limits<double>::infinity();
}

// NaN and infinities that both sides make alike are no error of one. The outputs that hold nothing
// else: such a step shows nothing of them.
std::vector<std::string> OutputsNotCompared(const IterationComparison& comparison) {
  std::vector<std::string> names;
  for (const OutputComparison& output : comparison.outputs) {
    if (HoldsNothingElse(output)) names.push_back(output.a_name);
  }
  return names;
}

// In memory of its own: a state is in that of a worker, which ends with its run. Nothing if
// that cannot be allocated.
TensorMap CopyFeed(const TensorMap& feed) {
  TensorMap copies;
  for (const NamedTensor& input : feed) {
    const Tensor& tensor = input.tensor;
    const bool plain = tensor.dtype() != DType::kString;  // those are never in shared memory
    Result<Tensor> copy = plain ? Tensor::Copy(tensor.dtype(), tensor.dims(), tensor.bytes())
                                : Result<Tensor>(tensor);
    if (!copy.ok()) return {};
    copies.push_back({input.name, *std::move(copy)});
  }
  return copies;
}

// Keeps the errors of all steps, and the feeds of those that may be looked at.
class StepWatch final : public NoReports {
 public:
  // `wanted` is a step whose feed is kept in any case; -1: none. `parts`: the tokens part there, so
  // that the steps behind it have other histories.
  explicit StepWatch(int64_t wanted, bool parts = false) : wanted_(wanted), parts_(parts) {}

  void FeedMade(int64_t iteration, const TensorMap& feed) override {
    fed_.insert_or_assign(iteration, feed);
  }
  void IterationStarted(int64_t iteration) override { iteration_ = iteration; }
  void PairCompared(const IterationComparison& comparison) override {
    const bool alike = FailsAlike(comparison);
    StepError error{iteration_, "", 0, !comparison.passed() && !alike};
    for (const OutputComparison& output : comparison.outputs) {
      const double times = FailsAlike(output).value_or(TimesOver(output));
      if (!error.output.empty() && !(times > error.times)) continue;
      error.output = output.a_name;
      error.times = times;
      error.not_finite = std::isinf(times) ? OneSidedNonFinite(output) : "";
    }
    errors_.push_back(error);
    const std::vector<std::string> not_compared = OutputsNotCompared(comparison);
    for (const std::string& output : not_compared) {
      not_compared_[output].push_back(static_cast<size_t>(iteration_));
    }
    const bool shows = !alike || not_compared.empty();
    shows_something_ |= shows;
    if (alike && !alike_.there()) Choose(error, alike_);
    const bool counts = !parts_ || iteration_ <= wanted_;
    if (error.failed && counts && !first_.there()) Choose(error, first_);
    if (iteration_ == wanted_ && shows) Choose(error, at_wanted_);
    if (counts && shows && near_.Add({error.iteration, error.times})) KeepFeed(error);
    std::erase_if(fed_, [&](const auto& fed) { return fed.first <= iteration_; });
  }

  // The step at which tokens part, where that fails. Else the first step that fails, else the one
  // that was wanted, else the first with NaN on both sides, else the first that is near the worst;
  // where another step fails, NaN on both sides comes last.
  StepError chosen() const {
    if (parts_ && at_wanted_.failed) return at_wanted_;
    if (first_.there() || at_wanted_.there()) return first_.there() ? first_ : at_wanted_;
    const StepError near = At(near_.first().iteration);
    return alike_.there() && (wanted_ < 0 || !near.there()) ? alike_ : near;
  }
  const StepError& first() const { return first_; }
  // By output, the steps at which it holds nothing but NaN and infinities of both sides.
  const std::map<std::string, std::vector<size_t>>& not_compared() const { return not_compared_; }
  // At no step: all outputs are the same NaN or infinities on both sides.
  bool shows_something() const { return shows_something_; }
  // Of the steps that count, the one with the largest error.
  const NearLargest::Error& largest() const { return near_.largest(); }
  TensorMap FeedOf(const StepError& error) const {
    const auto kept = feeds_.find(error.iteration);
    return kept == feeds_.end() ? TensorMap() : kept->second;
  }
  StepError At(int64_t iteration) const {
    const auto found = std::ranges::find_if(
        errors_, [&](const StepError& error) { return error.iteration == iteration; });
    return found == errors_.end() ? StepError() : *found;
  }

 private:
  void Choose(const StepError& error, StepError& into) {
    into = error;
    KeepFeed(error);
  }

  // That of this step, and of others what may still be looked at.
  void KeepFeed(const StepError& error) {
    const auto fed = fed_.find(error.iteration);
    if (fed != fed_.end()) feeds_.insert_or_assign(error.iteration, CopyFeed(fed->second));
    std::erase_if(feeds_, [&](const auto& kept) {
      return kept.first != first_.iteration && kept.first != at_wanted_.iteration &&
             kept.first != alike_.iteration && !near_.MayBeFirst(kept.first);
    });
  }

  const int64_t wanted_;
  const bool parts_;
  int64_t iteration_ = 0;
  std::map<int64_t, TensorMap> fed_;    // not compared yet
  std::map<int64_t, TensorMap> feeds_;  // of those below
  std::vector<StepError> errors_;
  std::map<std::string, std::vector<size_t>> not_compared_;
  bool shows_something_ = false;
  StepError first_, at_wanted_, alike_;
  NearLargest near_;
};

RunPlan StepsOf(const BlamePlan& plan, StateSource state, bool fail_fast) {
  RunPlan run = plan.run;
  run.save = {};
  run.compare->tolerance.fallback = ToleranceRule::kAuto;
  run.compare->fail_fast = fail_fast;
  run.execution.sequential = false;
  run.steps.state = state;
  run.steps.finds_own_errors = true;
  // A wrong state is not fed back here: it shows only where it is compared.
  run.steps.compare_state = true;
  return run;
}

// The first token that differs beyond the tolerance, else the first of all.
std::optional<DivergenceRecord> FirstDivergence(const RunRecord& record) {
  const auto rank = [](const DivergenceRecord& divergence) {
    return std::tuple(divergence.kind != "beyond tolerance", divergence.sequence, divergence.step);
  };
  std::optional<DivergenceRecord> first;
  for (const PairRecord& pair : record.pairs) {
    if (!pair.decode) continue;
    for (const DivergenceRecord& divergence : pair.decode->divergences) {
      if (!first || rank(divergence) < rank(*first)) first = divergence;
    }
  }
  return first;
}

int64_t IterationOf(const DivergenceRecord& divergence, const StepsRecord& steps) {
  const auto sequence = static_cast<size_t>(divergence.sequence);
  if (sequence >= steps.lengths.size()) return -1;
  const auto begin = steps.lengths.begin();
  return std::accumulate(begin, begin + divergence.sequence, divergence.step);
}

// Why the layers of no step can be looked for. Decoding ends where there is no token: NaN is what
// to look for then.
Status WhyNoStep(const RunOutcome& ran, const BlamePlan& plan, const StepWatch& total) {
  const bool has_step = plan.run.steps.decodes() && ran.faults.signal == 0 &&
                        total.first().there() && ran.record.steps;
  return has_step ? Status() : WhyNoSearch(ran);
}

// Where the steps end with the first, a sentence.
std::string OneStepOf(const BlamePlan& plan, const RunRecord& ran) {
  return ran.steps ? DescribeOneStep(plan.run.steps, ran.steps->lengths) : "";
}

// A run compares them whole, unless a mask is asked for.
std::vector<std::string> OutputsFedBack(const BlamePlan& plan, const StepsRecord& steps) {
  std::vector<std::string> outputs;
  if (!plan.run.compare->mask.empty()) return outputs;
  for (const FeedBackRecord& pair : steps.feed_back) outputs.push_back(pair.output);
  return outputs;
}

StepTimeline TimelineOf(const StepsRecord& steps) {
  StepTimeline timeline;
  for (size_t i = 0; i < steps.lengths.size(); ++i) {
    timeline.Add(static_cast<int64_t>(i), steps.lengths[i]);
  }
  return timeline;
}

// A sentence for each output and sequence.
void NoteNotCompared(const StepWatch& total, const StepsRecord& steps,
                     std::vector<std::string>& notes) {
  const StepTimeline timeline = TimelineOf(steps);
  for (const auto& [output, iterations] : total.not_compared()) {
    std::map<int64_t, std::vector<size_t>> by_sequence;
    for (const size_t iteration : iterations) {
      const StepPosition at = timeline.Of(static_cast<int64_t>(iteration));
      by_sequence[at.sequence].push_back(static_cast<size_t>(at.step));
    }
    for (const auto& [sequence, at] : by_sequence) {
      notes.push_back(
          Noun(at.size(), "step ", "steps ") + NumberRanges(at) + " of sequence " +
          std::to_string(sequence) + ": all elements of output '" + output +
          "' are the same NaN or infinities on both sides, so nothing of it was compared");
    }
  }
}

// How many steps show nothing of some output. Empty: each shows something of all.
std::string StepsWithNothingElse(const StepWatch& total, const StepsRecord& steps) {
  std::set<size_t> iterations;
  for (const auto& [output, at] : total.not_compared()) iterations.insert(at.begin(), at.end());
  if (iterations.empty()) return "";
  const int64_t all = std::accumulate(steps.lengths.begin(), steps.lengths.end(), int64_t{0});
  return "at " + std::to_string(iterations.size()) + " of " + Counted(all, "step") +
         " an output was not compared: it is the same NaN or infinities on both sides";
}

// What the sequences leave open, which the feed of the step that is looked at may not show: NaN in
// inputs, outputs that one side lacks at some step, or nothing but NaN. A search that finds nothing
// is no pass then.
void AddGaps(const RunOutcome& ran, const StepWatch& total, BlameOutcome& outcome) {
  std::vector<std::string> gaps;
  std::ranges::copy(ran.record.nan_inputs, std::back_inserter(outcome.record.notes));
  NoteNotCompared(total, *ran.record.steps, outcome.record.notes);
  const std::string unseen = StepsWithNothingElse(total, *ran.record.steps);
  if (ran.faults.incomplete) gaps = ran.record.faults;
  for (std::string& gap : gaps) {  // options of `run` alone
    for (const std::string_view of_run : {" (--lenient accepts that)", "--state reference or "}) {
      if (const size_t at = gap.find(of_run); at != std::string::npos) gap.erase(at, of_run.size());
    }
  }
  if (!total.shows_something()) {
    gaps.emplace_back(
        "nothing was compared: at all steps all outputs are the same NaN or infinities on both "
        "sides");
  } else if (!unseen.empty()) {
    gaps.push_back(unseen);
  }
  outcome.faults.incomplete |= ran.faults.incomplete || !gaps.empty();
  const bool none = outcome.record.culprits.empty() && outcome.record.within_bounds.empty();
  if (none && outcome.record.error.empty() && !gaps.empty()) outcome.record.error = gaps.front();
  std::ranges::copy(gaps, std::back_inserter(outcome.record.notes));
}

BlameStepRecord Describe(const StepWatch& own, const StepWatch& total, const StepsRecord& steps) {
  const StepTimeline timeline = TimelineOf(steps);
  const StepError chosen = own.chosen();
  const StepPosition position = timeline.Of(chosen.iteration);
  BlameStepRecord record;
  record.sequence = position.sequence;
  record.step = position.step;
  record.output = chosen.output;
  record.own_error = chosen.times;
  record.wrong_by_itself = chosen.failed;
  record.not_finite = chosen.not_finite;
  record.total_error = total.At(chosen.iteration).times;
  if (!record.wrong_by_itself && own.largest().times > 0) {
    const StepPosition at = timeline.Of(own.largest().iteration);
    record.largest_own_error = own.largest().times;
    record.largest_own_step = at.step;
    record.largest_own_sequence = at.sequence;
  }
  if (!total.first().there()) return record;
  const StepPosition first = timeline.Of(total.first().iteration);
  record.first_total_sequence = first.sequence;
  record.first_total_step = first.step;
  return record;
}

// `first`: the step that is out of its bound first, each side with its own state.
std::string FailureOf(const BlameStepRecord& step, const StepError& first) {
  if (!step.wrong_by_itself && !step.first_total_step) return "";
  const bool own = step.wrong_by_itself;
  const std::string& not_finite = own ? step.not_finite : first.not_finite;
  return "output '" + (own ? step.output : first.output) + "' is " +
         (not_finite.empty()
              ? FormatG(own ? step.own_error : first.times, 3) + " times its error bound"
              : not_finite + " on one side alone") +
         " at step " + std::to_string(own ? step.step : *step.first_total_step) + " of sequence " +
         std::to_string(own ? step.sequence : step.first_total_sequence.value_or(0));
}

// The search among the layers of that step alone.
BlamePlan PlanOf(const BlameStepRecord& step, const StepError& first, const BlamePlan& plan,
                 const TensorMap& feed, const StepsRecord& steps) {
  BlamePlan of_step = plan;
  of_step.run.steps = {};
  of_step.run.compare->tolerance.fallback = ToleranceRule::kAuto;  // what the step was judged by
  of_step.feeds = {feed};
  of_step.failed = FailureOf(step, first);
  of_step.failed_by = step.wrong_by_itself ? step.not_finite : first.not_finite;
  of_step.fed_back = OutputsFedBack(plan, steps);
  return of_step;
}

}  // namespace

BlameOutcome ExecuteStepBlame(const BlamePlan& plan, Logger& logger,
                              const std::atomic<int>& interrupted) {
  if (!plan.run.load_outputs.empty() || plan.run.runners.size() != 2) {
    return EndedBy(plan, {}, InvalidArgument("--steps: both sides must be runners"), logger);
  }
  ForwardingLog quiet = QuietLog(logger);
  logger.Start("Running all steps, each side with its own state");
  StepWatch total(-1);
  RunOutcome ran = ExecuteRun(StepsOf(plan, StateSource::kOwn, false), quiet, total, interrupted);
  if (const Status why = WhyNoStep(ran, plan, total); !why.ok()) {
    return EndedBy(plan, ran, why, logger);
  }
  if (const std::string one = OneStepOf(plan, ran.record); !one.empty()) {
    return EndedBy(plan, ran, Malformed(one + ": leave out what continues from step to step"),
                   logger);
  }
  const RunOutcome ran_own = std::move(ran);
  const RunRecord& with_own = ran_own.record;
  const std::optional<DivergenceRecord> parted = FirstDivergence(with_own);
  const bool parts = parted && with_own.steps;
  logger.Start("Running all steps with the state of " + plan.run.runners.front().name);
  StepWatch own(parts ? IterationOf(*parted, *with_own.steps) : total.first().iteration, parts);
  ran = ExecuteRun(StepsOf(plan, StateSource::kReference, !parts), quiet, own, interrupted);
  if (const Status why = WhyNoSearch(ran); !why.ok()) return EndedBy(plan, ran, why, logger);
  if (own.FeedOf(own.chosen()).empty() || !with_own.steps) {
    return EndedBy(plan, ran, Malformed("--steps: no step could be compared"), logger);
  }
  BlameStepRecord step = Describe(own, total, *with_own.steps);
  step.divergence = parted;
  const BlamePlan of_step =
      PlanOf(step, total.first(), plan, own.FeedOf(own.chosen()), *with_own.steps);
  BlameOutcome outcome = ExecuteBlame(of_step, logger, interrupted);
  outcome.record.at_step = step;
  // Outputs are out of their bounds, whether a layer is to blame for it or not. What could not be
  // searched says nothing of layers.
  outcome.faults.mismatch |= !of_step.failed.empty() && outcome.record.error.empty();
  AddGaps(ran_own, total, outcome);
  return outcome;
}

}  // namespace vernier
