#include "gpu/rank_walk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace vernier::gpu {
namespace {

// What the kernels count.
std::vector<uint64_t> CountDigit(const std::vector<uint64_t>& keys, Digit digit,
                                 const std::vector<uint64_t>& prefixes) {
  std::vector<uint64_t> counts(prefixes.size() << digit.bits);
  for (const uint64_t key : keys) {
    const uint64_t above = digit.shift + digit.bits == 64 ? 0 : key >> (digit.shift + digit.bits);
    const uint64_t value = (key >> digit.shift) & ((uint64_t{1} << digit.bits) - 1);
    for (size_t i = 0; i < prefixes.size(); ++i) {
      if (prefixes[i] == above) ++counts[(i << digit.bits) + value];
    }
  }
  return counts;
}

class RankWalkOfBits : public testing::TestWithParam<unsigned> {};

TEST_P(RankWalkOfBits, FindsWhatSortingFinds) {
  const unsigned bits = GetParam();
  std::mt19937_64 random(bits);
  std::vector<uint64_t> keys(3000);
  for (uint64_t& key : keys) {
    // Many duplicates, many near neighbours, some from everywhere.
    key = random() % 3 == 0 ? random() : (uint64_t{5} << (bits - 4)) + random() % 100;
    if (bits < 64) key &= (uint64_t{1} << bits) - 1;
  }
  const std::vector<int64_t> ranks = {0, 1499, 1500, 2999, 1500, 2700, 17};
  RankWalk walk(ranks);
  for (const Digit digit : DigitsOf(bits)) {
    walk.Descend(digit, CountDigit(keys, digit, walk.Prefixes()));
  }
  std::sort(keys.begin(), keys.end());
  for (const int64_t rank : ranks) {
    EXPECT_EQ(walk.KeyOf(rank), keys[static_cast<size_t>(rank)]) << "rank " << rank;
  }
}

TEST_P(RankWalkOfBits, FinishesFromTheKeysThatAreLeft) {
  const unsigned bits = GetParam();
  std::mt19937_64 random(bits);
  std::vector<uint64_t> keys(2000);
  for (uint64_t& key : keys) key = (uint64_t{9} << (bits - 5)) + random() % 1000;
  RankWalk walk({3, 1000, 1001});
  const Digit first = DigitsOf(bits).front();
  walk.Descend(first, CountDigit(keys, first, walk.Prefixes()));
  ASSERT_EQ(walk.candidates(), 2000u);
  walk.Finish(keys, first.shift);
  std::sort(keys.begin(), keys.end());
  for (const int64_t rank : {3, 1000, 1001}) {
    EXPECT_EQ(walk.KeyOf(rank), keys[static_cast<size_t>(rank)]);
  }
}

INSTANTIATE_TEST_SUITE_P(Keys, RankWalkOfBits, testing::Values(31u, 32u, 63u, 64u),
                         testing::PrintToStringParamName());

TEST(Digits, CoverEveryBitOnceAndFitTheCounters) {
  for (const unsigned bits : {31u, 32u, 63u, 64u}) {
    unsigned below = bits;
    for (const Digit digit : DigitsOf(bits)) {
      EXPECT_EQ(digit.shift + digit.bits, below);
      EXPECT_LE(digit.bits, below == bits ? kFirstDigitBits : kDigitBits);
      below = digit.shift;
    }
    EXPECT_EQ(below, 0u);
  }
}

TEST(RankWalk, WithoutRanksNothingIsCounted) { EXPECT_TRUE(RankWalk({}).Prefixes().empty()); }

}  // namespace
}  // namespace vernier::gpu
