#include "compare/pairing/marked_pairing.h"

#include <gtest/gtest.h>

#include "compare/outputs/tensor_for_test.h"

namespace vernier {
namespace {

// "a=x b=y": the pairs of all tensors.
std::string MarkedPairsOf(const TensorMap& a, const TensorMap& b) {
  std::vector<size_t> rows, columns;
  for (size_t i = 0; i < a.size(); ++i) rows.push_back(i);
  for (size_t j = 0; j < b.size(); ++j) columns.push_back(j);
  std::string text;
  for (const ValuePair& pair : PairMarkedTensors(a, rows, b, columns)) {
    text += a[pair.a].name + "=" + b[pair.b].name + " ";
  }
  return text;
}

const Tensor kMarkedUp = Floats({1, 2, 3, 4});
const Tensor kMarkedDown = Floats({4, 3, 2, 1});

TEST(MarkedPairing, ValuesDecideWhereNothingElseIsNear) {
  EXPECT_EQ(
      MarkedPairsOf({{"a", kMarkedUp}, {"b", kMarkedDown}}, {{"x", kMarkedDown}, {"y", kMarkedUp}}),
      "a=y b=x ");
  EXPECT_EQ(MarkedPairsOf({{"a", kMarkedUp}}, {{"x", Floats({1, 2, 3, 4.2F})}}), "") << "3 % apart";
  EXPECT_EQ(MarkedPairsOf({{"a", kMarkedUp}}, {{"x", kMarkedUp}, {"y", kMarkedUp}}), "")
      << "which of them?";
  EXPECT_EQ(MarkedPairsOf({{"a", kMarkedUp}, {"b", kMarkedUp}}, {{"x", kMarkedUp}}), "");
}

TEST(MarkedPairing, PlainNamesDecideAmongCopies) {
  const TensorMap a = {{"StatefulPartitionedCall/model_1/conv/Relu:0", kMarkedUp},
                       {"b", kMarkedUp}};
  EXPECT_EQ(MarkedPairsOf(a, {{"x", kMarkedUp}, {"model/conv/Relu:0", kMarkedUp}}),
            "StatefulPartitionedCall/model_1/conv/Relu:0=model/conv/Relu:0 ");
  const TensorMap off = {{"x", kMarkedUp}, {"model/conv/Relu:0", Floats({1, 2, 3, 4.2F})}};
  EXPECT_EQ(MarkedPairsOf({a[0]}, off),
            "StatefulPartitionedCall/model_1/conv/Relu:0=model/conv/Relu:0 ");
}

TEST(MarkedPairing, NamesAloneDecideNothing) {
  EXPECT_EQ(MarkedPairsOf({{"conv:0", kMarkedUp}}, {{"conv", kMarkedDown}}), "");
  const Tensor still = Floats({2, 2});
  EXPECT_EQ(MarkedPairsOf({{"conv:0", still}}, {{"conv", still}}), "") << "a constant";
  // Two modules of one name, and no telling them apart.
  EXPECT_EQ(
      MarkedPairsOf({{"conv:0", kMarkedUp}}, {{"/conv", kMarkedUp}, {"model/conv", kMarkedUp}}),
      "");
}

TEST(MarkedPairing, AxesMayBeInAnotherOrder) {
  const TensorMap a = {{"a", Floats({2, 3}, {1, 2, 3, 4, 5, 6})}};
  const TensorMap b = {{"x", Floats({3, 2}, {1, 4, 2, 5, 3, 6})}};
  const std::vector<size_t> first = {0};
  const std::vector<ValuePair> pairs = PairMarkedTensors(a, first, b, first);
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_EQ(pairs[0].distance.axes, (std::vector<size_t>{1, 0}));
}

}  // namespace
}  // namespace vernier
