// Where the feeds of a run come from, whatever they are made of.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "run/feeds/image_feeds.h"
#include "run/feeds/script_feeds.h"
#include "util/log/log.h"
#include "vernier/shard_plan.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

class FeedDrawer;
struct RunPlan;

/// What of a feed is made in Python; null where nothing is.
struct PythonFeeds {
  ScriptFeeds* script = nullptr;  ///< where the plan's data loader script is open
  FeedDrawer* drawer = nullptr;   ///< of random numbers
};

/// Feeds one after another, each whole: of a shard only its own. The number of a feed among those
/// that Next() gives is its place; among all of the run, its index.
class FeedProducer {
 public:
  virtual ~FeedProducer() = default;
  FeedProducer(const FeedProducer&) = delete;
  FeedProducer& operator=(const FeedProducer&) = delete;

  /// The next feed; nullopt at the end.
  virtual Result<std::optional<TensorMap>> Next() = 0;

  /// Why a run has nothing to do if there is no feed at all; empty where that is no error.
  virtual std::string WhyNone() const = 0;

  /// Of images, whose skipped ones count, only for those that Next() gave.
  virtual int64_t IndexOf(int64_t place) const { return shard_.IndexOf(place, total_.value_or(0)); }

  /// How many feeds the undivided run has, as far as it is known and matters.
  virtual std::optional<int64_t> total() const { return total_; }

  /// How many feeds there are without the shard, images that were skipped left out; nullopt as long
  /// as that is not known.
  virtual std::optional<int64_t> Count() const = 0;

  /// The same of this shard, or of the undivided run.
  virtual std::optional<int64_t> CountOwn() const {
    return shard_.wanted() && total_ ? shard_.CountOf(*total_) : Count();
  }

  /// Does Count() not depend on how many feeds were read?
  virtual bool CountedBeforehand() const { return true; }

  /// Count(), for which files that were not opened yet are read.
  virtual std::optional<int64_t> CountAll() { return Count(); }

  /// Whether there are feeds that Next() has not given, as far as that shows without reading them.
  virtual bool HasMore() const { return false; }

  /// The file of a feed, where several were loaded; empty otherwise.
  virtual std::string FileOf(int64_t) const { return ""; }

  /// See FeedStream.
  virtual const TensorMap* Prepare() { return nullptr; }
  virtual void PrepareOneMore() {}
  virtual std::string DescribeShortfall() const { return ""; }
  virtual bool passes_over() const { return false; }
  virtual ImageFeeds* images() { return nullptr; }

 protected:
  explicit FeedProducer(const ShardPlan& shard, std::optional<int64_t> total = std::nullopt)
      : shard_(shard), total_(total) {}

  const ShardPlan shard_;
  const std::optional<int64_t> total_;  ///< feeds of the undivided run
};

/// Random numbers, for the inputs of the first runner.
Result<std::unique_ptr<FeedProducer>> MakeRandomProducer(const RunPlan& plan,
                                                         std::span<const TensorInfo> inputs,
                                                         FeedDrawer* drawer, Logger& logger);
/// Files of --load-inputs. kMalformed, kIo, and kInvalidArgument for a list of parts of shards.
Result<std::unique_ptr<FeedProducer>> MakeFileProducer(const RunPlan& plan,
                                                       std::span<const TensorInfo> inputs,
                                                       Logger& logger);
/// Images among them, which FindImages has found.
Result<std::unique_ptr<FeedProducer>> MakeImageProducer(const RunPlan& plan,
                                                        std::vector<std::string> files,
                                                        std::span<const TensorInfo> inputs,
                                                        Logger& logger);
/// What the data loader script gives. kInvalidArgument for shards whose number of feeds it does not
/// say.
Result<std::unique_ptr<FeedProducer>> MakeScriptProducer(const RunPlan& plan,
                                                         std::span<const TensorInfo> inputs,
                                                         ScriptFeeds& script, Logger& logger);

}  // namespace vernier
