// Feeds as they are sent to workers: encoded once for all runners that take them unchanged.
#pragma once

#include <cstdint>
#include <optional>

#include "backend/wire/lent_memory.h"
#include "backend/wire/tensor_block.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// Did coercion pass the tensors on unchanged? Their encoded block can then be used again.
bool SameTensors(const TensorMap& a, const TensorMap& b);

/// Has the block of one feed, and that of the next where it was sent ahead.
class FeedBlocks {
 public:
  /// The block of an iteration's feed; null where there is none.
  const TensorBlock* Find(int64_t iteration) const;

  /// Encodes a feed in the place of the one before. With `lends` in memory that is used again once
  /// the feed is forgotten: then no worker may keep what it was sent. Errors as EncodeTensors.
  Result<const TensorBlock*> Encode(const TensorMap& feed, int64_t iteration, bool lends);

  /// The same of the feed after that, in memory that is lent, beside the present one. When that is
  /// forgotten, it becomes the present one. Null where it cannot be encoded.
  const TensorBlock* EncodeAhead(const TensorMap& feed, int64_t iteration);

  /// The present feed is no longer needed. All workers that received it must have answered.
  void Forget();

 private:
  struct FeedBlock {
    int64_t iteration;
    TensorBlock block;
  };
  LentMemory lent_;
  std::optional<FeedBlock> now_;
  std::optional<FeedBlock> next_;
};

}  // namespace vernier
