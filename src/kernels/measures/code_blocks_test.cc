#include "kernels/measures/code_blocks.h"

#include <gtest/gtest.h>

#include <vector>

namespace vernier {
namespace {

// A counter of 32 bits would wrap after 2^32 pairs of one kind.
TEST(CodeCounts, AreRightBeyondWhatOneTableHolds) {
  CodeCounts counts(/*most=*/10);
  const std::vector<uint8_t> a = {1, 1, 1, 2, 255}, b = {1, 1, 1, 3, 0};
  for (int i = 0; i < 7; ++i) counts.Add(a.data(), b.data(), a.size());
  EXPECT_EQ(counts.CountOf(PairOf(1, 1)), 21);
  EXPECT_EQ(counts.CountOf(PairOf(2, 3)), 7);
  EXPECT_EQ(counts.CountOf(PairOf(255, 0)), 7);
  EXPECT_EQ(counts.CountOf(PairOf(3, 2)), 0);
  const size_t group = PairOf(1, 1) / kPairGroup * kPairGroup;
  EXPECT_TRUE(counts.AnyIn(group));
}

TEST(CodeCounts, PairsThatDoNotOccurAreNotLookedAt) {
  CodeCounts counts;
  const uint8_t one = 1;
  counts.Add(&one, &one, 1);
  EXPECT_TRUE(counts.AnyIn(PairOf(1, 1) / kPairGroup * kPairGroup));
  EXPECT_FALSE(counts.AnyIn(PairOf(9, 9) / kPairGroup * kPairGroup));
}

}  // namespace
}  // namespace vernier
