#include <utility>

#include "run/feeds/feed_producer.h"
#include "util/values/plural_text.h"
#include "vernier/run_plan.h"

namespace vernier {
namespace {

// How a script's feeds are divided between shards.
struct Division {
  std::optional<int64_t> total = {};  // of the undivided run
  bool passes_over = false;           // every shard makes the feeds of all
};

class ScriptProducer : public FeedProducer {
 public:
  ScriptProducer(const ShardPlan& shard, Division division, ScriptFeeds& script,
                 std::vector<TensorInfo> inputs)
      : FeedProducer(shard, division.total),
        passes_over_(division.passes_over),
        script_(script),
        inputs_(std::move(inputs)) {}

  std::optional<int64_t> total() const override { return total_ ? total_ : script_.count(); }
  std::optional<int64_t> Count() const override { return std::nullopt; }
  bool CountedBeforehand() const override { return false; }
  bool passes_over() const override { return passes_over_; }
  std::string WhyNone() const override { return "the data loader gave no feed"; }

  std::string DescribeShortfall() const override {
    const std::optional<int64_t> promised = script_.promised();
    if (!promised) return "";
    return "what the data loader script returned has the length " + std::to_string(*promised) +
           ", and gave " + Counted(static_cast<uint64_t>(script_.count().value_or(0)), "feed");
  }

  // Of feeds that are passed over --iterations says how many there are, and the last shard whether
  // that is true.
  Result<std::optional<TensorMap>> Next() override {
    const int64_t place = next_++;
    const bool ends = total_ && place >= shard_.CountOf(*total_);
    if (ends && !passes_over_) VERNIER_TRY(script_.CheckCount(inputs_));
    if (ends && (!passes_over_ || shard_.number < shard_.count)) return std::optional<TensorMap>();
    VERNIER_ASSIGN_OR_RETURN(std::optional<TensorMap> feed,
                             script_.Read(ends ? *total_ : IndexOf(place), inputs_));
    if (const std::string less = feed ? "" : DescribeShortfall();
        shard_.wanted() && !less.empty()) {
      return Malformed("--shard: " + less + ": shards are divided by the number of feeds");
    }
    if (!total_ || feed.has_value() != ends)
      return ends ? std::optional<TensorMap>() : std::move(feed);
    const int64_t made = script_.count().value_or(*total_ + 1);
    return Malformed("--iterations " + std::to_string(*total_) + ": the data loader script gives " +
                     (ends ? "more feeds" : "only " + std::to_string(made)) +
                     ", and shards are divided by that number: give the right one");
  }

 private:
  const bool passes_over_;
  ScriptFeeds& script_;
  const std::vector<TensorInfo> inputs_;
  int64_t next_ = 0;
};

// Of a shard only its own feeds are made, where each can be asked for.
Result<Division> Divide(const RunPlan& plan, const std::vector<TensorInfo>& inputs,
                        ScriptFeeds& script, Logger& logger) {
  if (!plan.shard.wanted()) return Division();
  VERNIER_ASSIGN_OR_RETURN(const std::optional<int64_t> ahead, script.CountAhead(inputs));
  if (ahead) return Division{ahead, false};
  if (!plan.inputs.iterations && plan.shard.rule == ShardRule::kContiguous) {
    return InvalidArgument(
        "--shard: the data loader script returns nothing that has feeds by index (a list, or an "
        "object with __len__ and __getitem__ and no __iter__), so their number is not known: give "
        "it with --iterations, or --shard-by stride (every shard then goes through feeds of the "
        "others)");
  }
  logger.Once(Severity::kWarning,
              "--shard: the data loader script generates the feeds of all shards in every shard,"
              " and those of other shards are skipped: an object with __len__ and __getitem__"
              " would generate only its own");
  return Division{plan.inputs.iterations, true};
}

}  // namespace

Result<std::unique_ptr<FeedProducer>> MakeScriptProducer(const RunPlan& plan,
                                                         std::span<const TensorInfo> inputs,
                                                         ScriptFeeds& script, Logger& logger) {
  std::vector<TensorInfo> of_script(inputs.begin(), inputs.end());
  VERNIER_ASSIGN_OR_RETURN(const Division division, Divide(plan, of_script, script, logger));
  return std::unique_ptr<FeedProducer>(std::make_unique<ScriptProducer>(
      plan.ShardOfFeeds(), division, script, std::move(of_script)));
}

}  // namespace vernier
