// What a run saves while it goes: inputs, outputs, raw input bytes.
#pragma once

#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/results/feed_reader.h"
#include "io/results/feed_writer.h"
#include "io/results/results_writer.h"
#include "run/saved/earlier_sources.h"
#include "run/saved/feed_hasher.h"
#include "run/saved/input_blobs.h"
#include "run/saved/obsolete_input_parts.h"
#include "run/saved/result_origin.h"
#include "run/saved/saved_progress.h"
#include "run/steps/step_sequence.h"
#include "util/log/log.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

class OutputSavers {
 public:
  /// Creates what the plan asks for. kIo and kInvalidArgument before anything has run. `origin` is
  /// that of outputs that are saved. `progress` is what --resume goes on from; null, or it must
  /// outlive the object.
  static Result<OutputSavers> Create(const RunPlan& plan, std::vector<std::string> runner_names,
                                     const PartialOrigin& origin, SavedProgress* progress,
                                     Logger& logger);

  /// Whether anything is saved at all.
  bool saves() const { return inputs_ != nullptr || outputs_ != nullptr || blobs_.has_value(); }

  /// The feed of an iteration, before its results; those that were added before are not saved
  /// again. kMalformed when it is not the one that what was saved earlier was made from.
  /// Of `steps` (may be null) the feed is one: then the sequence counts, which is saved once.
  Status AddFeed(int64_t iteration, const TensorMap& feed, const StepSequence* steps);
  /// What results are computed with by now, for whoever goes on with what is saved. kMalformed
  /// where what was saved earlier was computed with others; kIo.
  Status NoteMadeWith(const std::vector<JournalSource>& sources);
  /// MarkFeed() of the feed that was added last, where outputs or rows are saved, saved outputs are
  /// compared, and of a shard.
  uint64_t FeedHash() { return hasher_.FeedHash(); }
  uint64_t FeedMark() { return hasher_.FeedMark(); }
  void MixIntoMark(uint64_t hash) { hasher_.MixIntoMark(hash); }
  /// HashOfFedState() of the feed that was added last, where outputs are saved or saved ones are
  /// compared.
  std::optional<uint32_t> FedState() const {
    return fed_states_.empty() ? std::nullopt : std::optional(fed_states_.back());
  }
  /// How the steps of a runner are fed (DescribeFeeding), before its first result. kIo.
  Status NoteSteps(size_t runner, const std::string& feeding);
  /// Whether that was done, or is not needed.
  bool KnowsSteps(size_t runner) const { return outputs_ == nullptr || feedings_.contains(runner); }
  /// Large outputs are written while the run goes on: what became of them is reported by Settle.
  Status AddResult(size_t runner, const IterationResult& result);
  /// Waits for what is being written.
  Status Settle();

  /// Publishes the files: of every runner's results, at most the first `iterations`. Parts that
  /// could not be published are kept beside them. Of a run that failed before anything was
  /// finished nothing is published: an older file is worth more than an empty one. Results without
  /// any output are not published either: kIo, where the run did not fail anyway. Not to be
  /// called after an error of the functions above, nor before Settle: then the old files stay, and
  /// so do the parts.
  ///
  /// With --resume, what was saved earlier stays as it is unless the new files have all of it, see
  /// SavedProgress::DecideEnd.
  Status Finish(size_t iterations, bool run_failed);

  /// After an error of saving: "; what was saved before is in 'X': `vernier data recover X` ...".
  /// Empty where nothing was, or where all is published.
  std::string WhatStays() const;

  /// What was saved and where, for records.
  const std::vector<std::pair<std::string, std::string>>& saved() const { return saved_; }

 private:
  OutputSavers(const RunPlan& plan, SavedProgress* progress, Logger& logger)
      : plan_(&plan.save),
        of_shard_(plan.shard.wanted()),
        compared_with_saved_(!plan.load_outputs.empty()),
        progress_(progress),
        logger_(&logger),
        hasher_(HashOfSteps(plan.steps)) {}
  Status CreateInputs();
  Status CreateOutputs(std::vector<std::string> runner_names, PartialOrigin origin);
  Result<uint64_t> FindEarlierInputs();
  Status CompareWithEarlier(const TensorMap& feed);
  std::string WayToRecover(const std::string& place) const;
  void WarnOfParts(const std::string& path, const std::string& stale);
  void WarnOfInputs();
  Status CheckProgress(int64_t iteration);
  Status NoteFedStates();
  Status AddNext(int64_t iteration, int64_t number, const TensorMap& feed);
  Status AddBlobs(const TensorMap& feed);
  Status Publish(size_t iterations, bool run_failed);
  Status Refuse(const std::string& why);
  Status Keep(SavedProgress::End end, bool run_failed);

  const SavePlan* plan_;
  bool of_shard_;
  bool compared_with_saved_;
  SavedProgress* progress_;
  Logger* logger_;
  FeedHasher hasher_;
  std::unique_ptr<FeedReader> earlier_inputs_;  // those that feeds must be the same as
  std::unique_ptr<FeedWriter> inputs_;
  std::optional<ObsoleteInputParts> obsolete_input_parts_;  // with --resume
  std::optional<InputBlobs> blobs_;
  std::unique_ptr<ResultsWriter> outputs_;
  size_t runners_ = 0;
  int64_t feeds_ = 0;
  int64_t results_ = 0;
  bool any_output_ = false;
  KnownSources made_with_;
  std::map<size_t, std::string> feedings_;  // of runners, what NoteSteps() was told
  std::vector<uint32_t> fed_states_;        // of all feeds: HashOfFedState()
  std::future<Status> pending_;             // after what it writes with
  std::vector<std::pair<std::string, std::string>> saved_;
};

}  // namespace vernier
