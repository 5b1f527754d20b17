#include "run/live/feed_inference.h"

#include <string>
#include <utility>
#include <vector>

#include "run/live/made_with.h"
#include "run/saved/saved_progress.h"
#include "run/saved/step_feeding.h"

namespace vernier {

bool FeedInference::IsSaved(size_t index, int64_t iteration) const {
  if (progress_ == nullptr || !live_[index].alive()) return false;
  if (IsSample(index, iteration)) return false;
  if (live_.sequences().StateIsInside(index) && !IsSequenceSaved(index, iteration)) return false;
  return progress_->Has(index, iteration);
}

// Step 0 shows nothing of what is fed back, and what was saved may go further than this run: the
// last step of the first sequence is made again, too.
bool FeedInference::IsSample(size_t index, int64_t iteration) const {
  if (progress_->IsSample(index, iteration)) return true;
  const StepStates* const steps = live_.steps();
  if (steps == nullptr || iteration < 0 || iteration >= progress_->iterations(index)) return false;
  const StepPosition here = steps->timeline().Of(iteration);
  return here.sequence == 0 && here.last();
}

// A state inside is not saved: a sequence of which any step but the first is to be made, or cannot
// be read, is made from its first on. So is the first sequence, for its sample.
bool FeedInference::IsSequenceSaved(size_t index, int64_t iteration) const {
  const StepPosition here = live_.steps()->timeline().Of(iteration);
  const int64_t first = iteration - here.step, last = first + here.steps - 1;
  SavedSequence& known = sequences_[index];
  if (known.first == first) return known.whole;
  known = {first, first > 0 && last < progress_->iterations(index)};
  for (int64_t i = first; known.whole && i <= last; ++i) {
    known.whole = progress_->Has(index, i);
  }
  return known.whole;
}

// What the runner's process would receive: with --batch-feeds for the whole inference at hand.
Result<InputHashes> FeedInference::HashInputs(size_t index, const TensorMap& feed) {
  if (live_.batches() != nullptr) return live_.batches()->HashInputs(index);
  VERNIER_ASSIGN_OR_RETURN(CoercedFeed own, live_.feeds().Coerce(index, feed));
  return HashBatch({0, {std::move(own.tensors)}});
}

// The part of a shard knows what each iteration was made from: SavedProgress has seen that it was
// this feed.
Result<std::optional<IterationResult>> FeedInference::TakeSaved(size_t index, const TensorMap& feed,
                                                                int64_t iteration) {
  VERNIER_ASSIGN_OR_RETURN(IterationResult saved, progress_->Take(index, iteration));
  if (plan_.shard.wanted() && plan_.execution.hash_inputs) {
    VERNIER_ASSIGN_OR_RETURN(InputHashes hashes, HashInputs(index, feed));
    live_[index].TakeOverInputs(std::move(hashes));
  }
  live_[index].TakeOver(saved.runtime_s);
  return std::optional<IterationResult>(std::move(saved));
}

// What is there already is not sent ahead.
WorkMeanwhile FeedInference::UnlessSaved(size_t index, int64_t next,
                                         const WorkMeanwhile& meanwhile) const {
  if (progress_ == nullptr || !meanwhile.next_feed) return meanwhile;
  const auto unless_saved = [this, index, next, feed = meanwhile.next_feed](size_t behind) {
    const TensorMap* const made = feed(behind);
    const bool saved = made != nullptr && IsSaved(index, next + static_cast<int64_t>(behind));
    return saved ? nullptr : made;
  };
  return {unless_saved, meanwhile.when_sent};
}

Status FeedInference::CheckSample(size_t index, int64_t iteration,
                                  const std::optional<IterationResult>& result) const {
  const bool sample = result && progress_ != nullptr && IsSample(index, iteration);
  return sample ? progress_->Check(index, iteration, *result) : Status();
}

Result<IterationOutputs> FeedInference::InferSideBySide(const TensorMap& feed, int64_t iteration) {
  std::vector<size_t> who;
  for (size_t i = 0; i < live_.size(); ++i) {
    VERNIER_TRY(PrepareBounds(i, feed, iteration));
    if (!IsSaved(i, iteration)) who.push_back(i);
  }
  VERNIER_ASSIGN_OR_RETURN(InferenceScheduler::SideBySide made,
                           live_.InferSideBySide(who, feed, iteration));
  IterationOutputs outputs;
  Status first;
  for (size_t i = 0; i < live_.size(); ++i) {
    // Of all of them, so that no log is held any longer.
    Result<std::optional<IterationResult>> result =
        IsSaved(i, iteration) ? TakeSaved(i, feed, iteration) : made.Settle(i);
    if (first.ok()) first = result.status();
    if (first.ok()) first = CheckSample(i, iteration, *result);
    if (first.ok()) first = TakeResult(i, feed, iteration, *result);
    if (first.ok()) outputs.push_back(*std::move(result));
  }
  VERNIER_TRY(first);
  return outputs;
}

void FeedInference::SendAhead(const TensorMap& feed, int64_t iteration) {
  std::vector<size_t> who;
  for (size_t i = 0; i < live_.size(); ++i) {
    const bool saved =
        progress_ != nullptr && iteration < progress_->iterations(i) && !IsSample(i, iteration);
    if (!saved) who.push_back(i);
  }
  live_.lanes()->Send(who, feed, iteration);
}

Result<IterationOutputs> FeedInference::InferInLanes(const TensorMap& feed, int64_t iteration) {
  InferenceScheduler::InLanes made = live_.Collect(iteration);
  IterationOutputs outputs;
  for (size_t i = 0; i < live_.size(); ++i) {
    VERNIER_TRY(PrepareBounds(i, feed, iteration));
    VERNIER_ASSIGN_OR_RETURN(
        std::optional<IterationResult> result,
        IsSaved(i, iteration) ? TakeSaved(i, feed, iteration) : made.Take(i, feed));
    VERNIER_TRY(CheckSample(i, iteration, result));
    VERNIER_TRY(TakeResult(i, feed, iteration, result));
    outputs.push_back(std::move(result));
  }
  return outputs;
}

Result<IterationOutputs> FeedInference::InferAll(const TensorMap& feed, int64_t iteration,
                                                 const WorkMeanwhile& meanwhile) {
  if (live_.lanes() != nullptr) return InferInLanes(feed, iteration);
  if (plan_.execution.parallel) return InferSideBySide(feed, iteration);
  IterationOutputs outputs;
  for (size_t i = 0; i < live_.size(); ++i) {
    VERNIER_ASSIGN_OR_RETURN(std::optional<IterationResult> result,
                             InferOne(i, feed, iteration, meanwhile));
    outputs.push_back(std::move(result));
  }
  for (size_t i = 0; i < live_.size(); ++i) {
    VERNIER_ASSIGN_OR_RETURN(outputs[i], live_.Restore(i, feed, iteration, std::move(outputs[i])));
  }
  return outputs;
}

Result<std::optional<IterationResult>> FeedInference::InferOne(size_t index, const TensorMap& feed,
                                                               int64_t iteration,
                                                               const WorkMeanwhile& meanwhile) {
  VERNIER_TRY(PrepareBounds(index, feed, iteration));
  VERNIER_ASSIGN_OR_RETURN(
      std::optional<IterationResult> result,
      IsSaved(index, iteration)
          ? TakeSaved(index, feed, iteration)
          : live_.Infer(index, feed, iteration, UnlessSaved(index, iteration + 1, meanwhile)));
  VERNIER_TRY(CheckSample(index, iteration, result));
  VERNIER_TRY(TakeResult(index, feed, iteration, result));
  return result;
}

Status FeedInference::PrepareBounds(size_t index, const TensorMap& feed, int64_t iteration) {
  if (!bounds_.needed() || !live_[index].opened()) return {};
  // What is measured is decided on iteration 0, for all.
  const bool decided = plan_.noise_floor && !bounds_.last_feed().empty();
  if (bounds_.wanted() && !decided) bounds_.KeepFeed(feed, iteration);
  if (iteration != 0 || decided_) return {};
  bounds_.AddRunner(index, live_[index]);
  bounds_.SetFeed(feed);
  const Result<CoercedFeed> own = live_.feeds().Coerce(index, feed);
  if (own.ok()) bounds_.AddInputs(own->tensors);
  return plan_.noise_floor && index == 0 ? OpenNoise() : Status();
}

Status FeedInference::TakeResult(size_t index, const TensorMap& feed, int64_t iteration,
                                 const std::optional<IterationResult>& result) {
  if (!result) return {};
  if (logger_.Enabled(Severity::kInfo)) {
    logger_.Once(Severity::kInfo, PadName(live_[index].name()) +
                                      "\n---- Inference Output(s) ----\n" +
                                      FormatTensorTable(result->outputs));
  }
  observer_.OutputsMade(iteration, *result);
  if (StepStates* const steps = live_.steps()) {
    VERNIER_TRY(IsSaved(index, iteration) ? RememberSaved(index, iteration, *result)
                                          : live_.sequences().Remember(index, result->outputs));
    VERNIER_TRY(SeeSizes(index, feed, *result, *steps));
  }
  VERNIER_TRY(NoteMadeWith());
  if (live_.steps() != nullptr && !savers_.KnowsSteps(index)) {
    VERNIER_TRY(savers_.NoteSteps(index, DescribeFeeding(plan_, *live_.steps(), index)));
  }
  VERNIER_TRY(savers_.AddResult(index, *result));
  return MeasureNoise(index, feed, iteration, *result);
}

// What the next step is fed with, of outputs that no runner is to blame for.
Status FeedInference::RememberSaved(size_t index, int64_t iteration,
                                    const IterationResult& result) {
  Status state = live_.steps()->Remember(index, result.outputs);
  if (state.ok()) state = live_.steps()->CheckHandedOn(index, plan_.lenient);
  if (state.code() != StatusCode::kBackend) return state;
  return progress_->CannotContinue(index, iteration, state);
}

// Of the first step: what a runner declares of its inputs and outputs leaves sizes open. Which
// inputs --map-inputs gives it is not known where it declares none.
Status FeedInference::SeeSizes(size_t index, const TensorMap& feed, const IterationResult& result,
                               StepStates& steps) {
  const bool mapped = live_[index].inputs_unknown() && !plan_.inputs.map_words.empty();
  if (!steps.WantsToSee(index) || mapped) return {};
  VERNIER_ASSIGN_OR_RETURN(const CoercedFeed fed, live_.feeds().Coerce(index, feed));
  return steps.See(index, fed.tensors, result.outputs);
}

// Scripts import modules when they need them. Not so often that it would take more than a twentieth
// of the time.
Status FeedInference::NoteMadeWith() {
  constexpr int kRarely = 20;
  const Clock::time_point begin = Clock::now();
  // Workers of lanes are busy, and one may wait for what another is not given yet.
  if (plan_.save.outputs.empty() || live_.lanes() != nullptr) return {};
  if (looked_ && begin - *looked_ < kRarely * look_) return {};
  VERNIER_TRY(savers_.NoteMadeWith(FindMadeWith(live_)));
  looked_ = Clock::now();
  look_ = *looked_ - begin;
  return {};
}

// Once: on iteration 0, so that the bound of an iteration does not depend on those before it.
Status FeedInference::MeasureNoise(size_t index, const TensorMap& feed, int64_t iteration,
                                   const IterationResult& result) {
  if (!noise_ || index != 0) return {};
  if (noise_->lost_worker()) VERNIER_TRY(OpenTwin());
  VERNIER_TRY(noise_->Measure(feed, iteration, result, bounds_));
  (void)noise_->Close();  // everything it was for is there
  noise_.reset();
  return {};
}

// Under numbers that neither warm-ups nor the shard's own iterations have: a feed that was sent is
// known by its number.
Result<IterationOutputs> FeedInference::InferToDecide(const TensorMap& feed, int64_t iteration) {
  const int64_t number = -1 - plan_.execution.warm_up - iteration;
  IterationOutputs outputs;
  for (size_t i = 0; i < live_.size(); ++i) {
    VERNIER_TRY(PrepareBounds(i, feed, iteration));
    VERNIER_ASSIGN_OR_RETURN(std::optional<IterationResult> result, live_.Infer(i, feed, number));
    if (result) VERNIER_TRY(MeasureNoise(i, feed, iteration, *result));
    live_[i].ForgetTimes();
    outputs.push_back(std::move(result));
  }
  live_.ForgetFeed();
  decided_ = true;
  return outputs;
}

Status FeedInference::OpenNoise() {
  logger_.Start("Measuring the noise of " + live_[0].name() + " with other settings");
  VERNIER_ASSIGN_OR_RETURN(noise_, NoiseFloor::Create(plan_.runners[0], live_[0].backend()));
  return OpenTwin();
}

// The twin of the first runner, which noise is measured with.
Status FeedInference::OpenTwin() {
  RunnerOpener& opener = live_.opener();
  VERNIER_ASSIGN_OR_RETURN(const ModelPlan model, opener.ModelOf(noise_->plan()));
  VERNIER_ASSIGN_OR_RETURN(const auto source, opener.SourceOf(model, logger_));
  return noise_->Open(opener.workers(), *source);
}

FeedInference::~FeedInference() {
  if (noise_) (void)noise_->Close();  // everything it was for is there
}

}  // namespace vernier
