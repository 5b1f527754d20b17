#include "run/lanes/feed_blocks.h"

#include <gtest/gtest.h>

#include <span>
#include <vector>

namespace vernier {
namespace {

// Smaller ones go with the message.
constexpr int64_t kBlockElements = 16 * 1024;

TensorMap BlockFeed(float value) {
  const std::vector<float> values(kBlockElements, value);
  return {
      {"x", *Tensor::Copy(DType::kFloat32, {kBlockElements}, std::as_bytes(std::span(values)))}};
}

TEST(FeedBlocks, ABlockIsFoundByItsIteration) {
  FeedBlocks blocks;
  EXPECT_EQ(blocks.Find(0), nullptr);
  const Result<const TensorBlock*> made = blocks.Encode(BlockFeed(1), 0, true);
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(blocks.Find(0), *made);
  EXPECT_EQ(blocks.Find(1), nullptr);
}

TEST(FeedBlocks, OneThatWasSentAheadTakesThePlaceOfThePresentOne) {
  FeedBlocks blocks;
  ASSERT_TRUE(blocks.Encode(BlockFeed(1), 0, true).ok());
  ASSERT_NE(blocks.EncodeAhead(BlockFeed(2), 1), nullptr);
  EXPECT_NE(blocks.Find(0), nullptr);
  EXPECT_EQ(blocks.Find(1), nullptr);
  blocks.Forget();
  EXPECT_EQ(blocks.Find(0), nullptr);
  EXPECT_NE(blocks.Find(1), nullptr);
  blocks.Forget();
  EXPECT_EQ(blocks.Find(1), nullptr);
}

TEST(FeedBlocks, LentMemoryIsUsedAgain) {
  FeedBlocks blocks;
  const Result<const TensorBlock*> first = blocks.Encode(BlockFeed(1), 0, true);
  ASSERT_TRUE(first.ok());
  const uint64_t lent = (*first)->lent;
  ASSERT_NE(lent, 0u);
  const Result<const TensorBlock*> second = blocks.Encode(BlockFeed(2), 1, true);
  ASSERT_TRUE(second.ok());
  EXPECT_EQ((*second)->lent, lent);
  const Result<const TensorBlock*> own = blocks.Encode(BlockFeed(3), 2, false);
  ASSERT_TRUE(own.ok());
  EXPECT_EQ((*own)->lent, 0u);
}

}  // namespace
}  // namespace vernier
