// The comparisons of a run: pairs of streams of iterations, one iteration at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "backend/script_client.h"
#include "compare/comparison.h"
#include "run/comparison/compared_pairs.h"
#include "run/comparison/mask_axes.h"
#include "run/comparison/pair_error_bounds.h"
#include "run/comparison/position_feeds.h"
#include "run/comparison/prompt_rows.h"
#include "run/comparison/second_hearing.h"
#include "run/comparison/state_crossing.h"
#include "run/comparison/streams.h"
#include "run/exit_code.h"
#include "run/feeds/image_feeds.h"
#include "run/run_observer.h"
#include "run/saved/flip_feeds.h"
#include "run/saved/flip_pictures.h"
#include "run/saved/row_writer.h"
#include "run/shards/kept_labels.h"
#include "run/shards/shard_writer.h"
#include "run/steps/pair_times.h"
#include "run/steps/step_states.h"
#include "util/thread_pool.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// Whether comparing less than was asked for is a fault of its own, or follows from another.
enum class Coverage : uint8_t { kJudged, kIgnored };

/// Is called with what was asked for and is not held.
using NotHeld = std::function<void(const std::string& sentence)>;

/// What takes part in the comparisons of a run beside the outputs; null: it does not. All must
/// outlive them.
struct ComparisonParts {
  struct Scripts {
    ScriptClient* comparison = nullptr;
    ScriptClient* postprocessing = nullptr;
    std::vector<ScriptClient*> decisions = {};  ///< as RunScripts::decisions()
  };
  Scripts scripts;                          ///< opened
  PerceptualMeasure* perceptual = nullptr;  ///< for --compare perceptual_metrics
  DeviceMeasure* device = nullptr;          ///< where outputs are whose bytes stayed on a device
  /// The bounds of --tolerance auto, asked while comparing, and where decisions flip if a gate is
  /// about clear flips.
  PairErrorBounds* bounds = nullptr;
  /// Runners that can infer once more: the condition of outputs that are over their bounds is
  /// measured with them, and what the reference gives with the candidate's state. Without, those
  /// bounds stay as they are.
  LiveRuns* live = nullptr;
  RowWriter* rows = nullptr;     ///< keeps the rows of all pairs under their labels
  ShardWriter* shard = nullptr;  ///< keeps what `vernier merge` folds
  /// Iterations are steps of sequences: outputs that are fed back are compared at the first, the
  /// last and the first bad step of each, unless the plan wants them all, or there are no others.
  const StepStates* steps = nullptr;
  PositionFeeds* positions = nullptr;  ///< what iterations were fed, for --compare logits
  RunLabels* labels = nullptr;         ///< of --labels
  /// Compare() returns kCancelled once it is set: after the output at hand, not after the
  /// iteration.
  const std::atomic<int>* interrupted = nullptr;
  /// An iteration that does not show yet which outputs belong together waits for the next ones.
  /// Else each is compared as far as it and those before it show the pairs.
  bool may_keep = true;
};

class ComparisonRun {
 public:
  /// `plan` and `observer` must outlive it.
  ComparisonRun(const RunPlan& plan, ComparedPairs pairs, const ComparisonParts& parts,
                RunObserver& observer);
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
    looked_ahead_ = true;
    return LookAt(outputs, {});
  }
  bool looked_ahead() const { return looked_ahead_; }

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

  /// Which step an iteration that was fed is; null: of a run without steps.
  const StepTimeline* timeline() const { return steps_ == nullptr ? nullptr : &steps_->timeline(); }

  /// The next iteration of the pair number `place`, which a shard compared: it is folded as if it
  /// had been compared here. False when --fail-fast ends the run. kMalformed, kIo.
  Result<bool> Fold(size_t place, int64_t iteration, ShardPair kept);
  /// After the pairs of an iteration: the pictures that its shard drew.
  void FoldPictures(int64_t iteration, std::vector<ShardPicture> pictures);

  const std::vector<ComparedPair>& pairs() const { return pairs_; }

  /// Compares what was kept. To be called after the last iteration.
  Result<bool> CompareKept();

  /// Before Compare(), for --save-flips, --on-flips and pictures of flips: what the iteration is
  /// made from.
  void KeepFeed(const TensorMap& feed);

  /// Before Compare(), of --load-inputs with images: `iteration` is made from the image that they
  /// gave as number `place`. Null where feeds are none.
  void NoteImage(int64_t iteration, int64_t place, const ImageFeeds* images) const;

  /// After Finish(): adds pictures of flips to the record, writes the files of --save-flips and
  /// adds them to `run.saved`; where nothing flips, a note. kIo; kInternal when memory runs out.
  Status SaveFlips(RunRecord& run) const;

  /// Of --save-flips: the iterations whose flips are kept, those that are among the worst so far,
  /// and one that a shard has kept.
  std::vector<int64_t> KeptFlips() const { return flips_.iterations(); }
  std::vector<int64_t> WorstIterations() const;
  void TakeFlip(int64_t iteration, TensorMap feed, IterationOutputs outputs) {
    flips_.Put(iteration, std::move(feed), std::move(outputs));
  }

  /// For --on-flips: the inputs of the worst flips that `run` has, a few of them; without the flag
  /// none. Errors as FlipFeeds::Copy.
  Result<FlipInputs> FlipsToSearch(const RunRecord& run) const;

  /// --validate on all outputs of an iteration, after everything was compared. Each that is invalid
  /// adds a sentence. Post-processes them, as far as that cannot hide what they hold.
  void ValidationStarted() { observer_->ValidationStarted(names_); }
  Result<bool> ValidateAll(int64_t iteration, IterationOutputs& outputs,
                           std::vector<std::string>& sentences);

  /// --fail-fast or an invalid output has ended the comparisons.
  bool stopped() const { return stopped_; }

  /// Before Compare(): what live runners are fed; `steps` (may be null) gave it. Errors as
  /// PositionFeeds::Note.
  Status NoteFeed(int64_t iteration, const TensorMap& feed, const StepSequence* steps);

  bool has_pairs() const { return !pairs_.empty(); }

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

  bool Validate(int64_t iteration, const IterationOutputs& outputs);
  Result<bool> LookAt(const IterationOutputs& outputs, const FeedMarks& feeds);
  Status CheckMapsUsed() const;
  Status CheckCrossedMaps(const Pair& pair) const;
  void SetPositions(int64_t iteration);
  void SetPositions(const Pair& pair, const MatchedSides& sides);
  Result<bool> CompareNow(int64_t iteration, const IterationOutputs& outputs,
                          const IterationOutputs& given, const FeedMarks& feeds);
  Status CompareOne(Pair& pair, int64_t iteration, const IterationOutputs& outputs,
                    const IterationOutputs& given);
  IterationOutputs OutputsToDecide(const IterationOutputs& outputs) const;
  Result<std::vector<DecisionRow>> DecidePair(Pair& pair, int64_t iteration,
                                              const IterationOutputs& outputs,
                                              const IterationComparison* comparison);
  const RunLabels* LabelsToFold() const { return shard_ == nullptr ? labels_ : nullptr; }
  void KeepTieBounds(PairErrorBounds* bounds);
  void JudgeDoubts(const Pair& pair, const PairRecord& record, const NotHeld& not_held,
                   RunRecord& run) const;
  void LeaveGatesToMerge(PairRecord& record, RunRecord& run) const;
  void JudgeDecisions(const Pair& pair, PairRecord& record, Coverage coverage, RunFaults& faults,
                      RunRecord& run);
  PairTokens MakeTokens() const;
  std::string StepInWords(int64_t iteration, int64_t expected) const;
  void NoteTokens(int64_t iteration, const IterationOutputs& outputs, const FeedMarks& feeds);
  Result<bool> LeaveOutStep(Pair& pair, int64_t iteration);
  void JudgeStepTokens(Pair& pair, int64_t iteration, const IterationComparison& comparison);
  void JudgeAgreement(const Pair& pair, PairRecord& record, RunFaults& faults,
                      RunRecord& run) const;
  void JudgeNotJudged(const Pair& pair, const DecodeRecord& decode, RunFaults& faults,
                      RunRecord& run) const;
  void JudgeTokens(const Pair& pair, PairRecord& record, RunFaults& faults, RunRecord& run) const;
  static void AddPadded(const Pair& pair, PairRecord& record, RunFaults& faults, RunRecord& run);
  void LeaveOutStates(const Pair& pair, MatchedSides& sides) const;
  void JudgeUndecided(const Pair& pair, PairRecord& record, RunFaults& faults,
                      std::vector<std::string>& sentences) const;
  bool KeepsFlips() const;
  Status KeepFlips(int64_t iteration, const IterationOutputs& outputs);
  Status SaveFlipFiles(RunRecord& run) const;
  bool JudgesElements() const { return judge_ != JudgeRule::kDecisions; }
  Result<IterationComparison> CompareSides(Pair& pair, int64_t iteration,
                                           const IterationOutputs& outputs);
  void FitWholeSequences(const Pair& pair, MatchedSides& sides) const;
  void ExcuseFirstStep(int64_t iteration, IterationComparison& comparison) const;
  bool IsState(const Pair& pair, const std::string& first, const std::string& second) const;
  bool MayBeLogits(const Pair& pair, const std::string& first, const std::string& second) const;
  std::vector<std::string> TakeNoLogits(const Pair& pair, MatchedSides& sides) const;
  void DropNoLogits(const Pair& pair, const std::vector<std::string>& taken,
                    IterationComparison& comparison) const;
  std::vector<OutputPair> TakeStates(const Pair& pair, int64_t iteration,
                                     MatchedSides& sides) const;
  Result<IterationComparison> CompareMatched(const Pair& pair, int64_t iteration,
                                             const IterationOutputs& outputs,
                                             const MatchedSides& sides);
  Result<IterationComparison> CompareTaken(const Pair& pair, int64_t iteration,
                                           const IterationOutputs& outputs,
                                           const MatchedSides& sides);
  std::vector<OutputPair> OutputsOfPrompts(const Pair& pair, int64_t batch,
                                           const MatchedSides& sides);
  Status AddRows(Pair& pair, int64_t iteration, const IterationComparison& comparison,
                 std::vector<DecisionRow> decisions);
  Status KeepRow(const Pair& pair, int64_t iteration, int64_t step, std::vector<OutputRow> rows,
                 std::vector<DecisionRow> decisions);
  Status AddCrossed(Pair& pair, int64_t iteration, const IterationOutputs& outputs,
                    const IterationComparison& comparison);
  Status PostprocessOne(int64_t iteration, IterationResult& side);
  Result<IterationComparison> ComparePair(const MatchedSides& sides, int64_t iteration);
  Result<IterationComparison> HearAgain(const Pair& pair, int64_t iteration,
                                        const IterationOutputs& outputs, const MatchedSides& sides,
                                        IterationComparison comparison);
  bool JudgePair(const Pair& pair) const;
  void AddTimes(const Pair& pair, PairRecord& record) const;
  void PlaceFlips(PairRecord& record) const;
  static void AddElementErrors(const Pair& pair, PairRecord& record,
                               std::vector<std::string>& notes);
  static void RejectIllConditioned(const PairRecord& record, const std::string& who,
                                   RunFaults& faults, std::vector<std::string>& sentences);
  void RejectRetyped(const Pair& pair, PairRecord& record, RunFaults& faults,
                     std::vector<std::string>& sentences) const;
  static void AddOtherInputs(const Pair& pair, RunFaults& faults,
                             std::vector<std::string>& sentences);
  void AddGivenUp(const Pair& pair, const PairRecord& record, RunFaults& faults,
                  std::vector<std::string>& sentences) const;
  void AddUnverified(const Pair& pair, RunFaults& faults,
                     std::vector<std::string>& sentences) const;
  void AddLeftOut(const PairRecord& record, const std::string& who, RunFaults& faults,
                  std::vector<std::string>& sentences) const;
  void AddCoverageFaults(const Pair& pair, const PairRecord& record,
                         const std::vector<StreamLength>& lengths, RunFaults& faults,
                         std::vector<std::string>& sentences) const;
  std::string WhyNothingMeets(const Pair& pair, const PairRecord& record) const;
  bool ValidatesFirst() const;
  void KeepHiddenNans(size_t stream, const TensorMap& outputs);
  void KeepTypes(size_t stream, const TensorMap& outputs);
  void AddHiddenNans(const Pair& pair, RunFaults& faults,
                     std::vector<std::string>& sentences) const;

  const RunPlan* plan_;
  RunObserver* observer_;
  std::unique_ptr<ThreadPool> pool_;  ///< its threads start with the first large output
  ComparisonParts::Scripts scripts_;
  PairErrorBounds* bounds_;
  PairErrorBounds* tie_bounds_ = nullptr;
  std::optional<SecondHearing> hearing_;
  std::optional<StateCrossing> crossing_;
  ComparisonDetail detail_;
  RowWriter* rows_;
  ShardWriter* shard_;
  LabelKeeper label_keeper_;
  const StepStates* steps_;
  JudgeRule judge_;
  TensorMap flip_feed_;  ///< of the iteration at hand, where flips are kept or shown
  FlipFeeds flips_;
  FlipPictures flip_pictures_;
  PositionFeeds* positions_;
  ModelSignatures models_;  ///< of the next two, which point to it
  MaskAxes mask_axes_;
  PromptAxes prompt_axes_;
  TakenRows rows_taken_;  ///< of what is folded
  RunLabels* labels_;
  std::vector<std::string> names_;
  bool marked_;
  std::vector<Pair> pairs_;
  std::vector<std::vector<std::string>> dropped_;  ///< by post-processing, stream by stream
  std::vector<Kept> kept_;
  bool may_keep_;
  bool looked_ = false;  ///< at all pairs, and every map is about one of them
  bool looked_ahead_ = false;
  std::vector<std::string> mismatch_notes_;  ///< where nothing is known of the processor
  bool started_ = false;
  bool stopped_ = false;
  bool invalid_ = false;
  /// Of the sentences of the record's faults: those that another gate or other labels would not
  /// have.
  std::vector<std::string> gate_faults_, label_faults_;
  std::string invalid_output_;  ///< why --validate ended the comparisons; empty: it did not
  /// Streams with outputs that held NaN before top-K made indices of them.
  std::vector<std::pair<size_t, std::string>> nans_hidden_;
  /// Stream by stream: the types that outputs had before post-processing, in any iteration.
  std::vector<std::map<std::string, std::set<DType>>> given_types_;
};

}  // namespace vernier
