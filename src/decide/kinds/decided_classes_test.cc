#include "decide/kinds/decided_classes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <vector>

#include "decide/kinds/decided_for_test.h"

namespace vernier {
namespace {

using testing::ElementsAre;

TEST(LimitAs, RoundsToTheTypeOfTheOutput) {
  EXPECT_EQ(LimitAs(DType::kFloat32, 0.7), 0.7F);
  EXPECT_EQ(LimitAs(DType::kFloat64, 0.7), 0.7);
  EXPECT_EQ(LimitAs(DType::kFloat16, 0.7), 0x1.668p-1);
  EXPECT_EQ(LimitAs(DType::kBFloat16, 0.7), 0x1.66p-1);
  EXPECT_EQ(LimitAs(DType::kBFloat16, 1 + 0x1p-8), 1) << "to even";
  EXPECT_EQ(LimitAs(DType::kInt8, 0.7), 0.7);
}

TEST(ClassesDecided, AreAllOfThem) {
  const Tensor output = FloatTensor({2, 4}, {0, 0, 0, 0, 0.7F, 3, 0.2F, 3});
  EXPECT_THAT(ClassesDecided(*ParseDecision("threshold=0.7"), output, 1), ElementsAre(0, 1, 3));
  EXPECT_THAT(ClassesDecided(*ParseDecision("top2"), output, 1), ElementsAre(1, 3));
  EXPECT_THAT(ClassesDecided(*ParseDecision("top2"), output, 0), ElementsAre(0, 1)) << "ties";
  const std::vector<int64_t> values = {int64_t{1} << 53, (int64_t{1} << 53) + 1};
  const Tensor whole = *Tensor::Copy(DType::kInt64, {1, 2}, std::as_bytes(std::span(values)));
  EXPECT_THAT(ClassesDecided(*ParseDecision("y:top1"), whole, 0), ElementsAre(1));
}

}  // namespace
}  // namespace vernier
