#include "run/lanes/feed_batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "io/bytes/checksum.h"

namespace vernier {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

Tensor Int32s(Dims dims, const std::vector<int32_t>& values) {
  return *Tensor::Copy(DType::kInt32, std::move(dims), std::as_bytes(std::span(values)));
}

Tensor StringRows(Dims dims, const std::vector<std::string>& values) {
  return *Tensor::FromStrings(std::move(dims), values);
}

// As a worker decodes it.
TensorMap Arrived(const FeedBatch& batch) {
  Result<TensorBlock> block = EncodeBatch(batch);
  EXPECT_TRUE(block.ok()) << block.status().message();
  return DecodeTensors(block->description, std::move(block->memory))->tensors;
}

TEST(FeedBatch, FeedsLieBehindEachOther) {
  const FeedBatch batch{4,
                        {{{"x", Int32s({1, 2}, {1, 2})}, {"t", StringRows({1}, {"first"})}},
                         {{"t", StringRows({1}, {""})}, {"x", Int32s({1, 2}, {3, 4})}},
                         {{"x", Int32s({1, 2}, {5, 6})}, {"t", StringRows({1}, {"third"})}}}};
  ASSERT_EQ(*RowsOfFeeds(batch), 1);
  const TensorMap made = Arrived(batch);
  ASSERT_EQ(made.size(), 2u);
  EXPECT_EQ(made[0].tensor.dims(), (Dims{3, 2}));
  EXPECT_THAT(made[0].tensor.As<int32_t>(), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(made[1].tensor.dims(), Dims{3});
  EXPECT_EQ(made[1].tensor.StringAt(0), "first");
  EXPECT_EQ(made[1].tensor.StringAt(1), "");
  EXPECT_EQ(made[1].tensor.StringAt(2), "third");
  const Result<InputHashes> hashes = HashBatch(batch);
  ASSERT_TRUE(hashes.ok()) << hashes.status().message();
  ASSERT_EQ(hashes->size(), made.size());
  for (size_t i = 0; i < made.size(); ++i) {
    Checksum checksum;
    checksum.Add(made[i].tensor.bytes());
    EXPECT_EQ((*hashes)[i], std::pair(made[i].name, checksum.value()));
  }
}

TEST(FeedBatch, LargeFeedsTravelInMemory) {
  FeedBatch batch;
  std::vector<int32_t> expected;
  for (int32_t i = 0; i < 3; ++i) {
    std::vector<int32_t> values(2 * 20000, i);
    values.back() = -i;
    expected.insert(expected.end(), values.begin(), values.end());
    batch.feeds.push_back({{"x", Int32s({2, 20000}, values)}});
  }
  const TensorMap made = Arrived(batch);
  EXPECT_EQ(made[0].tensor.dims(), (Dims{6, 20000}));
  const auto values = made[0].tensor.As<int32_t>();
  EXPECT_TRUE(std::vector<int32_t>(values.begin(), values.end()) == expected);
}

TEST(FeedBatch, WhatCannotBePutTogetherIsNamed) {
  const Tensor row = Int32s({1, 2}, {1, 2});
  const auto why = [](const FeedBatch& batch) {
    const Result<int64_t> rows = RowsOfFeeds(batch);
    EXPECT_EQ(rows.status().code(), StatusCode::kInvalidArgument);
    return rows.status().message();
  };
  EXPECT_THAT(why({3, {{{"s", Int32s({}, {1})}}}}),
              AllOf(HasSubstr("input 's' of iteration 3"), HasSubstr("scalar")));
  EXPECT_THAT(why({0, {{{"x", row}, {"m", Int32s({2}, {1, 2})}}}}),
              AllOf(HasSubstr("'m'"), HasSubstr("(2,)"), HasSubstr("(1, 2)")));
  EXPECT_THAT(why({4, {{{"x", row}}, {{"x", row}}, {{"x", Int32s({1, 3}, {1, 2, 3})}}}}),
              AllOf(HasSubstr("(1, 2) in iteration 4"), HasSubstr("(1, 3) in iteration 6")));
  EXPECT_THAT(why({0, {{{"x", row}}, {{"y", row}}}}), HasSubstr("'x' is absent in iteration 1"));
  EXPECT_THAT(why({0, {{{"x", row}}, {{"x", row}, {"y", row}}}}), HasSubstr("has 2 inputs"));
  const Tensor nibbles = *Tensor::Copy(DType::kInt4, {1, 3}, std::vector<std::byte>(2));
  EXPECT_THAT(why({0, {{{"n", nibbles}}, {{"n", nibbles}}}}), HasSubstr("share a byte"));
}

TEST(FeedBatch, OutputsAreDividedByRows) {
  Worker::Outcome whole;
  whole.inference_seconds = 3;
  whole.outputs.tensors = {{"y", Int32s({6, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})},
                           {"t", StringRows({6}, {"a", "b", "c", "d", "e", "f"})}};
  const Result<std::vector<Worker::Outcome>> parts = DivideOutcome(whole, 3, 2);
  ASSERT_TRUE(parts.ok());
  ASSERT_EQ(parts->size(), 3u);
  whole = {};  // the parts keep what they refer to
  const Worker::Outcome& second = (*parts)[1];
  EXPECT_DOUBLE_EQ(second.inference_seconds, 1);
  EXPECT_EQ(second.outputs.tensors[0].tensor.dims(), (Dims{2, 2}));
  EXPECT_THAT(second.outputs.tensors[0].tensor.As<int32_t>(), ElementsAre(5, 6, 7, 8));
  EXPECT_EQ(second.outputs.tensors[1].tensor.StringAt(1), "d");
}

TEST(FeedBatch, OutputsWithoutRowsOfNothingAreDivided) {
  Worker::Outcome whole;
  whole.outputs.tensors = {{"y", Int32s({0, 2}, {})}};
  const Result<std::vector<Worker::Outcome>> parts = DivideOutcome(whole, 2, 0);
  ASSERT_TRUE(parts.ok());
  EXPECT_EQ((*parts)[1].outputs.tensors[0].tensor.dims(), (Dims{0, 2}));
}

TEST(FeedBatch, OutputsOfOtherSizesAreNamed) {
  for (const Dims& dims : {Dims{5, 1}, Dims{}, Dims{1, 6}}) {
    const int64_t count = *ElementCount(dims);
    const TensorMap outputs = {
        {"z", Int32s(dims, std::vector<int32_t>(static_cast<size_t>(count)))}};
    const Status status = CheckRows(outputs, 3, 2);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), AllOf(HasSubstr("output 'z'"), HasSubstr(FormatDims(dims)),
                                        HasSubstr("3 feeds of 2 rows")));
  }
}

TEST(FeedBatch, AModelMayDeclareThatItsOutputsGrow) {
  SessionDescription session;
  session.inputs = {{"x", DType::kFloat32, std::vector<Dim>{{-1, "n"}, {3, {}}}}};
  session.outputs = {{"y", DType::kFloat32, std::vector<Dim>{{-1, "n"}}}};
  EXPECT_TRUE(DeclaresRows(session));
  session.outputs.push_back({"z", DType::kFloat32, std::vector<Dim>{{-1, "m"}}});
  EXPECT_FALSE(DeclaresRows(session));
  EXPECT_TRUE(CheckBatchSession(session).ok());
  session.outputs.back().shape.reset();
  EXPECT_FALSE(DeclaresRows(session));
  EXPECT_TRUE(CheckBatchSession(session).ok());
  session.inputs[0].shape->front() = {-1, {}};
  session.outputs = {{"y", DType::kFloat32, std::vector<Dim>{{-1, {}}}}};
  EXPECT_FALSE(DeclaresRows(session));
  session.nested_outputs = {"s"};
  EXPECT_THAT(CheckBatchSession(session).message(), HasSubstr("output 's' is a sequence"));
}

}  // namespace
}  // namespace vernier
