#include "run/feeds/script_feeds.h"

#include <filesystem>
#include <system_error>

namespace vernier {

Result<std::unique_ptr<ScriptFeeds>> ScriptFeeds::Create(std::unique_ptr<ScriptClient> script,
                                                         FeedReuse reuse) {
  std::unique_ptr<ScriptFeeds> feeds(new ScriptFeeds(std::move(script)));
  if (reuse == FeedReuse::kOnce) return feeds;
  std::error_code error;
  const std::string folder = std::filesystem::temp_directory_path(error).string();
  Result<TensorSpill> kept = TensorSpill::Create(error ? "/tmp" : folder);
  if (!kept.ok()) {
    return IoError("a temporary file for feeds cannot be made: " + kept.status().message() +
                   " (set TMPDIR)");
  }
  feeds->kept_.emplace(*std::move(kept));
  return feeds;
}

Result<std::optional<int64_t>> ScriptFeeds::CountAhead(std::span<const TensorInfo> inputs) {
  if (length_ || made_ > 0 || ended_) return length_;
  VERNIER_ASSIGN_OR_RETURN(length_, script_->CountFeeds(inputs));
  return length_;
}

Status ScriptFeeds::CheckCount(std::span<const TensorInfo> inputs) {
  if (!length_) return {};
  VERNIER_ASSIGN_OR_RETURN(const std::optional<int64_t> now, script_->CountFeeds(inputs));
  if (now == length_) return {};
  return Malformed("--shard: the data set of the data loader script had " +
                   std::to_string(*length_) + " feeds when the shard began, and has " +
                   std::to_string(now.value_or(0)) + " now: shards are divided by that number; " +
                   "run this shard again");
}

Result<TensorMap> ScriptFeeds::ReadByIndex(int64_t index) {
  if (const auto known = places_.find(index); known != places_.end()) {
    return kept_->Read(known->second);
  }
  VERNIER_ASSIGN_OR_RETURN(TensorMap feed, script_->FeedAt(index));
  if (kept_) {
    VERNIER_TRY(kept_->Append(feed));
    places_.emplace(index, places_.size());
  }
  return feed;
}

Result<std::optional<TensorMap>> ScriptFeeds::Read(int64_t index,
                                                   std::span<const TensorInfo> inputs) {
  if (length_) {
    if (index >= *length_) return std::optional<TensorMap>();
    VERNIER_ASSIGN_OR_RETURN(TensorMap feed, ReadByIndex(index));
    return std::optional<TensorMap>(std::move(feed));
  }
  if (index < made_) {
    if (!kept_) return Internal("a feed is read again that was not kept");
    VERNIER_ASSIGN_OR_RETURN(TensorMap feed, kept_->Read(static_cast<size_t>(index)));
    return std::optional<TensorMap>(std::move(feed));
  }
  std::optional<TensorMap> feed;
  while (!ended_ && made_ <= index) {
    VERNIER_ASSIGN_OR_RETURN(
        feed, script_->NextFeed(made_ == 0 ? inputs : std::span<const TensorInfo>()));
    ended_ = !feed;
    if (!feed) break;
    if (kept_) VERNIER_TRY(kept_->Append(*feed));
    ++made_;
  }
  return feed;
}

}  // namespace vernier
