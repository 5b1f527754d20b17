#include "run/comparison/comparison_run.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

#include "compare/functions/comparator.h"
#include "compare/outputs/postprocess.h"
#include "compare/outputs/validate.h"
#include "run/comparison/pair_decoding.h"
#include "run/comparison/script_comparison.h"
#include "run/comparison/undecided_outputs.h"
#include "run/feeds/run_scripts.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

// Gives the output's bound what its recheck found; false: nothing.
bool TakeRechecked(const std::string& runner, const std::string& output,
                   const RecheckedOutput& rechecked, ErrorBounds& bounds) {
  if (rechecked.repeats && rechecked.element == 0) return false;
  ErrorBound bound = *bounds.Find(output);
  TakeCondition(rechecked, bound);
  if (!rechecked.repeats) bound.why += ", " + runner + " does not repeat itself on the same feed";
  bounds.Set(output, std::move(bound));
  return true;
}

}  // namespace

ComparisonRun::ComparisonRun(const RunPlan& plan, ComparedPairs pairs,
                             const Instruments& instruments, const ComparisonParts& parts,
                             RunObserver& observer)
    : plan_(&plan),
      observer_(&observer),
      parts_(parts),
      compared_(std::move(pairs)),
      judge_(JudgeOf(plan)),
      options_(OptionsToCompare(plan)),
      pool_(std::make_unique<ThreadPool>()),
      detail_(DetailOf(instruments)),
      step_sides_(plan, parts.steps, ByScript()),
      given_(plan, compared_.names.size(), parts.scripts.postprocessing != nullptr),
      flips_(plan, {compared_.names, parts.shard, !parts.may_keep}),
      axes_(plan, instruments.live),
      inner_nans_(instruments.live) {
  MakeBounds(instruments);
  const bool crosses = parts_.steps != nullptr && parts_.steps->plan().state == StateSource::kCross;
  if (crosses) crossing_ = instruments.live;
  for (Pair& pair : compared_.pairs) Begin(pair);
}

ComparisonDetail ComparisonRun::DetailOf(const Instruments& instruments) const {
  ComparisonDetail detail = observer_->DetailWanted();
  detail.pool = pool_.get();
  detail.perceptual = instruments.perceptual;
  detail.device = instruments.device;
  detail.interrupted = instruments.interrupted;
  detail.distances |= parts_.steps != nullptr;
  return detail;
}

void ComparisonRun::MakeBounds(const Instruments& instruments) {
  if (instruments.bounds == nullptr) return;
  if (instruments.bounds->wanted()) bounds_.elements = instruments.bounds;
  if (BoundsNearTies(*plan_)) {
    bounds_.ties = instruments.bounds;
    bounds_.ties->KeepForNearTies();
  }
  // Runners that take turns are gone when their outputs are compared.
  if (bounds_.elements != nullptr && instruments.live != nullptr && !plan_->execution.sequential) {
    bounds_.recheck = std::make_unique<BoundRecheck>(*instruments.live, *bounds_.elements);
  }
}

void ComparisonRun::Begin(Pair& pair) const {
  pair.decisions = PairDecisions(plan_->decisions, LabelsToFold(), plan_->inputs.seed);
  pair.own_errors = plan_->steps.state == StateSource::kReference;
  pair.tokens = MakePairTokens(*plan_, parts_.steps, ByScript());
}

void ComparisonRun::TakeFeeding(std::vector<FedPair> fed) {
  const bool given = parts_.steps != nullptr && parts_.steps->given_tokens() != nullptr;
  for (size_t i = 0; i < fed.size(); ++i) {
    Pair& pair = compared_.pairs[i];
    pair.other_steps = std::move(fed[i].why_other);
    pair.maybe_other_steps = std::move(fed[i].may_be_other);
    pair.own_errors = fed[i].own_errors;
    pair.first_all_steps = fed[i].first_all_steps;
    pair.second_all_steps = fed[i].second_all_steps;
    pair.tokens.SetForced(given || fed[i].given_tokens || fed[i].own_errors);
  }
}

Status ComparisonRun::Postprocess(int64_t iteration, IterationOutputs& outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    std::optional<IterationResult>& side = outputs[i];
    if (!side) continue;
    const TensorMap given = side->outputs;
    VERNIER_TRY(PostprocessOne(iteration, *side));
    given_.Note(i, given, side->outputs);
  }
  return {};
}

Status ComparisonRun::PostprocessOne(int64_t iteration, IterationResult& side) {
  const auto& script = parts_.scripts.postprocessing;
  if (script == nullptr) return PostprocessTopK(side.outputs, plan_->postprocess);
  VERNIER_ASSIGN_OR_RETURN(side.outputs, script->Postprocess(side, iteration));
  return {};
}

Result<IterationComparison> ComparisonRun::ComparePair(const ComparedStep& step,
                                                       const MatchedSides& sides) {
  const ComparisonDetail& detail = step.detail;
  if (parts_.scripts.comparison == nullptr) {
    IterationComparison comparison =
        CompareIteration(sides.a(), sides.b(), options_, detail, sides.pairing);
    if (detail.Interrupted()) return Cancelled("interrupted");
    if (detail.bounds != nullptr) inner_nans_.LeaveOut(options_, detail, comparison);
    return comparison;
  }
  VERNIER_ASSIGN_OR_RETURN(
      IterationComparison comparison,
      CompareWithScript(*parts_.scripts.comparison, sides.a(), sides.b(), step.iteration,
                        plan_->lenient ? StrangeVerdicts::kTaken : StrangeVerdicts::kOnlyFailures));
  if (detail.output_statistics) {
    AddOutputStatistics(comparison, sides.b(), options_, detail);
  }
  return comparison;
}

// Widens the bounds of what is over them as far as rounding on the inputs moves it on that side.
ComparisonRun::Rechecked ComparisonRun::RecheckBounds(const Pair& pair, size_t stream,
                                                      const ComparedStep& step,
                                                      const IterationComparison& comparison,
                                                      ErrorBounds& bounds) {
  const OverBounds over = FindOver(comparison, bounds);
  if (over.first.empty() || !bounds_.recheck->CanInfer(stream)) return {};
  const bool apart = bounds_.elements->RoundApart(pair.first, pair.second);
  const Moves moves = apart ? Moves::kInputsAndWeights : Moves::kInputs;
  const std::vector<RecheckedOutput> rechecked =
      bounds_.recheck->Recheck(stream, stream == pair.first ? over.first : over.second,
                               step.outputs[stream]->outputs, moves);
  const std::string& name = compared_.names[stream];
  Rechecked result{.answered = true};
  for (size_t i = 0; i < over.first.size(); ++i) {
    result.answered &= rechecked[i].repeats;
    result.widened |= TakeRechecked(name, over.first[i].name, rechecked[i], bounds);
  }
  return result;
}

Result<bool> ComparisonRun::Compare(int64_t iteration, IterationOutputs& outputs, FeedMarks feeds) {
  if (ValidatesFirst() && !Validate(iteration, outputs)) return false;
  if (parts_.steps != nullptr) {
    NoteTokens(*parts_.steps, iteration, outputs, feeds, compared_.pairs);
  }
  const IterationOutputs given = OutputsToDecide(outputs);
  VERNIER_TRY(Postprocess(iteration, outputs));
  if (!ValidatesFirst() && !Validate(iteration, outputs)) return false;
  bool settled = true;
  if (!waiting_.looked_ahead) {
    VERNIER_ASSIGN_OR_RETURN(settled, LookAt(outputs, feeds));
  }
  if (!settled && parts_.may_keep) {
    waiting_.kept.push_back(
        {iteration, outputs, given, std::move(feeds),
         bounds_.elements == nullptr ? TensorMap() : bounds_.elements->last_feed(), flips_.feed()});
    return true;
  }
  VERNIER_ASSIGN_OR_RETURN(const bool go_on, CompareKept());
  return go_on ? CompareNow(iteration, outputs, given, feeds) : Result<bool>(false);
}

Result<bool> ComparisonRun::CompareKept() {
  const std::vector<Kept> kept = std::exchange(waiting_.kept, {});
  if (kept.empty() || end_.stopped) return !end_.stopped;
  const TensorMap last_feed =
      bounds_.elements == nullptr ? TensorMap() : bounds_.elements->last_feed();
  const TensorMap flip_feed = flips_.feed();
  const int64_t last = bounds_.elements == nullptr ? 0 : bounds_.elements->last_iteration();
  bool go_on = true;
  for (const Kept& one : kept) {
    if (bounds_.elements != nullptr) bounds_.elements->KeepFeed(one.feed, one.iteration);
    flips_.RestoreFeed(one.flip_feed);
    VERNIER_ASSIGN_OR_RETURN(go_on, CompareNow(one.iteration, one.outputs, one.given, one.marks));
    if (!go_on) break;
  }
  if (bounds_.elements != nullptr) bounds_.elements->KeepFeed(last_feed, last);
  flips_.RestoreFeed(flip_feed);
  return go_on;
}

std::string ComparisonRun::DescribeOtherInputs(int64_t iteration, const FeedMarks& feeds) const {
  for (const Pair& pair : compared_.pairs) {
    if (pair.HasOtherInputs(feeds)) {
      return pair.DescribeOtherInputs(iteration, plan_->steps.decodes());
    }
  }
  return "";
}

// Whether the pairs of all runners are known.
Result<bool> ComparisonRun::LookAt(const IterationOutputs& outputs, const FeedMarks& feeds) {
  bool settled = true, all = true;
  for (Pair& pair : compared_.pairs) {
    if (!outputs[pair.first] || !outputs[pair.second] || pair.HasOtherInputs(feeds)) {
      all = false;
      continue;
    }
    VERNIER_TRY(pair.matching.Look(*outputs[pair.first], *outputs[pair.second], detail_.device));
    settled &= pair.matching.settled();
  }
  if (all && !waiting_.looked) {
    VERNIER_TRY(CheckMapsUsed());
    waiting_.looked = true;
  }
  return settled || parts_.scripts.comparison != nullptr;
}

Result<IterationComparison> ComparisonRun::CompareSides(Pair& pair, ComparedStep& step) {
  VERNIER_ASSIGN_OR_RETURN(
      MatchedSides sides,
      pair.matching.Match(*step.outputs[pair.first], *step.outputs[pair.second], detail_.device));
  step_sides_.FitWholeSequences(pair, sides);
  if (parts_.positions != nullptr) {
    VERNIER_TRY(parts_.positions->FitPair(axes_.masks, {pair.first, pair.second}, sides,
                                          step.detail.positions));
  }
  if (bounds_.elements != nullptr) {
    step.detail.bounds = &bounds_.elements->For(pair.first, pair.second, sides.a().outputs,
                                                sides.b().outputs, sides.RenamedPairs());
  }
  const std::vector<std::string> no_logits = step_sides_.TakeNoLogits(pair, sides);
  const std::vector<OutputPair> states = step_sides_.TakeStates(pair, step.iteration, sides);
  VERNIER_ASSIGN_OR_RETURN(IterationComparison comparison, CompareMatched(pair, step, sides));
  if (!states.empty() && !comparison.passed() &&
      !pair.times.any_bad(parts_.steps->timeline().Of(step.iteration).sequence)) {
    sides.pairing.pairs = states;
    VERNIER_ASSIGN_OR_RETURN(IterationComparison more, CompareMatched(pair, step, sides));
    std::ranges::move(more.outputs, std::back_inserter(comparison.outputs));
    std::ranges::move(more.statistics, std::back_inserter(comparison.statistics));
  }
  step_sides_.DropNoLogits(pair, no_logits, comparison);
  if (parts_.scripts.comparison == nullptr) pair.matching.FindSwaps(comparison, detail_.device);
  return comparison;
}

Result<IterationComparison> ComparisonRun::CompareTaken(const Pair& pair, const ComparedStep& step,
                                                        const MatchedSides& sides) {
  VERNIER_ASSIGN_OR_RETURN(IterationComparison comparison, ComparePair(step, sides));
  // What a script has made of outputs is not what the runner repeats, nor is a step whose state is
  // gone.
  const bool can_recheck = bounds_.recheck && parts_.scripts.postprocessing == nullptr &&
                           (parts_.steps == nullptr || parts_.steps->AtHand(step.iteration));
  if (!can_recheck) return comparison;
  ErrorBounds bounds = *step.detail.bounds;
  ComparedStep again = step;
  again.detail.bounds = &bounds;
  // The two may sum in other orders: what one does not explain the other may. Where steps flip
  // within, what moves on one side is no amplified rounding.
  const bool one_answers = bounds_.elements->HaveQuantisers(pair.first, pair.second);
  for (const size_t stream : {pair.first, pair.second}) {
    const Rechecked rechecked = RecheckBounds(pair, stream, step, comparison, bounds);
    if (rechecked.widened) {
      VERNIER_ASSIGN_OR_RETURN(comparison, ComparePair(again, sides));
    }
    if (one_answers && rechecked.answered) break;
  }
  LeaveUndecided(*bounds_.recheck, {pair.first, pair.second}, step.outputs, *step.detail.bounds,
                 comparison);
  return comparison;
}

Result<bool> ComparisonRun::CompareNow(int64_t iteration, const IterationOutputs& outputs,
                                       const IterationOutputs& given, const FeedMarks& feeds) {
  if (!end_.started) {
    std::vector<RunnerPair> started;
    for (const Pair& pair : compared_.pairs)
      started.emplace_back(compared_.names[pair.first], compared_.names[pair.second]);
    observer_->ComparisonsStarted(started);
    end_.started = true;
  }
  observer_->IterationStarted(iteration);
  ComparedStep step{iteration, outputs, detail_};
  step.detail.positions = PositionsOf(iteration);
  if (parts_.labels != nullptr) parts_.labels->ForgetBefore(iteration);
  for (Pair& pair : compared_.pairs) {
    if (!outputs[pair.first] || !outputs[pair.second]) continue;
    VERNIER_ASSIGN_OR_RETURN(const bool parted, LeaveOutStep(pair, iteration));
    if (parted) continue;
    if (pair.HasOtherInputs(feeds)) {
      if (pair.of_other_inputs++ == 0) {
        pair.why_other_inputs = pair.DescribeOtherInputs(iteration, plan_->steps.decodes());
      }
      continue;
    }
    VERNIER_TRY(CompareOne(pair, step, given));
    if (end_.stopped) break;
  }
  VERNIER_TRY(flips_.Keep(iteration, given.empty() ? outputs : given, pairs(), detail_.device));
  return !end_.stopped;
}

namespace {

std::string ValidationSentence(const std::string& name, const std::string& output,
                               const Validation& validation) {
  return "validation failed: output '" + output + "' of " + name + " holds " +
         (validation.nan_count > 0 ? "NaN" : "infinite values");
}

}  // namespace

// No script has a say then, and indices hold neither NaN nor infinity. Polygraphy's are looked at.
bool ComparisonRun::ValidatesFirst() const {
  return !plan_->lenient && parts_.scripts.postprocessing == nullptr;
}

Result<bool> ComparisonRun::ValidateAll(int64_t iteration, IterationOutputs& outputs,
                                        std::vector<std::string>& sentences) {
  if (!ValidatesFirst()) VERNIER_TRY(Postprocess(iteration, outputs));
  bool valid = true;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i]) continue;
    for (const NamedTensor& output : outputs[i]->outputs) {
      const Validation validation = ValidateTensor(output.tensor);
      observer_->OutputValidated(compared_.names[i], -1, output, validation);
      if (validation.valid(true, true)) continue;
      valid = false;
      sentences.push_back(ValidationSentence(compared_.names[i], output.name, validation));
    }
  }
  return valid;
}

// Stops at the first invalid output, as Polygraphy does where it compares while running.
bool ComparisonRun::Validate(int64_t iteration, const IterationOutputs& outputs) {
  if (!plan_->validate || plan_->execution.sequential) return true;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i]) continue;
    for (const NamedTensor& output : outputs[i]->outputs) {
      const Validation validation = ValidateTensor(output.tensor);
      observer_->OutputValidated(compared_.names[i], iteration, output, validation);
      if (validation.valid(true, true)) continue;
      end_.invalid_output = ValidationSentence(compared_.names[i], output.name, validation);
      end_.invalid = end_.stopped = true;
      return false;
    }
  }
  return true;
}

void ComparisonRun::Disbelieve(size_t first) {
  end_.invalid = false;
  end_.invalid_output.clear();
  flips_.Forget();
  for (Pair& pair : compared_.pairs) {
    if (std::max(pair.first, pair.second) < first) continue;
    pair.recorder =
        PairRecorder(compared_.names[pair.first], compared_.names[pair.second], Charts::kNone);
    Begin(pair);
    pair.believed = false;
  }
}

}  // namespace vernier
