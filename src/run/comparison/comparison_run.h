// The comparisons of a run: pairs of streams of iterations, one iteration at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compare/functions/comparison.h"
#include "run/comparison/bound_recheck.h"
#include "run/comparison/compared_pairs.h"
#include "run/comparison/comparison_parts.h"
#include "run/comparison/flip_keeper.h"
#include "run/comparison/given_outputs.h"
#include "run/comparison/inner_nans.h"
#include "run/comparison/mask_axes.h"
#include "run/comparison/pair_verdict.h"
#include "run/comparison/position_feeds.h"
#include "run/comparison/prompt_rows.h"
#include "run/comparison/step_sides.h"
#include "run/feeds/image_feeds.h"
#include "run/feeds/streams.h"
#include "run/live/pair_error_bounds.h"
#include "run/outcome/exit_code.h"
#include "run/outcome/run_observer.h"
#include "run/parts/kept_labels.h"
#include "run/parts/shard_writer.h"
#include "run/saved/row_writer.h"
#include "run/steps/step_states.h"
#include "util/threads/thread_pool.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

class ComparisonRun {
 public:
  /// `plan` and `observer` must outlive it.
  ComparisonRun(const RunPlan& plan, ComparedPairs pairs, const Instruments& instruments,
                const ComparisonParts& parts, RunObserver& observer);
  ComparisonRun(const ComparisonRun&) = delete;
  ComparisonRun& operator=(const ComparisonRun&) = delete;

  /// Top-K, or what the script makes of each side's outputs.
  Status Postprocess(int64_t iteration, IterationOutputs& outputs);

  /// Post-processes and compares one iteration. False when --fail-fast ends the run. An iteration
  /// that does not show yet which outputs belong together is kept, with three more at most, and
  /// compared with the next, or by CompareKept(). A pair whose sides were made from other inputs,
  /// by `feeds`, is left out, which Finish() reports. kInvalidArgument for --map-outputs that do
  /// not fit.
  Result<bool> Compare(int64_t iteration, IterationOutputs& outputs, FeedMarks feeds = {});

  /// Before Compare(): lets an iteration of the undivided run say which outputs belong together.
  /// True: no further one can. Errors as of Compare().
  Result<bool> LookAhead(const IterationOutputs& outputs) {
    waiting_.looked_ahead = true;
    return LookAt(outputs, {});
  }
  bool looked_ahead() const { return waiting_.looked_ahead; }

  /// Before anything is inferred: `outputs` are the names of those of each stream. Errors of
  /// --map-outputs, as of Compare(), that names show.
  Status CheckMaps(const std::vector<std::vector<std::string>>& outputs) const;

  /// What is to be added to the faults where outputs do not match: of the processor. Of parts that
  /// are folded, that of their machine.
  std::vector<std::string> NotesOfMismatch() const;
  void TakeNotesOfMismatch(std::vector<std::string> notes) { mismatch_notes_ = std::move(notes); }

  /// Which pair of an iteration has sides that were made from other inputs, and what to do: of the
  /// first such pair; empty where there is none.
  std::string DescribeOtherInputs(int64_t iteration, const FeedMarks& feeds) const;

  /// Before Compare(), of each pair. Those whose sides were fed otherwise are not compared.
  void TakeFeeding(std::vector<FedPair> fed);
  /// Before Compare(): pairs that two references may have fed otherwise are not compared any more
  /// once this says of two streams that they did.
  using OfOtherStates = std::function<bool(size_t first, size_t second)>;
  void LeaveOutOtherSteps(const OfOtherStates& of_other_states);
  const StepStates* steps() const { return parts_.steps; }
  const RunPlan& plan() const { return *plan_; }

  /// Which step an iteration that was fed is; null: of a run without steps.
  const StepTimeline* timeline() const {
    return parts_.steps == nullptr ? nullptr : &parts_.steps->timeline();
  }

  /// The next iteration of the pair number `place`, which a shard compared: it is folded as if it
  /// had been compared here. False when --fail-fast ends the run. kMalformed, kIo.
  Result<bool> Fold(size_t place, int64_t iteration, ShardPair kept);
  const std::vector<ComparedPair>& pairs() const { return compared_.pairs; }

  /// Compares what was kept. To be called after the last iteration.
  Result<bool> CompareKept();

  /// What is kept of the worst flips. Before Compare() it is given the feed, and after Finish() it
  /// saves.
  FlipKeeper& flips() { return flips_; }

  /// Before Compare(), of --load-inputs with images: `iteration` is made from the image that they
  /// gave as number `place`. Null where feeds are none.
  void NoteImage(int64_t iteration, int64_t place, const ImageFeeds* images) const;

  /// --validate on all outputs of an iteration, after everything was compared. Each that is invalid
  /// adds a sentence. Post-processes them, as far as that cannot hide what they hold.
  void ValidationStarted() { observer_->ValidationStarted(compared_.names); }
  Result<bool> ValidateAll(int64_t iteration, IterationOutputs& outputs,
                           std::vector<std::string>& sentences);

  /// --fail-fast or an invalid output has ended the comparisons.
  bool stopped() const { return end_.stopped; }

  /// Before Compare(): what live runners are fed; `steps` (may be null) gave it. Errors as
  /// PositionFeeds::Note.
  Status NoteFeed(int64_t iteration, const TensorMap& feed, const StepSequence* steps);

  bool has_pairs() const { return !compared_.pairs.empty(); }

  /// Drops what was found where a stream from `first` on took part: there is no verdict on it.
  void Disbelieve(size_t first);

  /// Summaries and what they mean for the exit code: fills the record's pairs and adds to its
  /// faults and rejections. `lengths` are those of the streams.
  void Finish(const std::vector<StreamLength>& lengths, Coverage coverage, RunFaults& faults,
              RunRecord& record);

  /// After Finish(), what rows have to carry: of the faults those that are no gate's, and pairs
  /// that --fail-fast or --validate ended early.
  RowsEnd EndOfRows(const RunFaults& faults, const RunRecord& record) const;

 private:
  using Pair = ComparedPair;

  // An iteration that waits for its pairs, with what it was made from.
  struct Kept {
    int64_t iteration;
    IterationOutputs outputs;
    IterationOutputs given;  // see OutputsToDecide
    FeedMarks marks;
    TensorMap feed;
    TensorMap flip_feed;
  };

  // An iteration while it is compared: how depends on the pair and on the sides that are met.
  struct ComparedStep {
    int64_t iteration;
    const IterationOutputs& outputs;
    ComparisonDetail detail;
  };

  struct Waiting {
    std::vector<Kept> kept = {};
    bool looked = false;  // at all pairs, and every map is about one of them
    bool looked_ahead = false;
  };

  struct Bounds {
    PairErrorBounds* elements = nullptr;  // null: there are none
    PairErrorBounds* ties = nullptr;      // where decisions flip
    std::unique_ptr<BoundRecheck> recheck = {};
    std::unique_ptr<BoundRecheck> of_crossed = {};  // of steps whose state is given
  };

  struct Axes {
    explicit Axes(const RunPlan& plan, const InferenceScheduler* live)
        : models(plan), masks(plan, live, models), prompts(models) {}
    ModelSignatures models;
    MaskAxes masks;
    PromptAxes prompts;
  };

  struct End {
    bool started = false;  // to compare
    bool stopped = false;
    bool invalid = false;
    std::string invalid_output = {};  // why --validate ended the comparisons; empty: it did not
  };

  bool Validate(int64_t iteration, const IterationOutputs& outputs);
  bool ValidatesFirst() const;
  bool JudgesElements() const { return judge_ != JudgeRule::kDecisions; }
  bool EndsRun(const Pair& pair, const IterationComparison& comparison) const;
  bool ByScript() const { return parts_.scripts.comparison != nullptr; }
  const RunLabels* LabelsToFold() const {
    return parts_.shard == nullptr ? parts_.labels : nullptr;
  }
  void MakeBounds(const Instruments& instruments);
  ComparisonDetail DetailOf(const Instruments& instruments) const;
  void Begin(ComparedPair& pair) const;
  Result<bool> LookAt(const IterationOutputs& outputs, const FeedMarks& feeds);
  Status CheckMapsUsed() const;
  bool MayBeGone(const Pair& pair, size_t map) const;
  Status CheckCrossedMaps(const Pair& pair,
                          const std::vector<std::vector<std::string>>& outputs) const;
  const FedPositions* PositionsOf(int64_t iteration);
  Status PostprocessOne(int64_t iteration, IterationResult& side);
  Result<bool> CompareNow(int64_t iteration, const IterationOutputs& outputs,
                          const IterationOutputs& given, const FeedMarks& feeds);
  Status CompareOne(Pair& pair, ComparedStep step, const IterationOutputs& given);
  // `step.detail` is given what is known of the positions and the bounds of these sides.
  Result<IterationComparison> CompareSides(Pair& pair, ComparedStep& step);
  Result<IterationComparison> CompareMatched(const Pair& pair, const ComparedStep& step,
                                             const MatchedSides& sides);
  Result<IterationComparison> CompareTaken(const Pair& pair, const ComparedStep& step,
                                           const MatchedSides& sides);
  Result<IterationComparison> ComparePair(const ComparedStep& step, const MatchedSides& sides);
  struct Rechecked {
    bool answered = false;  // the runner was asked, and repeats itself
    bool widened = false;
  };
  Rechecked RecheckBounds(const Pair& pair, size_t stream, const ComparedStep& step,
                          const IterationComparison& comparison, ErrorBounds& bounds);
  // Of a step of which both sides were given one state.
  Result<IterationComparison> CompareCrossed(const Pair& pair, const ComparedStep& step,
                                             const MatchedSides& sides);
  Status AddCrossed(Pair& pair, const ComparedStep& step, const IterationComparison& comparison);
  Result<bool> LeaveOutStep(Pair& pair, int64_t iteration);
  std::vector<OutputPair> OutputsOfPrompts(const Pair& pair, int64_t batch,
                                           const MatchedSides& sides);
  IterationOutputs OutputsToDecide(const IterationOutputs& outputs) const;
  Result<std::vector<DecisionRow>> DecidePair(Pair& pair, int64_t iteration,
                                              const IterationOutputs& outputs,
                                              const IterationComparison* comparison);
  Status AddRows(Pair& pair, int64_t iteration, const IterationComparison& comparison,
                 std::vector<DecisionRow> decisions);
  Status KeepRow(const Pair& pair, int64_t iteration, int64_t step, std::vector<OutputRow> rows,
                 std::vector<DecisionRow> decisions);
  void AddTimes(const Pair& pair, PairRecord& record) const;
  std::vector<std::string> StatesAmong(const Pair& pair,
                                       const IterationComparison& comparison) const;
  void FinishPair(const Pair& pair, const VerdictScope& scope, PairRecord& record) const;
  void AddRunNotes(RunFaults& faults, RunRecord& record) const;

  const RunPlan* plan_;
  RunObserver* observer_;
  const ComparisonParts parts_;
  ComparedPairs compared_;
  const JudgeRule judge_;
  const Indirect<CompareOptions> options_;
  const std::unique_ptr<ThreadPool> pool_;  // its threads start with the first large output
  const ComparisonDetail detail_;           // what is the same for all iterations and pairs
  Bounds bounds_;
  InferenceScheduler* crossing_ = nullptr;  // null: nothing is crossed
  StepSides step_sides_;
  GivenOutputs given_;
  FlipKeeper flips_;
  LabelKeeper label_keeper_;  // of a shard
  Axes axes_;
  InnerNans inner_nans_;
  TakenRows rows_taken_;  // of what is folded
  Waiting waiting_;
  End end_;
  std::vector<std::string> mismatch_notes_;  // where nothing is known of the processor
  RuleFaults rule_faults_;
};

}  // namespace vernier
