// The results of a run's runners for a feed, and what happens to them before they are compared.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "run/feeds/streams.h"
#include "run/live/inference_scheduler.h"
#include "run/live/noise_floor.h"
#include "run/live/pair_error_bounds.h"
#include "run/outcome/run_observer.h"
#include "run/saved/output_savers.h"
#include "util/log/log.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

class SavedProgress;

class FeedInference {
 public:
  /// Where feeds and results go.
  struct Uses {
    PairErrorBounds& bounds;
    OutputSavers& savers;
    RunObserver& observer;
    /// Results that are there already are taken from here instead of being inferred; may be null.
    SavedProgress* progress = nullptr;
  };

  /// All must outlive it.
  FeedInference(const RunPlan& plan, InferenceScheduler& live, const Uses& uses, Logger& logger)
      : plan_(plan),
        live_(live),
        bounds_(uses.bounds),
        savers_(uses.savers),
        observer_(uses.observer),
        progress_(uses.progress),
        logger_(logger) {}

  /// Ends what noise was measured with.
  ~FeedInference();

  /// Where iterations may be inferred at the same time: has all runners infer this one before its
  /// turn, unless its results are there already. InferAll() gives what comes of it, and must be
  /// called for every iteration that was sent, in order.
  void SendAhead(const TensorMap& feed, int64_t iteration);

  /// Whether InferAll() would not wait for an iteration that was sent ahead.
  bool IsInferred(int64_t iteration) { return live_.lanes()->IsInferred(iteration); }

  /// There will be no more.
  void SendRest() { live_.lanes()->SendRest(); }

  /// For a shard: the results of all runners for an iteration of the undivided run that decides for
  /// all of them, before the shard's own first one. They are measured for the bounds, which the
  /// shard's own iterations are not then, and neither saved nor counted. Errors as InferAll().
  Result<IterationOutputs> InferToDecide(const TensorMap& feed, int64_t iteration);

  const InferenceScheduler& runs() const { return live_; }
  const RunnerSession& runner(size_t index) const { return live_[index]; }

  /// The results of all runners, logged, saved and measured for the bounds; absent where one has
  /// failed. `meanwhile` is done while each runner computes, unless all do side by side. Errors as
  /// InferenceScheduler::Infer, OutputSavers::AddResult, and SavedProgress::Take and Check.
  Result<IterationOutputs> InferAll(const TensorMap& feed, int64_t iteration,
                                    const WorkMeanwhile& meanwhile = {});
  Result<std::optional<IterationResult>> InferOne(size_t index, const TensorMap& feed,
                                                  int64_t iteration,
                                                  const WorkMeanwhile& meanwhile = {});

 private:
  Result<IterationOutputs> InferSideBySide(const TensorMap& feed, int64_t iteration);
  Result<IterationOutputs> InferInLanes(const TensorMap& feed, int64_t iteration);
  bool IsSaved(size_t index, int64_t iteration) const;
  bool IsSample(size_t index, int64_t iteration) const;
  bool IsSequenceSaved(size_t index, int64_t iteration) const;
  Result<InputHashes> HashInputs(size_t index, const TensorMap& feed);
  Result<std::optional<IterationResult>> TakeSaved(size_t index, const TensorMap& feed,
                                                   int64_t iteration);
  WorkMeanwhile UnlessSaved(size_t index, int64_t next, const WorkMeanwhile& meanwhile) const;
  Status CheckSample(size_t index, int64_t iteration,
                     const std::optional<IterationResult>& result) const;
  Status PrepareBounds(size_t index, const TensorMap& feed, int64_t iteration);
  Status TakeResult(size_t index, const TensorMap& feed, int64_t iteration,
                    const std::optional<IterationResult>& result);
  Status RememberSaved(size_t index, int64_t iteration, const IterationResult& result);
  Status SeeSizes(size_t index, const TensorMap& feed, const IterationResult& result,
                  StepStates& steps);
  Status NoteMadeWith();
  Status OpenNoise();
  Status OpenTwin();
  Status MeasureNoise(size_t index, const TensorMap& feed, int64_t iteration,
                      const IterationResult& result);

  const RunPlan& plan_;
  InferenceScheduler& live_;
  PairErrorBounds& bounds_;
  OutputSavers& savers_;
  RunObserver& observer_;
  SavedProgress* const progress_;
  struct SavedSequence {
    int64_t first = -1;
    bool whole = false;
  };
  mutable std::map<size_t, SavedSequence> sequences_;  ///< by runner: the one looked at last
  Logger& logger_;
  std::unique_ptr<NoiseFloor> noise_;  ///< until iteration 0 was measured
  bool decided_ = false;               ///< by InferToDecide()
  using Clock = std::chrono::steady_clock;
  std::optional<Clock::time_point> looked_;  ///< at what results are computed with
  Clock::duration look_ = {};                ///< how long that took
};

}  // namespace vernier
