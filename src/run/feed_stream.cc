#include "run/feed_stream.h"

namespace vernier {

Result<std::unique_ptr<FeedStream>> FeedStream::Open(const RunPlan& plan,
                                                     std::span<const TensorInfo> inputs,
                                                     Logger& logger) {
  std::unique_ptr<FeedStream> stream(new FeedStream(logger));
  if (!plan.inputs.load_paths.empty()) {
    VERNIER_ASSIGN_OR_RETURN(stream->reader_, FeedReader::Open(plan.inputs.load_paths));
    return stream;
  }
  const Strictness strictness = plan.lenient ? Strictness::kPeer : Strictness::kStrict;
  RandomFeedOptions options;
  options.seed = plan.inputs.seed;
  options.iterations = plan.inputs.iterations.value_or(1);
  options.strictness = strictness;
  VERNIER_ASSIGN_OR_RETURN(options.ranges, ParseValueRanges(plan.inputs.range_words));
  VERNIER_ASSIGN_OR_RETURN(options.shapes, ParseShapeSpecs(plan.inputs.shape_words, strictness));
  VERNIER_ASSIGN_OR_RETURN(
      RandomFeeds feeds,
      RandomFeeds::Create(std::move(options), {inputs.begin(), inputs.end()}, logger));
  stream->random_.emplace(std::move(feeds));
  return stream;
}

Result<std::optional<TensorMap>> FeedStream::Next() {
  if (reader_ != nullptr) return reader_->Next();
  if (next_ >= random_->count()) return std::optional<TensorMap>();
  VERNIER_ASSIGN_OR_RETURN(TensorMap feed, random_->Make(next_++, logger_));
  return std::optional<TensorMap>(std::move(feed));
}

std::optional<int64_t> FeedStream::expected() const {
  return random_ ? std::optional(random_->count()) : std::nullopt;
}

}  // namespace vernier
