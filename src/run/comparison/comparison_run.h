// The comparisons of a run: pairs of streams of iterations, one iteration at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend/script_client.h"
#include "run/comparison/pair_error_bounds.h"
#include "run/comparison/pair_matching.h"
#include "run/comparison/pair_recorder.h"
#include "run/comparison/second_hearing.h"
#include "run/exit_code.h"
#include "run/run_observer.h"
#include "run/saved/row_writer.h"
#include "run/steps/pair_times.h"
#include "run/steps/step_states.h"
#include "util/thread_pool.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// One side's outputs of an iteration; absent where its runner has failed.
using IterationOutputs = std::vector<std::optional<IterationResult>>;

/// Whether comparing less than was asked for is a fault of its own, or follows from another.
enum class Coverage : uint8_t { kJudged, kIgnored };

class ComparisonRun {
 public:
  /// `names` are the streams' in order: live runners, then loaded runs. `marked`: the command line
  /// marks tensors as outputs. kInvalidArgument when --pairs names an unknown runner.
  static Result<ComparisonRun> Create(const RunPlan& plan, std::vector<std::string> names,
                                      bool marked, RunObserver& observer);

  /// Opened scripts that take part; null where there is none. They must outlive the run.
  struct Scripts {
    ScriptClient* comparison = nullptr;
    ScriptClient* postprocessing = nullptr;
  };
  void Use(Scripts scripts) { scripts_ = scripts; }

  /// Where --compare perceptual_metrics gets its distances; it must outlive the run.
  void Use(PerceptualMeasure& measure) { detail_.perceptual = &measure; }

  /// Where outputs are whose bytes stayed on a device. It must outlive this.
  void Use(DeviceMeasure& device) { detail_.device = &device; }

  /// Top-K, or what the script makes of each side's outputs.
  Status Postprocess(int64_t iteration, IterationOutputs& outputs);

  /// Where the bounds of --tolerance auto come from; asked while comparing. `live` measures the
  /// condition of outputs that are over them. Both must outlive the run.
  void UseBounds(PairErrorBounds& bounds, LiveRuns& live);
  /// The same for outputs whose runners cannot be asked again: their bounds stay as they are.
  void UseBounds(PairErrorBounds& bounds) { bounds_ = &bounds; }

  /// Keeps the rows of all pairs, which are called `labels`, in their order. They must outlive the
  /// run.
  void Use(RowWriter& rows, std::vector<std::string> labels) {
    rows_ = &rows;
    for (size_t i = 0; i < pairs_.size(); ++i) pairs_[i].label = std::move(labels[i]);
  }

  /// Iterations are steps of sequences: what is fed back is compared at the first, the last and the
  /// first bad step of each, unless the plan wants it at all, or there is nothing else. Null:
  /// they are not. Only before the first iteration; it must outlive the run.
  void Use(const StepStates* steps) {
    steps_ = steps;
    if (steps != nullptr) detail_.distances = true;
  }

  /// Post-processes and compares one iteration. False when --fail-fast ends the run. An iteration
  /// that does not show yet which outputs belong together is kept, with three more at most, and
  /// compared with the next, or by CompareKept(). kInvalidArgument for --map-outputs that do not
  /// fit.
  Result<bool> Compare(int64_t iteration, IterationOutputs& outputs);

  /// Compares what was kept. To be called after the last iteration.
  Result<bool> CompareKept();

  /// Nothing is kept: each iteration is compared as far as it and those before it show the pairs.
  void KeepNothing() { may_keep_ = false; }

  /// --validate on all outputs of an iteration, after everything was compared. Each that is invalid
  /// adds a sentence.
  void ValidationStarted() { observer_->ValidationStarted(names_); }
  bool ValidateAll(const IterationOutputs& outputs, std::vector<std::string>& sentences);

  /// --fail-fast or an invalid output has ended the comparisons.
  bool stopped() const { return stopped_; }

  bool has_pairs() const { return !pairs_.empty(); }

  /// The streams of each pair, by their indices in `names`.
  std::vector<std::pair<size_t, size_t>> pairs() const;

  /// Drops what was found where a stream from `first` on took part: there is no verdict on it.
  void Disbelieve(size_t first);

  /// Summaries and what they mean for the exit code: fills the record's pairs and adds to its
  /// faults and rejections. `lengths` are the streams' numbers of iterations.
  void Finish(const std::vector<int64_t>& lengths, Coverage coverage, RunFaults& faults,
              RunRecord& record);

 private:
  struct Pair {
    size_t first = 0;
    size_t second = 0;
    PairRecorder recorder;
    PairMatching matching;
    bool believed = true;
    std::string label = {};  ///< in rows
    PairTimes times = {};
  };

  // An iteration that waits for its pairs, with what it was made from.
  struct Kept {
    int64_t iteration;
    IterationOutputs outputs;
    TensorMap feed;
  };

  ComparisonRun(const RunPlan& plan, RunObserver& observer) : plan_(&plan), observer_(&observer) {}
  Status MakePairs(const std::vector<std::string>& names);
  bool Validate(int64_t iteration, const IterationOutputs& outputs);
  Result<bool> LookAt(const IterationOutputs& outputs);
  Status CheckMapsUsed() const;
  Result<bool> CompareNow(int64_t iteration, const IterationOutputs& outputs);
  Result<IterationComparison> CompareSides(Pair& pair, int64_t iteration,
                                           const IterationOutputs& outputs);
  std::vector<OutputPair> TakeStates(const Pair& pair, int64_t iteration,
                                     MatchedSides& sides) const;
  Result<IterationComparison> CompareMatched(const Pair& pair, int64_t iteration,
                                             const IterationOutputs& outputs,
                                             const MatchedSides& sides);
  Status AddRows(Pair& pair, int64_t iteration, const IterationComparison& comparison);
  Result<IterationComparison> ComparePair(const MatchedSides& sides, int64_t iteration);
  Result<IterationComparison> HearAgain(const Pair& pair, int64_t iteration,
                                        const IterationOutputs& outputs, const MatchedSides& sides,
                                        IterationComparison comparison);
  bool JudgePair(const Pair& pair) const;
  void AddTimes(const Pair& pair, PairRecord& record) const;
  static void RejectIllConditioned(const PairRecord& record, RunFaults& faults,
                                   std::vector<std::string>& sentences);
  static void RejectRetyped(PairRecord& record, RunFaults& faults);
  void AddUnverified(const Pair& pair, RunFaults& faults,
                     std::vector<std::string>& sentences) const;
  void AddLeftOut(const PairRecord& record, const std::string& who, RunFaults& faults,
                  std::vector<std::string>& sentences) const;
  void AddCoverageFaults(const Pair& pair, const PairRecord& record, RunFaults& faults,
                         std::vector<std::string>& sentences) const;
  std::string WhyNothingMeets(const Pair& pair, const PairRecord& record) const;

  const RunPlan* plan_;
  RunObserver* observer_;
  std::unique_ptr<ThreadPool> pool_;  ///< its threads start with the first large output
  Scripts scripts_;
  PairErrorBounds* bounds_ = nullptr;
  std::optional<SecondHearing> hearing_;
  ComparisonDetail detail_;
  RowWriter* rows_ = nullptr;
  const StepStates* steps_ = nullptr;
  PairingRule rule_ = PairingRule::kOneToOne;
  bool marked_ = false;
  std::vector<std::string> names_;
  std::vector<std::vector<std::string>> dropped_;  ///< by post-processing, stream by stream
  std::vector<Pair> pairs_;
  std::vector<Kept> kept_;
  bool may_keep_ = true;
  bool looked_ = false;  ///< at all pairs, and every map is about one of them
  bool started_ = false;
  bool stopped_ = false;
  bool invalid_ = false;
  std::string invalid_output_;  ///< why --validate ended the comparisons; empty: it did not
};

}  // namespace vernier
