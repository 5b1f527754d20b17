#include "compare/pairing/output_matcher.h"

#include <gtest/gtest.h>

#include "compare/outputs/tensor_for_test.h"

namespace vernier {
namespace {

const Tensor kUp = Floats({1, 2, 3, 4});
const Tensor kDown = Floats({4, 3, 2, 1});
const Tensor kZero = Floats({0, 0, 0, 0});

// "a=x:5 -b +y": pairs with the number of PairedBy, and what is left over.
std::string PairsOf(const OutputMatcher& matcher, const TensorMap& a, const TensorMap& b) {
  const TensorMap aligned = *matcher.Align(b, nullptr);
  const Pairing pairing = matcher.Pair(a, aligned);
  std::string text;
  for (const OutputPair& pair : pairing.pairs) {
    text += a[pair.a].name + "=" + aligned[pair.b].name + ":" +
            std::to_string(static_cast<int>(pair.how)) + " ";
  }
  for (const std::string& name : pairing.left_only) text += "-" + name + " ";
  for (const std::string& name : pairing.right_only) text += "+" + name + " ";
  return text;
}

TEST(OutputMatcher, KeepsWhatTheFirstIterationDecided) {
  OutputMatcher matcher(PairingRule::kOneToOne);
  ASSERT_TRUE(matcher.Look({{"a", kUp}, {"b", kDown}}, {{"x", kDown}, {"y", kUp}}, nullptr).ok());
  EXPECT_TRUE(matcher.settled());
  // Other values do not change it.
  EXPECT_EQ(PairsOf(matcher, {{"a", kUp}, {"b", kDown}}, {{"x", kUp}, {"y", kDown}}),
            "a=y:5 b=x:5 ");
  EXPECT_EQ(matcher.errors().at("a"), 0);
  EXPECT_TRUE(matcher.table().empty());
}

TEST(OutputMatcher, TriesFourFeeds) {
  OutputMatcher matcher(PairingRule::kOneToOne);
  const TensorMap still_a = {{"a", kZero}, {"b", kZero}};
  const TensorMap still_b = {{"x", kZero}, {"y", kZero}};
  ASSERT_TRUE(matcher.Look(still_a, still_b, nullptr).ok());
  EXPECT_FALSE(matcher.settled());
  EXPECT_FALSE(matcher.table().empty());
  ASSERT_TRUE(matcher.Look({{"a", kUp}, {"b", kDown}}, {{"x", kDown}, {"y", kUp}}, nullptr).ok());
  EXPECT_TRUE(matcher.settled());
  EXPECT_EQ(PairsOf(matcher, still_a, still_b), "a=y:5 b=x:5 ");

  OutputMatcher never(PairingRule::kOneToOne);
  for (int i = 0; i < 4; ++i) {
    EXPECT_FALSE(never.settled());
    ASSERT_TRUE(never.Look(still_a, still_b, nullptr).ok());
  }
  EXPECT_TRUE(never.settled());
  EXPECT_EQ(PairsOf(never, still_a, still_b), "-a -b +x +y ");
}

TEST(OutputMatcher, AlignsPermutedAxes) {
  OutputMatcher matcher(PairingRule::kOneToOne);
  const TensorMap a = {{"a", Floats({2, 3}, {1, 2, 3, 4, 5, 6})}};
  const TensorMap b = {{"x", Floats({3, 2}, {1, 4, 2, 5, 3, 6})}};
  ASSERT_TRUE(matcher.Look(a, b, nullptr).ok());
  EXPECT_EQ(PairsOf(matcher, a, b), "a=x@1,0:5 ");
  EXPECT_EQ((*matcher.Align(b, nullptr))[0].tensor.dims(), (Dims{2, 3}));
}

TEST(OutputMatcher, NamesAndGivenPairsComeBeforeValues) {
  OutputMatcher swapped(PairingRule::kOneToOne);
  const TensorMap a = {{"x", kUp}, {"y", kDown}}, b = {{"x", kDown}, {"y", kUp}};
  ASSERT_TRUE(swapped.Look(a, b, nullptr).ok());
  EXPECT_EQ(PairsOf(swapped, a, b), "x=x:0 y=y:0 ");

  OutputMatcher given(PairingRule::kOneToOne, {{"x", "y", PairedBy::kMap}});
  ASSERT_TRUE(given.Look(a, b, nullptr).ok());
  EXPECT_EQ(PairsOf(given, a, b), "x=y:6 y=x:3 ");
}

TEST(OutputMatcher, ValuesWinOverContainedNames) {
  const TensorMap a = {{"out", kUp}, {"feat", kDown}};
  OutputMatcher crossed(PairingRule::kOneToOne);
  const TensorMap b = {{"out_1", kDown}, {"net", kUp}};
  ASSERT_TRUE(crossed.Look(a, b, nullptr).ok());
  EXPECT_EQ(PairsOf(crossed, a, b), "out=net:5 feat=out_1:5 ");
  EXPECT_EQ(crossed.errors().at("out"), 0);
  // A fault stays one: nothing else has its values.
  OutputMatcher faulty(PairingRule::kOneToOne);
  const TensorMap c = {{"out_1", Floats({9, 1, 9, 1})}, {"net", kDown}};
  ASSERT_TRUE(faulty.Look(a, c, nullptr).ok());
  EXPECT_EQ(PairsOf(faulty, a, c), "out=out_1:2 feat=net:3 ");
  // So do two that are named alike and swapped.
  OutputMatcher swapped(PairingRule::kOneToOne);
  const TensorMap d = {{"out_1", kDown}, {"feat_1", kUp}};
  ASSERT_TRUE(swapped.Look(a, d, nullptr).ok());
  EXPECT_EQ(PairsOf(swapped, a, d), "out=out_1:2 feat=feat_1:2 ");
}

TEST(OutputMatcher, MarkedTensorsPairByNameAlone) {
  OutputMatcher matcher(PairingRule::kOneToOneMarked);
  ASSERT_TRUE(matcher.Look({{"a", kUp}}, {{"x", kUp}}, nullptr).ok());
  EXPECT_TRUE(matcher.settled());
  EXPECT_EQ(PairsOf(matcher, {{"a", kUp}}, {{"x", kUp}}), "-a +x ");
}

TEST(OutputMatcher, MarkedTensorsOfTwoFormatsPairByValuesOfTheFirstFeed) {
  OutputMatcher matcher(PairingRule::kOneToOneFormats);
  const TensorMap a = {{"a", kUp}, {"b", kDown}, {"same", kUp}, {"alone", kZero}};
  const TensorMap b = {{"x", Floats({2, 2}, {4, 3, 2, 1})}, {"z", kDown}, {"same", kDown}};
  ASSERT_TRUE(matcher.Look(a, b, nullptr).ok());
  EXPECT_TRUE(matcher.settled());
  EXPECT_TRUE(matcher.table().empty()) << "what has no partner is no fault";
  EXPECT_EQ(PairsOf(matcher, a, b), "same=same:0 -a -b -alone +x +z ") << "x and z are copies";
  OutputMatcher other(PairingRule::kOneToOneFormats);
  const TensorMap c = {{"x", kDown}, {"same", kUp}};
  ASSERT_TRUE(other.Look(a, c, nullptr).ok());
  EXPECT_EQ(PairsOf(other, a, c), "b=x:5 same=same:0 -a -alone ");
}

}  // namespace
}  // namespace vernier
