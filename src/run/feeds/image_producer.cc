#include <iterator>
#include <utility>

#include "run/feeds/feed_producer.h"
#include "vernier/run_plan.h"

namespace vernier {
namespace {

class ImageProducer : public FeedProducer {
 public:
  ImageProducer(const ShardPlan& shard, std::optional<int64_t> total,
                std::unique_ptr<ImageFeeds> images, Logger& logger)
      : FeedProducer(shard, total), images_(std::move(images)), logger_(logger) {}

  Result<std::optional<TensorMap>> Next() override {
    VERNIER_ASSIGN_OR_RETURN(std::optional<TensorMap> feed, images_->Next());
    if (feed) logger_.Info("Loading input data from " + images_->names().back());
    return feed;
  }

  int64_t IndexOf(int64_t place) const override {
    return shard_.wanted() ? images_->PlaceOf(place) : FeedProducer::IndexOf(place);
  }
  std::optional<int64_t> Count() const override { return images_->Total(); }
  std::optional<int64_t> CountOwn() const override { return Count(); }
  bool HasMore() const override { return images_->HasMore(); }
  std::string WhyNone() const override { return "the files of loaded inputs hold no feed"; }
  std::string FileOf(int64_t place) const override {
    const std::vector<std::string>& names = images_->names();
    return static_cast<size_t>(place) < names.size() ? names[static_cast<size_t>(place)] : "";
  }
  ImageFeeds* images() override { return images_.get(); }

 private:
  const std::unique_ptr<ImageFeeds> images_;
  Logger& logger_;
};

}  // namespace

Result<std::unique_ptr<FeedProducer>> MakeImageProducer(const RunPlan& plan,
                                                        std::vector<std::string> files,
                                                        std::span<const TensorInfo> inputs,
                                                        Logger& logger) {
  std::optional<int64_t> total;
  if (plan.shard.wanted()) total = std::ssize(files);
  VERNIER_ASSIGN_OR_RETURN(auto images, ImageFeeds::Open(plan, std::move(files), inputs, logger));
  return std::unique_ptr<FeedProducer>(
      std::make_unique<ImageProducer>(plan.ShardOfFeeds(), total, std::move(images), logger));
}

}  // namespace vernier
