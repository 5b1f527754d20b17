#include <deque>
#include <utility>

#include "inputs/random_feeds.h"
#include "run/feeds/feed_plan.h"
#include "run/feeds/feed_producer.h"
#include "run/workers/held_log.h"
#include "vernier/run_plan.h"

namespace vernier {
namespace {

// Of a feed that is made before its turn, and may be sent then: it is there twice for a while.
constexpr size_t kMostAhead = size_t{8} << 20;
constexpr size_t kMostTwice = size_t{2} << 20;

size_t SizeOf(const TensorMap& feed) {
  size_t size = 0;
  for (const NamedTensor& input : feed) size += input.tensor.bytes().size();
  return size;
}

class RandomProducer : public FeedProducer {
 public:
  RandomProducer(const ShardPlan& shard, RandomFeeds feeds, bool drawn_elsewhere, Logger& logger)
      : FeedProducer(shard, feeds.count()),
        feeds_(std::move(feeds)),
        drawn_elsewhere_(drawn_elsewhere),
        logger_(logger) {}

  std::optional<int64_t> Count() const override { return feeds_.count(); }
  std::string WhyNone() const override { return ""; }

  Result<std::optional<TensorMap>> Next() override {
    if (next_ >= CountDrawn()) return std::optional<TensorMap>();
    if (prepared_.empty()) {
      VERNIER_ASSIGN_OR_RETURN(TensorMap feed, feeds_.Make(IndexOf(next_++), logger_));
      last_size_ = SizeOf(feed);
      return std::optional<TensorMap>(std::move(feed));
    }
    Prepared prepared = std::move(prepared_.front());
    prepared_.pop_front();
    prepared.log.WriteTo(logger_);
    VERNIER_ASSIGN_OR_RETURN(TensorMap feed, std::move(prepared.feed));
    ++next_;
    return std::optional<TensorMap>(std::move(feed));
  }

  const TensorMap* Prepare() override {
    if (prepared_.empty()) {
      const bool wanted =
          !drawn_elsewhere_ && next_ > 0 && next_ < CountDrawn() && last_size_ <= kMostAhead;
      if (!wanted) return nullptr;
      Make(next_);
    }
    return prepared_.front().feed.ok() ? &*prepared_.front().feed : nullptr;
  }

  void PrepareOneMore() override {
    const bool wanted =
        prepared_.size() == 1 && next_ + 1 < CountDrawn() && last_size_ <= kMostTwice;
    if (wanted) Make(next_ + 1);
  }

 private:
  struct Prepared {
    Result<TensorMap> feed;
    HeldLog log;
  };

  int64_t CountDrawn() const { return shard_.CountOf(feeds_.count()); }

  void Make(int64_t place) {
    HeldLog log;
    Result<TensorMap> feed = feeds_.Make(IndexOf(place), log);
    if (feed.ok()) last_size_ = SizeOf(*feed);
    prepared_.push_back({std::move(feed), std::move(log)});
  }

  RandomFeeds feeds_;
  const bool drawn_elsewhere_;
  Logger& logger_;
  int64_t next_ = 0;
  size_t last_size_ = 0;  // of the last feed, in bytes
  std::deque<Prepared> prepared_;
};

}  // namespace

Result<std::unique_ptr<FeedProducer>> MakeRandomProducer(const RunPlan& plan,
                                                         std::span<const TensorInfo> inputs,
                                                         FeedDrawer* drawer, Logger& logger) {
  const Strictness strictness = plan.lenient ? Strictness::kPolygraphy : Strictness::kStrict;
  RandomFeedOptions options;
  options.seed = plan.inputs.seed;
  options.iterations = plan.inputs.iterations.value_or(1);
  options.strictness = strictness;
  options.drawer = drawer;
  VERNIER_ASSIGN_OR_RETURN(options.ranges, ParseValueRanges(plan.inputs.range_words));
  VERNIER_ASSIGN_OR_RETURN(options.shapes, ParseShapeSpecs(plan.inputs.shape_words, strictness));
  VERNIER_TRY(AddFeedSources(plan, inputs, options, logger));
  VERNIER_ASSIGN_OR_RETURN(RandomFeeds feeds,
                           RandomFeeds::Create(std::move(options), {inputs.begin(), inputs.end()}));
  return std::unique_ptr<FeedProducer>(std::make_unique<RandomProducer>(
      plan.ShardOfFeeds(), std::move(feeds), drawer != nullptr, logger));
}

}  // namespace vernier
