#include "compare/pairing/value_pairing.h"

#include <gtest/gtest.h>

#include <limits>

#include "compare/outputs/tensor_for_test.h"

namespace vernier {
namespace {

// "0-1 1-0", by index.
std::string Pairs(const TensorMap& a, const TensorMap& b) {
  std::vector<size_t> rows, columns;
  for (size_t i = 0; i < a.size(); ++i) rows.push_back(i);
  for (size_t j = 0; j < b.size(); ++j) columns.push_back(j);
  std::string text;
  for (const ValuePair& pair : PairByValue(a, rows, b, columns).pairs) {
    text += (text.empty() ? "" : " ") + std::to_string(pair.a) + "-" + std::to_string(pair.b);
  }
  return text;
}

const Tensor kRising = Floats({1, 2, 3, 4});
const Tensor kNearRising = Floats({1, 2, 3, 4.001f});
const Tensor kFalling = Floats({4, 3, 2, 1});
const Tensor kOther = Floats({-1, 5, -2, 0});

TEST(PairByValue, FindsWhoHasTheValues) {
  EXPECT_EQ(Pairs({{"a", kRising}, {"b", kFalling}}, {{"x", kFalling}, {"y", kNearRising}}),
            "0-1 1-0");
  EXPECT_EQ(Pairs({{"a", kRising}, {"b", kOther}}, {{"x", kFalling}, {"y", kNearRising}}), "0-1");
  EXPECT_EQ(Pairs({{"a", kRising}}, {}), "");
}

TEST(PairByValue, LeavesOpenWhatTwoAreNearTo) {
  // The rising ones cannot be distinguished.
  EXPECT_EQ(Pairs({{"a", kRising}, {"b", kRising}}, {{"x", kRising}, {"y", kNearRising}}), "");
  EXPECT_EQ(Pairs({{"a", kRising}, {"b", kFalling}}, {{"x", kRising}, {"y", kNearRising}}), "");
  // Nearest, but too far away.
  EXPECT_EQ(Pairs({{"a", kRising}}, {{"x", kOther}}), "");
  EXPECT_EQ(Pairs({{"a", kRising}}, {{"x", Floats({1, 2, 3, 5})}}), "");
  // Near enough, and the next is not ten times as far.
  EXPECT_EQ(Pairs({{"a", kRising}}, {{"x", Floats({1, 2, 3, 4.3f})}, {"y", Floats({1, 2, 3, 5})}}),
            "");
}

TEST(PairByValue, ConstantsAndWhatIsNotFiniteDecideNothing) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  for (const Tensor& tensor : {Floats({0, 0, 0, 0}), Floats({2, 2, 2, 2}), Floats({1, nan, 3, 4}),
                               Floats({1, inf, 3, 4}), Floats({7})}) {
    EXPECT_EQ(Pairs({{"a", tensor}}, {{"x", tensor}}), "");
  }
  // They are in nobody's way if they are far away.
  EXPECT_EQ(Pairs({{"a", kRising}, {"b", Floats({0, 0, 0, 0})}},
                  {{"x", Floats({0, 0, 0, 0})}, {"y", kRising}}),
            "0-1");
}

TEST(PairByValue, LooksAtOneTypeAndElementCount) {
  EXPECT_EQ(
      Pairs({{"a", kRising}}, {{"x", TensorForTest<double>(DType::kFloat64, {4}, {1, 2, 3, 4})}}),
      "");
  EXPECT_EQ(Pairs({{"a", kRising}}, {{"x", Floats({1, 2, 3, 4, 5})}}), "");
  EXPECT_EQ(Pairs({{"a", Strings({"a", "b"})}}, {{"x", Strings({"a", "b"})}}), "");
  EXPECT_EQ(Pairs({{"a", Ints({4}, {1, 2, 3, 4})}}, {{"x", Ints({4}, {1, 2, 3, 4})}}), "0-0");
}

TEST(DistanceOfValues, PermutesAxesWhereShapesDiffer) {
  const Tensor a = Floats({1, 2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor b = Floats({1, 3, 2}, {1, 4, 2, 5, 3, 6});
  const auto distance = DistanceOfValues(a, b);
  ASSERT_TRUE(distance);
  EXPECT_EQ(distance->error, 0);
  EXPECT_EQ(distance->axes, (std::vector<size_t>{0, 2, 1}));
  // A square is taken as it is: a transposition there is a fault.
  const auto square = DistanceOfValues(Floats({2, 2}, {1, 2, 3, 4}), Floats({2, 2}, {1, 3, 2, 4}));
  EXPECT_GT(square->error, 0.1);
  EXPECT_TRUE(square->axes.empty());
  // No order of the axes gives the shape: in sequence.
  const auto flat = DistanceOfValues(a, Floats({6}, {1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(flat->error, 0);
}

TEST(DistanceOfValues, IsRelativeToTheLarger) {
  EXPECT_DOUBLE_EQ(DistanceOfValues(Floats({0, 0}), Floats({3, 4}))->error, 1);
  EXPECT_DOUBLE_EQ(DistanceOfValues(Floats({0, 0}), Floats({0, 0}))->error, 0);
  EXPECT_DOUBLE_EQ(DistanceOfValues(Floats({3, 4}), Floats({-3, -4}))->error, 2);
}

TEST(ValuePairing, ShowsTheErrors) {
  const TensorMap a = {{"first", kRising}, {"b", Floats({1})}};
  const TensorMap b = {{"x", kRising}, {"long name", kFalling}};
  const std::vector<size_t> both = {0, 1};
  EXPECT_EQ(PairByValue(a, both, b, both).Table(a, b),
            "    e      x  long name\n"
            "    first  0  0.816\n"
            "    b      -  -");
}

}  // namespace
}  // namespace vernier
