#include "run/saved/flip_feeds.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "io/results/feed_writer.h"

namespace vernier {
namespace {

// What a script or a decoder made is in the memory of its worker.
Result<TensorMap> CopyFlipFeed(const TensorMap& feed) {
  TensorMap copies;
  for (const auto& [name, tensor] : feed) {
    if (tensor.dtype() == DType::kString) {  // never in shared memory
      copies.push_back({name, tensor});
      continue;
    }
    VERNIER_ASSIGN_OR_RETURN(Tensor copy,
                             Tensor::Copy(tensor.dtype(), tensor.dims(), tensor.bytes()));
    copies.push_back({name, std::move(copy)});
  }
  return copies;
}

}  // namespace

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

Result<FlipInputs> FlipFeeds::Copy(std::span<const int64_t> iterations) const {
  FlipInputs inputs;
  for (const int64_t iteration : iterations) {
    const auto kept = feeds_.find(iteration);
    if (kept == feeds_.end()) continue;
    VERNIER_ASSIGN_OR_RETURN(TensorMap copy, CopyFlipFeed(kept->second));
    inputs.iterations.push_back(iteration);
    inputs.feeds.push_back(std::move(copy));
  }
  return inputs;
}

}  // namespace vernier
