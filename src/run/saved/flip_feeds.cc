#include "run/saved/flip_feeds.h"

#include <algorithm>
#include <memory>

#include "io/results/feed_writer.h"

namespace vernier {

void FlipFeeds::Keep(int64_t iteration, const TensorMap& feed, std::span<const int64_t> worst) {
  std::erase_if(feeds_, [&](const auto& kept) {
    return std::ranges::find(worst, kept.first) == worst.end();
  });
  if (std::ranges::find(worst, iteration) != worst.end()) feeds_[iteration] = feed;
}

Status FlipFeeds::Save(const std::string& path) const {
  VERNIER_ASSIGN_OR_RETURN(const std::unique_ptr<FeedWriter> writer, FeedWriter::Create(path));
  for (const auto& [iteration, feed] : feeds_) VERNIER_TRY(writer->Append(feed));
  return writer->FinishOrDiscard();
}

}  // namespace vernier
