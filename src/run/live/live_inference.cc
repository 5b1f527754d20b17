#include "run/live/live_inference.h"

#include <string>
#include <utility>

namespace vernier {

Result<IterationOutputs> LiveInference::InferAll(const TensorMap& feed, int64_t iteration,
                                                 const LiveRuns::Work& meanwhile) {
  IterationOutputs outputs;
  if (plan_.execution.parallel) {
    for (size_t i = 0; i < live_.size(); ++i) VERNIER_TRY(PrepareBounds(i, feed, iteration));
    VERNIER_ASSIGN_OR_RETURN(auto made, live_.InferSideBySide(feed, iteration));
    Status first;
    for (size_t i = 0; i < live_.size(); ++i) {
      // Of all of them, so that nobody's log is held any longer.
      Result<std::optional<IterationResult>> result =
          live_.Settle(i, iteration, std::move(made[i]));
      if (first.ok()) first = result.status();
      if (first.ok()) first = TakeResult(i, feed, iteration, *result);
      if (first.ok()) outputs.push_back(*std::move(result));
    }
    VERNIER_TRY(first);
    return outputs;
  }
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

Result<std::optional<IterationResult>> LiveInference::InferOne(size_t index, const TensorMap& feed,
                                                               int64_t iteration,
                                                               const LiveRuns::Work& meanwhile) {
  VERNIER_TRY(PrepareBounds(index, feed, iteration));
  VERNIER_ASSIGN_OR_RETURN(std::optional<IterationResult> result,
                           live_.Infer(index, feed, iteration, meanwhile));
  VERNIER_TRY(TakeResult(index, feed, iteration, result));
  return result;
}

Status LiveInference::PrepareBounds(size_t index, const TensorMap& feed, int64_t iteration) {
  if (!bounds_.wanted() || !live_[index].opened()) return {};
  bounds_.KeepFeed(feed, iteration);
  if (iteration != 0) return {};
  bounds_.AddRunner(index, live_[index]);
  bounds_.SetFeed(feed);
  if (const Result<TensorMap> own = live_.FeedOf(index, feed); own.ok()) bounds_.AddInputs(*own);
  return plan_.noise_floor && index == 0 ? OpenNoise() : Status();
}

Status LiveInference::TakeResult(size_t index, const TensorMap& feed, int64_t iteration,
                                 const std::optional<IterationResult>& result) {
  if (!result) return {};
  logger_.Once(Severity::kInfo, PadName(live_[index].name()) + "\n---- Inference Output(s) ----\n" +
                                    FormatTensorTable(result->outputs));
  observer_.OutputsMade(iteration, *result);
  if (StepStates* const steps = live_.steps()) {
    VERNIER_TRY(steps->Remember(index, result->outputs));
  }
  VERNIER_TRY(savers_.AddResult(index, *result));
  if (!noise_ || index != 0) return {};
  if (noise_->lost_worker()) VERNIER_TRY(live_.OpenTwin(*noise_));
  return noise_->Measure(feed, iteration, *result, bounds_);
}

Status LiveInference::OpenNoise() {
  logger_.Start("Measuring the noise of " + live_[0].name() + " with other settings");
  VERNIER_ASSIGN_OR_RETURN(noise_, NoiseFloor::Create(plan_.runners[0], live_[0].backend()));
  return live_.OpenTwin(*noise_);
}

LiveInference::~LiveInference() {
  if (noise_) (void)noise_->Close();  // everything it was for is there
}

}  // namespace vernier
