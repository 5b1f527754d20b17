// The feeds of a run, one at a time: seeded random inputs, saved ones, images, or a script's.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "run/feeds/feed_producer.h"
#include "run/steps/step_sequence.h"
#include "util/log/log.h"
#include "vernier/shard_plan.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

class FeedStream {
 public:
  /// `inputs` are those of the first runner, which random feeds are made for.
  static Result<std::unique_ptr<FeedStream>> Open(const RunPlan& plan,
                                                  std::span<const TensorInfo> inputs,
                                                  const PythonFeeds& python, Logger& logger);

  /// Polygraphy's line that announces given shapes, before any runner is activated.
  static void Announce(const RunPlan& plan, Logger& logger);

  /// From now on each feed is a sequence, and Next() gives its steps one after another.
  void GoInSteps(std::unique_ptr<StepSequence> steps) { steps_ = std::move(steps); }
  /// Null without steps.
  const StepSequence* steps() const { return steps_.get(); }

  /// The next feed; nullopt at the end. kMalformed where a script or a file has none at all, unless
  /// the plan is lenient. With steps also the errors of StepSequence::Next.
  Result<std::optional<TensorMap>> Next();

  /// Makes the next feed now, if it was not made yet, for Next() to return, where it is random,
  /// drawn here and not so large that having two is a burden, or a step. What there is to log of it
  /// appears with Next(). Of steps also the one so many behind it. Null where there is none.
  const TensorMap* Prepare(size_t behind);

  /// The same of the feed after that one, where three are no burden: for the next Prepare(), which
  /// then has nothing to do.
  void PrepareOneMore();

  /// Whether files of feeds hold more than Next() gave, as far as that shows without reading them.
  bool HasMoreLoaded() const { return producer_->HasMore(); }

  /// Null where feeds are no images.
  const ImageFeeds* images() const { return producer_->images(); }

  /// See ImageFeeds.
  void ForgetReadAhead(int64_t used, bool reached) {
    if (ImageFeeds* const images = producer_->images()) images->ForgetReadAhead(used, reached);
  }

  /// The index, among all feeds of the run (of images among all files, skipped ones counted), of
  /// the feed that Next() gives as number `place`: another one where the plan is that of a shard.
  /// Of a shard of images only for those that Next() gave.
  int64_t IndexOf(int64_t place) const { return producer_->IndexOf(place); }
  /// How many feeds the undivided run has; nullopt as long as a script has not shown it, and where
  /// it does not matter.
  std::optional<int64_t> total() const { return producer_->total(); }
  /// What a message about the feed that Next() gave as number `place` begins with: its iteration,
  /// and where several files were loaded its file. Empty for the first feed of a single file, or of
  /// none.
  std::string NameOf(int64_t place) const;
  /// A sentence if a script's object announced more feeds than it gave by its end; else empty.
  std::string DescribeShortfall() const { return producer_->DescribeShortfall(); }
  /// Of a shard whose script makes the feeds of all shards, one after the other.
  bool passes_over() const { return producer_->passes_over(); }

  /// How many feeds were requested, or files of feeds hold, images that were skipped left out;
  /// nullopt where a script or the length of sequences decides, and as long as files were not
  /// opened yet.
  std::optional<int64_t> expected() const;
  /// Whether that is known in an undivided run before the last feed is made. Of several files some
  /// may not be opened yet when a run ends early, depending on how far ahead it reads.
  bool CountedBeforehand() const { return producer_->CountedBeforehand(); }
  /// The same at the end of a run that broke off, however far ahead it has read: files that were
  /// not opened are counted.
  std::optional<int64_t> CountAsked();
  /// Of steps; nullopt without, and where that is not known.
  std::optional<int64_t> CountSequences() const;
  /// Of all sequences, where they have the same number of steps and it is known how many there are.
  std::optional<int64_t> CountSteps() const;

 private:
  FeedStream(const RunPlan& plan, std::unique_ptr<FeedProducer> producer, Logger& logger);

  Result<std::optional<TensorMap>> NextWhole();

  Logger& logger_;
  const ShardPlan shard_;
  const bool may_be_empty_;
  const std::unique_ptr<FeedProducer> producer_;
  std::unique_ptr<StepSequence> steps_;
  bool any_ = false;  // feeds given
};

}  // namespace vernier
