// The saved runs of a run beside its live ones: their iterations are appended to those of the live
// runners as long as all of them have one.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "run/feeds/streams.h"
#include "run/saved/fed_states.h"
#include "run/saved/saved_runs.h"
#include "run/saved/step_feeding.h"
#include "run/steps/step_timeline.h"
#include "util/log/log.h"
#include "vernier/run_plan.h"
#include "vernier/run_record.h"
#include "vernier/status.h"

namespace vernier {

class SavedStreams {
 public:
  /// `live` are the names of the runners, which come before the saved ones. Errors as
  /// SavedRuns::Open.
  static Result<SavedStreams> Open(const RunPlan& plan, std::vector<std::string> live,
                                   Logger& logger);

  const std::vector<SavedRuns::Run>& runs() const { return runs_.runs(); }
  const SavedRuns& saved() const { return runs_; }

  /// Are outputs of other inputs compared? Not with --strict.
  bool lenient() const { return plan_->lenient && !plan_->strict; }

  /// See SavedRuns::Peek.
  Result<IterationResult> Peek(size_t run) { return runs_.Peek(run); }

  /// See SavedRuns::CheckIntact.
  Status CheckIntact() const { return runs_.CheckIntact(); }

  /// MarkFeed() of what an iteration was made from, where any of the files knows it.
  std::optional<uint64_t> FeedOf(int64_t iteration) const { return runs_.FeedOf(iteration); }

  /// What live runners are fed, before FeedMarksOf() of that iteration.
  /// `state`: HashOfFedState().
  void NoteLiveFeed(int64_t iteration, uint64_t mark, std::optional<uint32_t> state = {});

  /// MarkFeed() of what an iteration of each side was made from, live ones first, where it is
  /// known. Empty where no saved run knows it.
  FeedMarks FeedMarksOf(int64_t iteration) const;

  /// --lenient: `why` two sides are not of the same inputs, in the log, the first time.
  void WarnOfOtherInputs(const std::string& why);

  /// After NoteLiveFeed(): why the steps of two sides, places among all, were fed otherwise, and
  /// what to do; `live` says how those of live runners are (DescribeFeeding). Empty where they were
  /// fed alike, and where it is not known, which is warned of once.
  struct OtherSteps {
    std::string why;
    /// Two references have fed them: from the first iteration on alone at which HaveOtherStates().
    bool unless_same_states = false;
  };
  OtherSteps WhyOtherSteps(size_t first, size_t second, const std::vector<std::string>& live,
                           const std::pair<std::string, std::string>& shown);
  /// After NoteLiveFeed(): have references fed an iteration of the sides other states, or is that
  /// not known?
  bool HaveOtherStates(size_t first, size_t second, int64_t iteration) const;
  /// Of the same sides: are their differences each step's own error, since one runner's state fed
  /// both?
  bool AreOwnErrors(size_t first, size_t second, const std::vector<std::string>& live) const;
  /// Were both decoded with tokens that no runner chose? False where a side is a runner.
  bool HaveGivenTokens(size_t first, size_t second) const;
  /// Was a saved side cut from outputs for all steps (--steps-axis)? False of a runner.
  bool IsOfAllSteps(size_t side) const;
  /// Whether that is still to be asked: once, if anything is loaded.
  bool AsksForSteps() { return !runs().empty() && !std::exchange(asked_for_steps_, true); }

  /// False when a saved run has no such iteration: what it was compared up to is a warning. An
  /// uneven file is kNotFound in lenient mode, as in Polygraphy. One without any iteration beside
  /// others that have some is absent from `outputs`, but in lenient mode.
  Result<bool> Append(int64_t iteration, IterationOutputs& outputs);

  /// Of a run of `steps` iterations in all, as soon as that is known, or which has so many and
  /// perhaps more (`goes_on`): kMalformed for a file that has another number of them, and does not
  /// say which sequences they are of (see CheckStep).
  Status CheckStepCount(std::optional<int64_t> steps, bool goes_on = false);
  /// Was there one? What was compared with it then is of other steps.
  bool has_other_steps() const { return has_other_steps_; }

  /// After NoteLiveFeed(): kMalformed where a sequence begins on one side alone, because the
  /// outputs were saved by a run with other steps, and for another --decode-stop. Not where that is
  /// unknown.
  Status CheckStep(int64_t iteration, const StepTimeline& timeline) const;

  /// Has a file with runners of different lengths ended a lenient run? Less was compared then than
  /// it holds, and nothing differed.
  bool ended_unevenly() const { return ended_unevenly_; }

  /// Puts the files of loaded sides into the records of `pairs`, places among all sides: a file by
  /// its name, or its path where two have that name; with the runner where it holds several, and
  /// with a number where it was loaded before: "out.json (2)".
  void NameFiles(const std::vector<std::pair<size_t, size_t>>& pairs,
                 std::vector<PairRecord>& records) const;

  /// How people call the sides of `pairs`, places among all sides: "onnxrt" and "golden.npz".
  std::vector<std::pair<std::string, std::string>> PairNames(
      const std::vector<std::pair<size_t, size_t>>& pairs) const;

  /// Which of `pairs`, places among all sides, are the same iterations of one file: places in
  /// `pairs`, and the file's path.
  std::vector<std::pair<size_t, std::string>> SelfComparisons(
      const std::vector<std::pair<size_t, size_t>>& pairs) const;

 private:
  SavedStreams(const RunPlan& plan, std::vector<std::string> live, SavedRuns runs, Logger& logger)
      : plan_(&plan), live_(std::move(live)), runs_(std::move(runs)), logger_(&logger) {
    for (const SavedRuns::Run& run : runs_.runs()) {
      steps_hashes_.push_back(StepsHashIn(run.steps));
      saved_states_.push_back(FedStatesIn(run.steps));
    }
    if (!plan.steps.wanted()) return;
    for (size_t i = 0; i < runs_.runs().size(); ++i) saved_steps_.push_back(runs_.StepsOf(i));
    NoteOtherCounts();
  }

  void NoteOtherCounts();
  void WarnOfUnknownSteps() const;
  /// A side, with its mark of the first feed as if it had no steps.
  struct FedSide {
    std::string feeding;
    std::optional<uint64_t> mark;
    const SavedRuns::Run* run = nullptr;  ///< null: a live one
    std::string shown;
  };
  FedSide SideOf(size_t side, const std::vector<std::string>& live, const std::string& shown) const;
  std::string WhyOneHasSteps(const FedSide& with, const FedSide& without);
  void WarnOfMixed(const FedSide& a, const FedSide& b);
  bool HaveSameStates(size_t first, size_t second) const;
  std::optional<uint32_t> FedStateOf(size_t side, int64_t iteration) const;
  uint64_t AsOfThisCount(size_t run, uint64_t saved, uint64_t live) const;
  Status CheckStop() const;
  std::string FileOf(size_t side) const;
  Status CheckUnevenFile(int64_t iteration);
  Status UnevenFile(const std::string& path, int64_t iteration) const;
  void WarnOfExhaustion(int64_t compared, const std::vector<size_t>& exhausted, size_t streams);

  const RunPlan* plan_;
  std::vector<std::string> live_;
  SavedRuns runs_;
  Logger* logger_;
  std::vector<uint64_t> live_feeds_;  ///< by iteration, where a saved run is compared with them
  std::vector<std::optional<uint32_t>> live_states_;      ///< likewise
  std::vector<std::vector<uint32_t>> saved_states_ = {};  ///< run by run: FedStatesIn()
  bool warned_of_inputs_ = false;
  bool asked_for_steps_ = false;
  bool ended_unevenly_ = false;
  bool has_other_steps_ = false;
  std::vector<uint64_t> steps_hashes_;  ///< run by run: HashOfSteps(); 0 where it is not known
  std::vector<std::vector<int64_t>> saved_steps_;  ///< run by run, SavedRuns::StepsOf()
  /// Run by run: what makes a mark with another --steps one of this run's, all else being equal.
  std::vector<std::vector<uint64_t>> other_counts_;
};

}  // namespace vernier
