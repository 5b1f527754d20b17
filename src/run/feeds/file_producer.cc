#include <algorithm>
#include <deque>
#include <iterator>
#include <utility>

#include "io/results/feed_reader.h"
#include "run/feeds/feed_plan.h"
#include "run/feeds/feed_producer.h"
#include "run/feeds/shard_names.h"
#include "vernier/run_plan.h"

namespace vernier {
namespace {

class FileProducer : public FeedProducer {
 public:
  FileProducer(const ShardPlan& shard, std::optional<int64_t> total,
               std::unique_ptr<FeedReader> reader, std::vector<std::string> input_names,
               Logger& logger)
      : FeedProducer(shard, total),
        reader_(std::move(reader)),
        input_names_(std::move(input_names)),
        logger_(logger) {}

  std::optional<int64_t> Count() const override { return reader_->Total(); }
  bool CountedBeforehand() const override { return reader_->KnowsTotal(); }
  bool HasMore() const override { return reader_->HasMore(); }
  std::string WhyNone() const override { return "the files of loaded inputs hold no feed"; }

  std::optional<int64_t> CountAll() override {
    const Result<int64_t> counted = reader_->CountAll();
    return counted.ok() ? std::optional(*counted) : std::nullopt;
  }

  std::string FileOf(int64_t place) const override {
    const auto behind =
        std::ranges::upper_bound(files_, place, {}, [](const auto& known) { return known.first; });
    return behind == files_.begin() ? "" : std::prev(behind)->second;
  }

  Result<std::optional<TensorMap>> Next() override {
    if (shard_.wanted()) {
      if (next_ >= shard_.CountOf(*total_)) return std::optional<TensorMap>();
      VERNIER_TRY(reader_->Skip(IndexOf(next_) - loaded_));
      loaded_ = IndexOf(next_) + 1;
    }
    VERNIER_ASSIGN_OR_RETURN(std::optional<TensorMap> feed, reader_->Next());
    if (!feed) return feed;
    KeepFile();
    if (reader_->current_path() != announced_path_) {
      announced_path_ = reader_->current_path();
      logger_.Info("Loading input data from " + announced_path_);
    }
    if (reader_->positional()) {
      const std::string remark = NameByPosition(input_names_, *feed);
      if (!remark.empty()) logger_.Once(Severity::kWarning, "--load-inputs: " + remark);
    }
    ++next_;
    return feed;
  }

 private:
  void KeepFile() {
    constexpr size_t kMostFiles = 4096;  // more than are read ahead
    if (reader_->KnowsTotal()) return;
    if (!files_.empty() && files_.back().second == reader_->current_path()) return;
    files_.emplace_back(next_, reader_->current_path());
    if (files_.size() > kMostFiles) files_.pop_front();
  }

  const std::unique_ptr<FeedReader> reader_;
  const std::vector<std::string> input_names_;  // for feeds without names
  Logger& logger_;
  std::string announced_path_;
  // Of several files: the first place of the last ones.
  std::deque<std::pair<int64_t, std::string>> files_;
  int64_t loaded_ = 0;  // feeds that the reader has read or passed
  int64_t next_ = 0;
};

}  // namespace

Result<std::unique_ptr<FeedProducer>> MakeFileProducer(const RunPlan& plan,
                                                       std::span<const TensorInfo> inputs,
                                                       Logger& logger) {
  std::vector<std::string> names;
  for (const TensorInfo& input : inputs) names.push_back(input.name);
  if (!plan.lenient) VERNIER_TRY(CheckListedShards(plan.inputs.load_paths));
  VERNIER_ASSIGN_OR_RETURN(auto reader, FeedReader::Open(plan.inputs.load_paths));
  std::optional<int64_t> total;
  if (plan.shard.wanted()) {
    VERNIER_ASSIGN_OR_RETURN(total, reader->CountAll());
  }
  return std::unique_ptr<FeedProducer>(std::make_unique<FileProducer>(
      plan.ShardOfFeeds(), total, std::move(reader), std::move(names), logger));
}

}  // namespace vernier
