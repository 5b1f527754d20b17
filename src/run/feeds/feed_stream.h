// The feeds of a run, one at a time: seeded random inputs, saved ones, images, or a script's.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "inputs/random_feeds.h"
#include "io/results/feed_reader.h"
#include "run/feeds/image_feeds.h"
#include "run/feeds/script_feeds.h"
#include "run/steps/step_sequence.h"
#include "run/workers/held_log.h"
#include "util/log/log.h"
#include "vernier/shard_plan.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

struct RunPlan;

/// What of a feed is made in Python; null where nothing is.
struct PythonFeeds {
  ScriptFeeds* script = nullptr;  ///< where the plan's data loader script is open
  FeedDrawer* drawer = nullptr;   ///< of random numbers
};

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
  bool HasMoreLoaded() const {
    return (reader_ != nullptr && reader_->HasMore()) || (images_ != nullptr && images_->HasMore());
  }

  /// Null where feeds are no images.
  const ImageFeeds* images() const { return images_.get(); }

  /// See ImageFeeds.
  void ForgetReadAhead(int64_t used, bool reached) {
    if (images_ != nullptr) images_->ForgetReadAhead(used, reached);
  }

  /// The index, among all feeds of the run (of images among all files, skipped ones counted), of
  /// the feed that Next() gives as number `place`: another one where the plan is that of a shard.
  /// Of a shard of images only for those that Next() gave.
  int64_t IndexOf(int64_t place) const {
    if (shard_.wanted() && images_ != nullptr) return images_->PlaceOf(place);
    return shard_.IndexOf(place, total_.value_or(0));
  }
  /// How many feeds the undivided run has; nullopt as long as a script has not shown it, and where
  /// it does not matter.
  std::optional<int64_t> total() const {
    return script_ != nullptr && !total_ ? script_->count() : total_;
  }
  /// What a message about the feed that Next() gave as number `place` begins with: its iteration,
  /// and where several files were loaded its file. Empty for the first feed of a single file, or of
  /// none.
  std::string NameOf(int64_t place) const;
  /// A sentence if a script's object announced more feeds than it gave by its end; else empty.
  std::string DescribeShortfall() const;
  /// Of a shard whose script makes the feeds of all shards, one after the other.
  bool passes_over() const { return passes_over_; }

  /// How many feeds were requested, or files of feeds hold, images that were skipped left out;
  /// nullopt where a script or the length of sequences decides, and as long as files were not
  /// opened yet.
  std::optional<int64_t> expected() const;
  /// Whether that is known in an undivided run before the last feed is made. Of several files some
  /// may not be opened yet when a run ends early, depending on how far ahead it reads.
  bool CountedBeforehand() const {
    return script_ == nullptr && (reader_ == nullptr || reader_->KnowsTotal());
  }
  /// The same at the end of a run that broke off, however far ahead it has read: files that were
  /// not opened are counted.
  std::optional<int64_t> CountAsked();
  /// Of steps; nullopt without, and where that is not known.
  std::optional<int64_t> CountSequences() const;
  /// Of all sequences, where they have the same number of steps and it is known how many there are.
  std::optional<int64_t> CountSteps() const;

 private:
  explicit FeedStream(Logger& logger) : logger_(logger) {}

  struct Prepared {
    Result<TensorMap> feed;
    HeldLog log;
  };

  Status OpenScript(const RunPlan& plan, std::span<const TensorInfo> inputs, ScriptFeeds& script);
  Status OpenLoaded(const RunPlan& plan, std::span<const TensorInfo> inputs);
  Result<std::optional<TensorMap>> Given();
  Result<std::optional<TensorMap>> GivenByScript();
  Result<std::optional<TensorMap>> NextWhole();
  void KeepFile();
  std::string FileOf(int64_t place) const;
  void Make(int64_t place);
  int64_t CountDrawn() const { return shard_.CountOf(random_->count()); }

  Logger& logger_;
  std::unique_ptr<StepSequence> steps_;
  bool may_be_empty_ = false;
  std::unique_ptr<FeedReader> reader_;  // of loaded feeds this
  std::unique_ptr<ImageFeeds> images_;  // or this
  std::string announced_path_;
  std::deque<std::pair<int64_t, std::string>>
      files_;  // of several: the first place of the last ones
  std::optional<RandomFeeds> random_;
  ScriptFeeds* script_ = nullptr;
  bool passes_over_ = false;
  std::vector<TensorInfo> inputs_;        // for the script
  std::vector<std::string> input_names_;  // for loaded feeds without names
  ShardPlan shard_;
  std::optional<int64_t> total_;  // of random feeds, and of a shard's that are known beforehand
  int64_t loaded_ = 0;            // feeds that the reader has read or passed
  int64_t next_ = 0;
  bool drawn_elsewhere_ = false;
  size_t last_size_ = 0;  // of the last random feed, in bytes
  std::deque<Prepared> prepared_;
};

}  // namespace vernier
