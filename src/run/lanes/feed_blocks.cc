#include "run/lanes/feed_blocks.h"

#include <algorithm>
#include <utility>

namespace vernier {

bool SameTensors(const TensorMap& a, const TensorMap& b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](const NamedTensor& x, const NamedTensor& y) {
           return x.name == y.name && x.tensor.bytes().data() == y.tensor.bytes().data() &&
                  x.tensor.dtype() == y.tensor.dtype() && x.tensor.dims() == y.tensor.dims();
         });
}

const TensorBlock* FeedBlocks::Find(int64_t iteration) const {
  return now_ && now_->iteration == iteration ? &now_->block : nullptr;
}

Result<const TensorBlock*> FeedBlocks::Encode(const TensorMap& feed, int64_t iteration,
                                              bool lends) {
  Forget();
  VERNIER_ASSIGN_OR_RETURN(TensorBlock block, EncodeTensors(feed, lends ? &lent_ : nullptr));
  now_ = FeedBlock{iteration, std::move(block)};
  return &now_->block;
}

const TensorBlock* FeedBlocks::EncodeAhead(const TensorMap& feed, int64_t iteration) {
  Result<TensorBlock> block = EncodeTensors(feed, &lent_);
  if (!block.ok()) return nullptr;
  next_ = FeedBlock{iteration, *std::move(block)};
  return &next_->block;
}

void FeedBlocks::Forget() {
  if (now_ && now_->block.lent != 0) lent_.TakeBack(now_->block.lent);
  now_ = std::exchange(next_, std::nullopt);
}

}  // namespace vernier
