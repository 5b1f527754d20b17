#include "run/saved/feed_hasher.h"

#include <utility>

#include "io/bytes/checksum.h"

namespace vernier {

void FeedHasher::Take(const TensorMap& feed) {
  size_t bytes = 0;
  for (const NamedTensor& input : feed) bytes += input.tensor.bytes().size();
  hashing_ = {};
  if (bytes < kWorthThread) {
    hash_ = MarkFeed(feed);
    return;
  }
  // If no thread is available, FeedHash() does this synchronously.
  hashing_ = std::async([feed]() mutable {
    const TensorMap hashed = std::move(feed);  // let go here, not where it is waited for
    return MarkFeed(hashed);
  });
}

uint64_t FeedHasher::FeedHash() {
  if (hashing_.valid()) hash_ = hashing_.get();
  return hash_;
}

}  // namespace vernier
