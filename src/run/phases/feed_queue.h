// Feeds that are read before their turn, for runners that infer several iterations at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "run/feeds/feed_stream.h"
#include "run/live/live_inference.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

class FeedQueue {
 public:
  /// Keeps up to `ahead` feeds beside the one that is in use, and has them inferred before their
  /// turn (LiveInference::SendAhead): so many only where results are waited for, and one where
  /// results wait for feeds. With 0 it does nothing of its own. Both must outlive it.
  FeedQueue(FeedStream& feeds, LiveInference& inference, size_t ahead)
      : feeds_(feeds), inference_(inference), ahead_(ahead) {}

  /// As FeedStream::Next: an error comes in its turn. Where feeds are sent ahead, each has the
  /// errors of CheckOutputRoom() as well.
  Result<std::optional<TensorMap>> Next();

  /// Reads no more feeds. Whether Next() still gives one whose results are there, or why there was
  /// none.
  bool Finishes();

 private:
  FeedStream& feeds_;
  LiveInference& inference_;
  const size_t ahead_;
  std::deque<Result<std::optional<TensorMap>>> waiting_;
  int64_t read_ = 0;
  int64_t given_ = 0;
  uint64_t counted_ = 0;  // bytes of outputs, see CheckOutputRoom
  bool ended_ = false;
};

}  // namespace vernier
