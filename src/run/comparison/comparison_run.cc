#include "run/comparison/comparison_run.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

#include "compare/comparator.h"
#include "compare/postprocess.h"
#include "compare/validate.h"
#include "run/comparison/script_comparison.h"
#include "vernier/compare_options.h"

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

// Gives the output's bound what was heard of the runner; false: that is nothing.
bool TakeHeard(const std::string& runner, const std::string& output, const HeardOutput& heard,
               ErrorBounds& bounds) {
  if (heard.repeats && heard.condition <= 1) return false;
  ErrorBound bound = *bounds.Find(output);
  bound.condition = std::max(bound.condition, heard.condition);
  if (!heard.repeats) bound.why += ", " + runner + " does not repeat itself on the same feed";
  bounds.Set(output, std::move(bound));
  return true;
}

}  // namespace

ComparisonRun::ComparisonRun(const RunPlan& plan, ComparedPairs pairs, const ComparisonParts& parts,
                             RunObserver& observer)
    : plan_(&plan),
      observer_(&observer),
      pool_(std::make_unique<ThreadPool>()),
      scripts_(parts.scripts),
      bounds_(parts.bounds != nullptr && parts.bounds->wanted() ? parts.bounds : nullptr),
      detail_(observer.DetailWanted()),
      rows_(parts.rows),
      shard_(parts.shard),
      steps_(parts.steps),
      judge_(JudgeOf(plan)),
      flip_pictures_(plan),
      positions_(parts.positions),
      models_(plan),
      mask_axes_(plan, parts.live, models_),
      prompt_axes_(models_),
      labels_(parts.labels),
      names_(std::move(pairs.names)),
      marked_(pairs.marked),
      pairs_(std::move(pairs.pairs)),
      dropped_(names_.size()),
      may_keep_(parts.may_keep),
      given_types_(names_.size()) {
  KeepTieBounds(parts.bounds);
  detail_.pool = pool_.get();
  detail_.perceptual = parts.perceptual;
  detail_.device = parts.device;
  detail_.interrupted = parts.interrupted;
  if (steps_ != nullptr) detail_.distances = true;
  // Runners that take turns are gone when their outputs are compared.
  if (bounds_ != nullptr && parts.live != nullptr && !plan.execution.sequential) {
    hearing_.emplace(*parts.live, *bounds_);
  }
  const bool crosses = steps_ != nullptr && steps_->plan().state == StateSource::kCross;
  if (crosses && parts.live != nullptr) crossing_.emplace(*parts.live);
  for (Pair& pair : pairs_) {
    pair.decisions = PairDecisions(plan.decisions, LabelsToFold(), plan.inputs.seed);
    pair.tokens = MakeTokens();
  }
}

Status ComparisonRun::Postprocess(int64_t iteration, IterationOutputs& outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    std::optional<IterationResult>& side = outputs[i];
    if (!side) continue;
    KeepTypes(i, side->outputs);
    if (scripts_.postprocessing == nullptr) KeepHiddenNans(i, side->outputs);
    const TensorMap before = side->outputs;
    VERNIER_TRY(PostprocessOne(iteration, *side));
    AddDropped(before, side->outputs, dropped_[i]);
  }
  return {};
}

Status ComparisonRun::PostprocessOne(int64_t iteration, IterationResult& side) {
  if (scripts_.postprocessing == nullptr) return PostprocessTopK(side.outputs, plan_->postprocess);
  VERNIER_ASSIGN_OR_RETURN(side.outputs, scripts_.postprocessing->Postprocess(side, iteration));
  return {};
}

Result<IterationComparison> ComparisonRun::ComparePair(const MatchedSides& sides,
                                                       int64_t iteration) {
  if (scripts_.comparison == nullptr) {
    IterationComparison comparison =
        CompareIteration(sides.a(), sides.b(), plan_->compare, detail_, sides.pairing);
    if (detail_.Interrupted()) return Cancelled("interrupted");
    return comparison;
  }
  VERNIER_ASSIGN_OR_RETURN(
      IterationComparison comparison,
      CompareWithScript(*scripts_.comparison, sides.a(), sides.b(), iteration,
                        plan_->lenient ? StrangeVerdicts::kTaken : StrangeVerdicts::kOnlyFailures));
  if (detail_.output_statistics) {
    AddOutputStatistics(comparison, sides.b(), plan_->compare, detail_);
  }
  return comparison;
}

// Outputs that are over their bounds, with bounds as wide as rounding on the inputs moves them.
// Flipped steps look like amplified rounding, and have their place in the bounds already.
Result<IterationComparison> ComparisonRun::HearAgain(const Pair& pair, int64_t iteration,
                                                     const IterationOutputs& outputs,
                                                     const MatchedSides& sides,
                                                     IterationComparison comparison) {
  ErrorBounds bounds = *detail_.bounds;
  std::vector<OutputToHear> over, over_second;
  for (const OutputComparison& output : comparison.outputs) {
    const FunctionResult* simple = output.Find(CompareFunction::kSimple);
    const auto* data = simple == nullptr ? nullptr : std::get_if<SimpleResult>(&simple->data);
    const ErrorBound* bound = bounds.Find(output.a_name);
    const bool failed = data != nullptr && data->bound && !data->bound->passed;
    if (!failed || bound == nullptr || bound->element > 0 || bound->rms == 0) continue;
    over.push_back({output.a_name, bound->roundoff, bound->since});
    const auto since =
        std::ranges::find(comparison.outputs, bound->since, &OutputComparison::a_name);
    over_second.push_back(
        {output.b_name, bound->roundoff, since == comparison.outputs.end() ? "" : since->b_name});
  }
  bool any = false;
  for (const size_t stream : {pair.first, pair.second}) {
    if (over.empty() || !hearing_->CanInfer(stream)) continue;
    const std::vector<HeardOutput> heard =
        hearing_->Hear(stream, stream == pair.first ? over : over_second, outputs[stream]->outputs);
    bool repeat = true;
    for (size_t i = 0; i < over.size(); ++i) {
      repeat &= heard[i].repeats;
      any |= TakeHeard(names_[stream], over[i].name, heard[i], bounds);
    }
    // Of what does not repeat itself the other runner may know the condition.
    if (repeat) break;
  }
  if (!any) return comparison;
  const ErrorBounds* const before = std::exchange(detail_.bounds, &bounds);
  Result<IterationComparison> again = ComparePair(sides, iteration);
  detail_.bounds = before;
  return again;
}

Result<bool> ComparisonRun::Compare(int64_t iteration, IterationOutputs& outputs, FeedMarks feeds) {
  if (ValidatesFirst() && !Validate(iteration, outputs)) return false;
  NoteTokens(iteration, outputs, feeds);
  const IterationOutputs given = OutputsToDecide(outputs);
  VERNIER_TRY(Postprocess(iteration, outputs));
  if (!ValidatesFirst() && !Validate(iteration, outputs)) return false;
  bool settled = true;
  if (!looked_ahead_) {
    VERNIER_ASSIGN_OR_RETURN(settled, LookAt(outputs, feeds));
  }
  if (!settled && may_keep_) {
    kept_.push_back({iteration, outputs, given, std::move(feeds),
                     bounds_ == nullptr ? TensorMap() : bounds_->last_feed(), flip_feed_});
    return true;
  }
  VERNIER_ASSIGN_OR_RETURN(const bool go_on, CompareKept());
  return go_on ? CompareNow(iteration, outputs, given, feeds) : Result<bool>(false);
}

Result<bool> ComparisonRun::CompareKept() {
  const std::vector<Kept> kept = std::exchange(kept_, {});
  if (kept.empty() || stopped_) return !stopped_;
  const TensorMap last_feed = bounds_ == nullptr ? TensorMap() : bounds_->last_feed();
  const TensorMap flip_feed = flip_feed_;
  const int64_t last = bounds_ == nullptr ? 0 : bounds_->last_iteration();
  bool go_on = true;
  for (const Kept& one : kept) {
    if (bounds_ != nullptr) bounds_->KeepFeed(one.feed, one.iteration);
    flip_feed_ = one.flip_feed;
    VERNIER_ASSIGN_OR_RETURN(go_on, CompareNow(one.iteration, one.outputs, one.given, one.marks));
    if (!go_on) break;
  }
  if (bounds_ != nullptr) bounds_->KeepFeed(last_feed, last);
  flip_feed_ = flip_feed;
  return go_on;
}

std::string ComparisonRun::DescribeOtherInputs(int64_t iteration, const FeedMarks& feeds) const {
  for (const Pair& pair : pairs_) {
    if (pair.HasOtherInputs(feeds)) {
      return pair.DescribeOtherInputs(iteration, plan_->steps.decodes());
    }
  }
  return "";
}

// Whether the pairs of all runners are known.
Result<bool> ComparisonRun::LookAt(const IterationOutputs& outputs, const FeedMarks& feeds) {
  bool settled = true, all = true;
  for (Pair& pair : pairs_) {
    if (!outputs[pair.first] || !outputs[pair.second] || pair.HasOtherInputs(feeds)) {
      all = false;
      continue;
    }
    VERNIER_TRY(pair.matching.Look(*outputs[pair.first], *outputs[pair.second], detail_.device));
    settled &= pair.matching.settled();
  }
  if (all && !looked_) {
    VERNIER_TRY(CheckMapsUsed());
    looked_ = true;
  }
  return settled || scripts_.comparison != nullptr;
}

Result<IterationComparison> ComparisonRun::CompareSides(Pair& pair, int64_t iteration,
                                                        const IterationOutputs& outputs) {
  VERNIER_ASSIGN_OR_RETURN(
      MatchedSides sides,
      pair.matching.Match(*outputs[pair.first], *outputs[pair.second], detail_.device));
  FitWholeSequences(pair, sides);
  SetPositions(pair, sides);
  if (bounds_ != nullptr) {
    detail_.bounds = &bounds_->For(pair.first, pair.second, sides.a().outputs, sides.b().outputs,
                                   sides.RenamedPairs());
  }
  const std::vector<std::string> no_logits = TakeNoLogits(pair, sides);
  const std::vector<OutputPair> states = TakeStates(pair, iteration, sides);
  VERNIER_ASSIGN_OR_RETURN(IterationComparison comparison,
                           CompareMatched(pair, iteration, outputs, sides));
  if (!states.empty() && !comparison.passed() &&
      !pair.times.any_bad(steps_->timeline().Of(iteration).sequence)) {
    sides.pairing.pairs = states;
    VERNIER_ASSIGN_OR_RETURN(IterationComparison more,
                             CompareMatched(pair, iteration, outputs, sides));
    std::ranges::move(more.outputs, std::back_inserter(comparison.outputs));
    std::ranges::move(more.statistics, std::back_inserter(comparison.statistics));
  }
  DropNoLogits(pair, no_logits, comparison);
  if (steps_ != nullptr) ExcuseFirstStep(iteration, comparison);
  if (scripts_.comparison == nullptr) pair.matching.FindSwaps(comparison, detail_.device);
  return comparison;
}

Result<IterationComparison> ComparisonRun::CompareTaken(const Pair& pair, int64_t iteration,
                                                        const IterationOutputs& outputs,
                                                        const MatchedSides& sides) {
  VERNIER_ASSIGN_OR_RETURN(IterationComparison comparison, ComparePair(sides, iteration));
  // What a script has made of outputs is not what the runner repeats, nor is a step whose state is
  // gone.
  const bool can_hear = hearing_ && scripts_.postprocessing == nullptr &&
                        (steps_ == nullptr || steps_->AtHand(iteration));
  if (!can_hear) return comparison;
  return HearAgain(pair, iteration, outputs, sides, std::move(comparison));
}

Result<bool> ComparisonRun::CompareNow(int64_t iteration, const IterationOutputs& outputs,
                                       const IterationOutputs& given, const FeedMarks& feeds) {
  if (!started_) {
    std::vector<RunnerPair> started;
    for (const Pair& pair : pairs_) started.emplace_back(names_[pair.first], names_[pair.second]);
    observer_->ComparisonsStarted(started);
    started_ = true;
  }
  observer_->IterationStarted(iteration);
  SetPositions(iteration);
  if (labels_ != nullptr) labels_->ForgetBefore(iteration);
  for (Pair& pair : pairs_) {
    if (!outputs[pair.first] || !outputs[pair.second]) continue;
    VERNIER_ASSIGN_OR_RETURN(const bool parted, LeaveOutStep(pair, iteration));
    if (parted) continue;
    if (pair.HasOtherInputs(feeds)) {
      if (pair.of_other_inputs++ == 0) {
        pair.why_other_inputs = pair.DescribeOtherInputs(iteration, plan_->steps.decodes());
      }
      continue;
    }
    VERNIER_TRY(CompareOne(pair, iteration, outputs, given));
    if (stopped_) break;
  }
  VERNIER_TRY(KeepFlips(iteration, given.empty() ? outputs : given));
  return !stopped_;
}

namespace {

std::string ValidationSentence(const std::string& name, const std::string& output,
                               const Validation& validation) {
  return "validation failed: output '" + output + "' of " + name + " holds " +
         (validation.nan_count > 0 ? "NaN" : "infinite values");
}

}  // namespace

// Top-K makes indices of all values. Polygraphy does not look at them.
void ComparisonRun::KeepHiddenNans(size_t stream, const TensorMap& outputs) {
  if (plan_->lenient) return;
  for (const NamedTensor& output : outputs) {
    const std::pair hidden(stream, output.name);
    const bool known = std::ranges::find(nans_hidden_, hidden) != nans_hidden_.end();
    if (known || plan_->postprocess.Lookup(output.name, {}).k == 0) continue;
    if (ValidateTensor(output.tensor).nan_count > 0) nans_hidden_.push_back(hidden);
  }
}

// Indices of the largest values have one type, whatever the values had.
void ComparisonRun::KeepTypes(size_t stream, const TensorMap& outputs) {
  if (!plan_->strict && !plan_->same_type) return;
  for (const NamedTensor& output : outputs) {
    given_types_[stream][output.name].insert(output.tensor.dtype());
  }
}

// No script has a say then, and indices hold neither NaN nor infinity. Polygraphy's are looked at.
bool ComparisonRun::ValidatesFirst() const {
  return !plan_->lenient && scripts_.postprocessing == nullptr;
}

Result<bool> ComparisonRun::ValidateAll(int64_t iteration, IterationOutputs& outputs,
                                        std::vector<std::string>& sentences) {
  if (!ValidatesFirst()) VERNIER_TRY(Postprocess(iteration, outputs));
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

// Stops at the first invalid output, as Polygraphy does where it compares while running.
bool ComparisonRun::Validate(int64_t iteration, const IterationOutputs& outputs) {
  if (!plan_->validate || plan_->execution.sequential) return true;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i]) continue;
    for (const NamedTensor& output : outputs[i]->outputs) {
      const Validation validation = ValidateTensor(output.tensor);
      observer_->OutputValidated(names_[i], iteration, output, validation);
      if (validation.valid(true, true)) continue;
      invalid_output_ = ValidationSentence(names_[i], output.name, validation);
      invalid_ = stopped_ = true;
      return false;
    }
  }
  return true;
}

void ComparisonRun::Disbelieve(size_t first) {
  invalid_ = false;
  invalid_output_.clear();
  flips_ = {};
  for (Pair& pair : pairs_) {
    if (std::max(pair.first, pair.second) < first) continue;
    pair.recorder = PairRecorder(names_[pair.first], names_[pair.second], Charts::kNone);
    pair.decisions = PairDecisions(plan_->decisions, LabelsToFold(), plan_->inputs.seed);
    pair.tokens = MakeTokens();
    pair.believed = false;
  }
}

}  // namespace vernier
