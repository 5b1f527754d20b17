#include "tensorrt/engine/tensor_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace vernier::trt {
namespace {

using testing::ElementsAre;

constexpr int32_t kChw2 = 1, kHwc8 = 2, kHwc = 8, kCdhw32 = 7, kLinear = 0, kDlaHwc4 = 10;

std::vector<uint8_t> LaidOut(int32_t format, const std::vector<int64_t>& shape, size_t count) {
  std::vector<uint8_t> linear(count);
  std::iota(linear.begin(), linear.end(), uint8_t{1});
  const TensorLayout layout = *LayoutOf(format);
  std::vector<uint8_t> out(*LaidOutCount(layout, shape), 99);
  LayOut(layout, shape, 1, reinterpret_cast<const std::byte*>(linear.data()),
         reinterpret_cast<std::byte*>(out.data()));
  std::vector<uint8_t> back(count);
  Linearise(layout, shape, 1, reinterpret_cast<const std::byte*>(out.data()),
            reinterpret_cast<std::byte*>(back.data()));
  EXPECT_EQ(back, linear);
  return out;
}

// Three channels of two places each: 1 2, 3 4, 5 6.
TEST(TensorLayout, BlocksOfChannelsAreFilledUp) {
  EXPECT_THAT(LaidOut(kChw2, {1, 3, 1, 2}, 6), ElementsAre(1, 3, 2, 4, 5, 0, 6, 0));
}

TEST(TensorLayout, ChannelsLast) {
  EXPECT_THAT(LaidOut(kHwc, {1, 3, 1, 2}, 6), ElementsAre(1, 3, 5, 2, 4, 6));
  EXPECT_THAT(LaidOut(kHwc8, {3, 1, 1}, 3), ElementsAre(1, 2, 3, 0, 0, 0, 0, 0));
}

TEST(TensorLayout, EveryImageOfABatchHasItsOwnBlocks) {
  EXPECT_THAT(LaidOut(kChw2, {2, 3, 1, 1}, 6), ElementsAre(1, 2, 3, 0, 4, 5, 6, 0));
  EXPECT_EQ(LaidOut(kCdhw32, {2, 33, 1, 1, 2}, 132).size(), 2u * 64 * 2);
}

TEST(TensorLayout, WhatIsLinearOrUnknownHasNone) {
  EXPECT_FALSE(LayoutOf(kLinear));
  EXPECT_FALSE(LayoutOf(kDlaHwc4));
  EXPECT_FALSE(LayoutOf(77));
  EXPECT_FALSE(LaidOutCount(*LayoutOf(kHwc8), std::vector<int64_t>{3, 1}));
}

}  // namespace
}  // namespace vernier::trt
