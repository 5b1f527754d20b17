#include "check/batch_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vernier {
namespace {

using ::testing::ElementsAre;

Tensor Int16s(const std::vector<int16_t>& values, Dims dims) {
  return *Tensor::Copy(DType::kInt16, std::move(dims), std::as_bytes(std::span(values)));
}

TensorInfo Info(const std::string& name, std::vector<Dim> shape) {
  return {name, DType::kFloat32, std::move(shape)};
}

TEST(TakeRows, TakesThemInOrderAndMoreThanOnce) {
  const Tensor rows = Int16s({1, 2, 3, 4, 5, 6}, {3, 2});
  const Result<Tensor> taken = TakeRows(rows, std::vector<int64_t>{2, 0, 2});
  ASSERT_TRUE(taken.ok());
  EXPECT_THAT(taken->dims(), ElementsAre(3, 2));
  EXPECT_THAT(taken->As<int16_t>(), ElementsAre(5, 6, 1, 2, 5, 6));
}

TEST(TakeRows, RefusesWhatHasNoSuchRows) {
  const std::vector<int64_t> second = {1};
  EXPECT_FALSE(TakeRows(Int16s({1}, {}), second).ok());
  EXPECT_FALSE(TakeRows(Int16s({1}, {1}), second).ok());
  EXPECT_FALSE(TakeRows(Int16s({}, {0, 4}), second).ok());
  EXPECT_FALSE(
      TakeRows(*Tensor::FromStrings({2}, std::vector<std::string>{"a", "b"}), second).ok());
}

TEST(TakeRows, LeavesOtherTensorsAlone) {
  const TensorMap feed = {{"x", Int16s({1, 2}, {2, 1})}, {"k", Int16s({7, 8}, {2})}};
  const Result<TensorMap> taken =
      TakeRows(feed, std::vector<std::string>{"x"}, std::vector<int64_t>{1});
  ASSERT_TRUE(taken.ok());
  EXPECT_THAT((*taken)[0].tensor.As<int16_t>(), ElementsAre(2));
  EXPECT_THAT((*taken)[1].tensor.As<int16_t>(), ElementsAre(7, 8));
}

TEST(FindBatch, IsTheFirstDimensionWhereItIsFreeToChoose) {
  const auto batch = FindBatch(std::vector{Info("x", {{-1, "N"}, {3, ""}}), Info("k", {{2, ""}})},
                               std::vector{Info("y", {{-1, "N"}}), Info("z", {{5, ""}})});
  ASSERT_TRUE(batch);
  EXPECT_THAT(batch->inputs, ElementsAre("x"));
  EXPECT_THAT(batch->outputs, ElementsAre("y"));
  EXPECT_EQ(batch->dimension, "N");
}

TEST(FindBatch, TakesOutputsWhoseRankIsNotTold) {
  const auto batch = FindBatch(std::vector{Info("x", {{-1, "N"}})},
                               std::vector{TensorInfo{"y", DType::kFloat32, std::nullopt}});
  ASSERT_TRUE(batch);
  EXPECT_THAT(batch->outputs, ElementsAre("y"));
}

TEST(FindBatch, NeedsOneNameAndOutputsThatFollow) {
  const auto free = [](const char* name, const char* symbol) { return Info(name, {{-1, symbol}}); };
  EXPECT_FALSE(FindBatch(std::vector{free("a", "N"), free("b", "M")}, std::vector{free("y", "N")}));
  EXPECT_FALSE(FindBatch(std::vector{free("a", "N")}, std::vector{Info("y", {{1, ""}})}));
  EXPECT_FALSE(FindBatch(std::vector{Info("a", {{4, ""}})}, std::vector{free("y", "N")}));
  EXPECT_FALSE(FindBatch(std::vector{TensorInfo{"a", DType::kFloat32, std::nullopt}},
                         std::vector{free("y", "N")}));
}

}  // namespace
}  // namespace vernier
