#include "inputs/numpy_random.h"

#include <gtest/gtest.h>

#include <vector>

namespace vernier {
namespace {

// Every expected number was printed by NumPy 2.4.6.

template <typename T>
std::vector<T> Integers(uint32_t seed, T low, T high, size_t count = 6) {
  std::vector<T> out(count);
  NumpyRandom(seed).FillIntegers<T>(low, high, out);
  return out;
}

TEST(NumpyRandom, DrawsNumpysDoubles) {
  std::vector<double> out(3);
  NumpyRandom(1).FillDoubles(out);
  EXPECT_EQ(out, (std::vector{0x1.ab07d0ffa3c06p-2, 0x1.70ce5f3baf051p-1, 0x1.dfb906661cp-14}));
}

TEST(NumpyRandom, TakesTheLargestSeed) {
  std::vector<double> out(2);
  NumpyRandom(4294967295u).FillDoubles(out);
  EXPECT_EQ(out, (std::vector{0x1.8fe69a392482p-4, 0x1.d323d824032b1p-1}));
}

TEST(NumpyRandom, DrawsNumpysNarrowIntegers) {
  EXPECT_EQ(Integers<int8_t>(7, -128, 127), (std::vector<int8_t>{47, 112, 8, -109, 68, 100}));
  EXPECT_EQ(Integers<uint8_t>(7, 0, 200), (std::vector<uint8_t>{175, 136, 19, 196, 50, 58}));
  EXPECT_EQ(Integers<int16_t>(7, -300, 300),
            (std::vector<int16_t>{-125, -104, 262, 237, 202, 124}));
  EXPECT_EQ(Integers<uint16_t>(7, 0, 65535),
            (std::vector<uint16_t>{61615, 5000, 58564, 14898, 49689, 51112}));
}

TEST(NumpyRandom, DrawsNumpysWideIntegers) {
  EXPECT_EQ(Integers<int32_t>(7, INT32_MIN, INT32_MAX),
            (std::vector<int32_t>{-1819742033, -1171069756, 1202242073, -777508362, -264530365,
                                  2053951699}));
  EXPECT_EQ(Integers<uint32_t>(7, 5, 1000000),
            (std::vector<uint32_t>{585908, 189641, 573982, 535035, 759368, 839896}));
  EXPECT_EQ(Integers<int64_t>(7, INT64_MIN, INT64_MAX, 2),
            (std::vector<int64_t>{-7815732517915138876, 5163590386780219894}));
  EXPECT_EQ(Integers<uint64_t>(7, 0, uint64_t{1} << 40, 3),
            (std::vector<uint64_t>{752595690692, 108744157686, 291964244179}));
  EXPECT_EQ(Integers<int64_t>(7, 0, 1), (std::vector<int64_t>{1, 0, 1, 0, 1, 1}));
}

TEST(NumpyRandom, DrawsNumpysBools) {
  std::vector<uint8_t> out(40);
  NumpyRandom(7).FillBools(false, true, out);
  EXPECT_EQ(out,
            (std::vector<uint8_t>{1, 1, 1, 1, 0, 1, 0, 1, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 1,
                                  0, 0, 0, 1, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 1}));
}

TEST(NumpyRandom, DropsTheRestOfAWordAtTheEndOfAFill) {
  NumpyRandom random(3);
  std::vector<uint8_t> bytes(3);
  random.FillIntegers<uint8_t>(0, 255, bytes);
  EXPECT_EQ(bytes, (std::vector<uint8_t>{106, 23, 1}));
  std::vector<double> next(1);
  random.FillDoubles(next);
  EXPECT_EQ(next[0], 0x1.21b0696a92598p-4);
}

TEST(NumpyRandom, DrawsNothingForARangeOfOne) {
  NumpyRandom random(1);
  std::vector<int32_t> constant(5);
  random.FillIntegers<int32_t>(-4, -4, constant);
  EXPECT_EQ(constant, std::vector<int32_t>(5, -4));
  std::vector<double> next(1);
  random.FillDoubles(next);
  EXPECT_EQ(next[0], 0x1.ab07d0ffa3c06p-2);
}

}  // namespace
}  // namespace vernier
