#include "compare/outputs/postprocess.h"

#include <gtest/gtest.h>

#include <limits>

#include "compare/outputs/tensor_for_test.h"

namespace vernier {
namespace {

std::vector<int64_t> Top(const Tensor& tensor, const TopK& top) {
  const Tensor indices = *ApplyTopK(tensor, top);
  const auto values = indices.As<int64_t>();
  return {values.begin(), values.end()};
}

using Indices = std::vector<int64_t>;

TEST(ApplyTopK, TakesTheLargestFirst) {
  EXPECT_EQ(Top(Floats({1, 2, 3, 4, 5}), {3, -1}), (Indices{4, 3, 2}));
  EXPECT_EQ(Top(Floats({1, 2, 3, 4, 5}), {10, -1}), (Indices{4, 3, 2, 1, 0}));
  EXPECT_EQ(Top(Floats({2, 1, 2}), {3, 0}), (Indices{0, 2, 1}));
}

TEST(ApplyTopK, WorksAlongAnyAxis) {
  const Tensor tensor = Floats({2, 3}, {5, 6, 5, 6, 5, 6});
  EXPECT_EQ(Top(tensor, {1, 0}), (Indices{1, 0, 1}));
  EXPECT_EQ(Top(tensor, {1, 1}), (Indices{1, 0}));
  EXPECT_EQ(ApplyTopK(tensor, {1, 0})->dims(), (Dims{1, 3}));
}

TEST(ApplyTopK, OrdersUnsignedAndSmallestValuesByValue) {
  EXPECT_EQ(Top(TensorForTest<uint8_t>(DType::kUint8, {3}, {0, 3, 1}), {3, -1}),
            (Indices{1, 2, 0}));
  EXPECT_EQ(Top(TensorForTest<int8_t>(DType::kInt8, {2}, {-128, 1}), {2, -1}), (Indices{1, 0}));
  EXPECT_EQ(Top(TensorForTest<uint8_t>(DType::kBool, {3}, {0, 1, 1}), {2, -1}), (Indices{1, 2}));
}

TEST(ApplyTopK, PutsNanLast) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(Top(Floats({nan, -infinity, 1, nan}), {4, -1}), (Indices{2, 1, 0, 3}));
}

TEST(ApplyTopK, RefusesWhatHasNoOrder) {
  EXPECT_FALSE(ApplyTopK(Floats({}, {1}), {1, -1}).ok());
  EXPECT_FALSE(ApplyTopK(Floats({1, 2}), {1, 1}).ok());
  EXPECT_FALSE(ApplyTopK(Strings({"a"}), {1, -1}).ok());
}

TEST(PostprocessTopK, UsesTheFallbackForOthers) {
  TensorMap outputs = {{"x", Floats({1, 2, 3})}, {"y", Floats({1, 2, 3})}};
  PerOutput<TopK> tops;
  tops.fallback = TopK{2, -1};
  tops.entries = {{"y", {0, -1}}, {"unknown", {1, -1}}};
  ASSERT_TRUE(PostprocessTopK(outputs, tops).ok());
  EXPECT_EQ(outputs[0].tensor.dims(), (Dims{2}));
  EXPECT_EQ(outputs[1].tensor.dtype(), DType::kFloat32);  // 0 leaves it alone
}

struct ParseCase {
  const char* text;
  int64_t k, axis;
};

TEST(ParseTopK, ReadsWhatPolygraphyReads) {
  for (const ParseCase& c :
       {ParseCase{"top-5", 5, -1}, ParseCase{"top-5,axis=0", 5, 0}, ParseCase{"top--3", 3, -1},
        ParseCase{"top-5,1", 5, 1}, ParseCase{"top-6,axis=-1", 6, -1}}) {
    const auto top = ParseTopK(c.text);
    ASSERT_TRUE(top.ok()) << c.text;
    EXPECT_EQ(top->k, c.k) << c.text;
    EXPECT_EQ(top->axis, c.axis) << c.text;
  }
  for (const char* text : {"", "5", "bottom-5", "top-", "top-x", "top-5,axis=y"}) {
    EXPECT_FALSE(ParseTopK(text).ok()) << text;
  }
}

}  // namespace
}  // namespace vernier
