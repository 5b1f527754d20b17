#include "check/properties/batch_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vernier {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

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
  ASSERT_TRUE(batch.ok());
  EXPECT_THAT(batch->inputs, ElementsAre("x"));
  EXPECT_THAT(batch->outputs, ElementsAre("y"));
  EXPECT_EQ(batch->dimension, "N");
  ASSERT_EQ(batch->left_out.size(), 1u);
  EXPECT_EQ(batch->left_out[0].name, "z");
  EXPECT_EQ(batch->left_out[0].why, "its first dimension is 5");
}

TensorInfo Free(const std::string& name, const std::string& symbol) {
  return Info(name, {{-1, symbol}, {3, ""}});
}

TEST(FindBatch, OutputsThatDoNotTellMayHaveIt) {
  const std::vector outputs = {TensorInfo{"untold", DType::kFloat32, std::nullopt},
                               Free("nameless", ""), Free("y", "N"), Free("times", "T")};
  const auto batch = FindBatch(std::vector{Free("x", "N")}, outputs);
  ASSERT_TRUE(batch.ok());
  EXPECT_THAT(batch->outputs, ElementsAre("y"));
  EXPECT_THAT(batch->possible, ElementsAre("untold", "nameless"));
  const auto generated = FindBatch(std::vector{Free("x", "unk__1")},
                                   std::vector{Free("y", "unk__2"), Free("z", "unk__1")});
  ASSERT_TRUE(generated.ok());
  EXPECT_THAT(generated->outputs, ElementsAre("z"));
  EXPECT_THAT(generated->possible, ElementsAre("y"));
  const auto nameless = FindBatch(std::vector{Free("x", "")}, outputs);
  ASSERT_TRUE(nameless.ok());
  EXPECT_THAT(nameless->outputs, IsEmpty());
  EXPECT_THAT(nameless->possible, ElementsAre("untold", "nameless", "y", "times"));
}

std::string WhyNot(const std::vector<TensorInfo>& inputs, const std::vector<TensorInfo>& outputs) {
  const auto batch = FindBatch(inputs, outputs);
  return batch.ok() ? "" : batch.status().message();
}

TEST(FindBatch, SaysWhyThereIsNone) {
  EXPECT_EQ(WhyNot({Free("a", "N"), Free("b", "M")}, {Free("y", "N")}),
            "the first dimension of 'a' is 'N', that of 'b' is 'M'");
  EXPECT_EQ(
      WhyNot({Free("x", "t")}, {Free("y", "b"), Info("z", {{1, ""}}), Info("s", {})}),
      "the first dimension of 'x' is 't', that of 'y' is 'b', that of 'z' is 1, that of 's' is "
      "none");
  EXPECT_EQ(WhyNot({Info("a", {{4, ""}})}, {Free("y", "N")}),
            "no input has a first dimension that is free");
  EXPECT_EQ(WhyNot({TensorInfo{"a", DType::kFloat32, std::nullopt}}, {Free("y", "N")}),
            "no input has a first dimension that is free");
}

TEST(FindBatch, WhatStandsElsewhereTooIsNoBatch) {
  const std::vector outputs = {Free("y", "N")};
  const auto adjacency =
      FindBatch(std::vector{Free("x", "N"), Info("a", {{-1, "N"}, {-1, "N"}})}, outputs);
  ASSERT_FALSE(adjacency.ok());
  EXPECT_THAT(adjacency.status().message(),
              HasSubstr("'N' is not only the first dimension of 'x', but also another one of 'a'"));
  const auto distances =
      FindBatch(std::vector{Free("x", "N")}, std::vector{Info("y", {{-1, "N"}, {-1, "N"}})});
  EXPECT_FALSE(distances.ok());
  EXPECT_TRUE(FindBatch(std::vector{Info("x", {{-1, ""}, {-1, ""}})}, outputs).ok());
}

TEST(GuessBatch, InputsWithTheRowsOfTheFirst) {
  const Tensor two = *Tensor::Copy(DType::kUint8, {2, 1}, std::vector<std::byte>(2));
  const Tensor three = *Tensor::Copy(DType::kUint8, {3}, std::vector<std::byte>(3));
  EXPECT_THAT(GuessBatch({{"x", two}, {"bias", three}, {"z", two}})->inputs, ElementsAre("x", "z"));
  EXPECT_FALSE(
      GuessBatch({{"s", *Tensor::Copy(DType::kUint8, {}, std::vector<std::byte>(1))}}).ok());
  EXPECT_FALSE(GuessBatch({}).ok());
}

TEST(KeepFollowers, KeepsWhatHasTheRowsOfTheInputsTwice) {
  const TensorMap of_one = {{"told", Int16s({1}, {1})},
                            {"y", Int16s({1, 2}, {1, 2})},
                            {"sum", Int16s({1}, {1})},
                            {"other", Int16s({1, 2, 3}, {3})}};
  const TensorMap of_three = {{"told", Int16s({1, 2, 3}, {3})},
                              {"y", Int16s({1, 2, 3, 4, 5, 6}, {3, 2})},
                              {"sum", Int16s({1}, {1})},
                              {"other", Int16s({1, 2, 3}, {3})}};
  BatchNames batch{.inputs = {"x"}, .dimension = "", .outputs = {"told"}, .possible = {}};
  batch.possible = {"y", "sum", "other"};
  batch = KeepFollowers(batch, {of_one, 1}, {of_three, 3});
  EXPECT_THAT(batch.outputs, ElementsAre("told", "y"));
  EXPECT_THAT(batch.possible, IsEmpty());
  ASSERT_EQ(batch.left_out.size(), 2u);
  EXPECT_EQ(batch.left_out[0].why, "its shape is (1,) for 1 row of the inputs, and (1,) for 3");
  const BatchNames untold{.inputs = {"x"}, .dimension = "", .outputs = {}, .possible = {}};
  EXPECT_THAT(KeepFollowers(untold, {of_one, 1}, {of_three, 3}).outputs, ElementsAre("told", "y"));
}

TEST(KeepRowOfOne, LeavesOutWhatHasOtherRows) {
  const TensorMap of_one = {{"y", Int16s({1, 2}, {1, 2})}, {"z", Int16s({1, 2}, {2, 1})}};
  BatchNames batch{.inputs = {"x"}, .dimension = "", .outputs = {"y", "z"}, .possible = {}};
  batch = KeepRowOfOne(batch, of_one);
  EXPECT_THAT(batch.outputs, ElementsAre("y"));
  ASSERT_EQ(batch.left_out.size(), 1u);
  EXPECT_EQ(batch.left_out[0].why, "its shape is (2, 1) for 1 row of the inputs");
}

}  // namespace
}  // namespace vernier
