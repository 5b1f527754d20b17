#include "run/comparison/compared_pairs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "compare/outputs/tensor_for_test.h"

namespace vernier {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

using StreamPairs = std::vector<std::pair<size_t, size_t>>;

StreamPairs PairsOf(PairRule rule, const std::vector<std::string>& names) {
  RunPlan plan;
  plan.pairs.rule = rule;
  const Result<ComparedPairs> pairs = ComparedPairs::Find(plan, names, false);
  EXPECT_TRUE(pairs.ok());
  return pairs.ok() ? pairs->places() : StreamPairs();
}

TEST(ComparedPairs, RulesChooseThem) {
  const std::vector<std::string> names = {"a", "b", "c"};
  EXPECT_THAT(PairsOf(PairRule::kNeighbours, names), ElementsAre(Pair(0, 1), Pair(1, 2)));
  EXPECT_THAT(PairsOf(PairRule::kFirst, names), ElementsAre(Pair(0, 1), Pair(0, 2)));
  EXPECT_THAT(PairsOf(PairRule::kAll, names), ElementsAre(Pair(0, 1), Pair(0, 2), Pair(1, 2)));
}

// How many pairs of outputs two streams have whose names differ and whose values are the same.
size_t MarkedPairs(const std::vector<std::string>& formats, bool marked) {
  ComparedPairs found = *ComparedPairs::Find(RunPlan(), {"a", "b"}, marked, formats);
  const IterationResult a{"a", 0, {{"p", Floats({1, 2, 3, 4})}, {"q", Floats({4, 3, 2, 1})}}};
  const IterationResult b{"b", 0, {{"x", Floats({4, 3, 2, 1})}, {"y", Floats({1, 9, 1, 1})}}};
  PairMatching& matching = found.pairs[0].matching;
  EXPECT_TRUE(matching.Look(a, b, nullptr).ok());
  return matching.Match(a, b, nullptr)->pairing.pairs.size();
}

TEST(ComparedPairs, MarkedTensorsOfTwoFormatsPairByValue) {
  EXPECT_EQ(MarkedPairs({"onnx", "frozen"}, true), 1U);
  EXPECT_EQ(MarkedPairs({"onnx", "onnx"}, true), 0U) << "by name alone";
  EXPECT_EQ(MarkedPairs({"onnx"}, true), 0U) << "the second is saved";
}

TEST(ComparedPairs, OneStreamAloneHasNone) {
  for (const PairRule rule : {PairRule::kNeighbours, PairRule::kFirst, PairRule::kAll}) {
    EXPECT_THAT(PairsOf(rule, {"a"}), IsEmpty());
    EXPECT_THAT(PairsOf(rule, {}), IsEmpty());
  }
}

TEST(ComparedPairs, NamedOnesKeepTheirOrder) {
  RunPlan plan;
  plan.pairs.rule = PairRule::kNamed;
  plan.pairs.named = {{"c", "a"}, {"a", "b"}};
  const Result<ComparedPairs> pairs = ComparedPairs::Find(plan, {"a", "b", "c"}, true);
  ASSERT_TRUE(pairs.ok());
  EXPECT_THAT(pairs->places(), ElementsAre(Pair(2, 0), Pair(0, 1)));
  EXPECT_THAT(pairs->names, ElementsAre("a", "b", "c"));
  EXPECT_TRUE(pairs->marked);
}

TEST(ComparedPairs, AnUnknownNameIsAnError) {
  RunPlan plan;
  plan.pairs.rule = PairRule::kNamed;
  plan.pairs.named = {{"a", "d"}};
  const Status status = ComparedPairs::Find(plan, {"a", "b"}, false).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("no runner 'd'; there are: a, b"));
  const std::vector<std::string> timed = {"onnxrt-runner-N0-11/22/26-14:05:09",
                                          "openvino-runner-N0-11/22/26-14:05:09"};
  EXPECT_THAT(ComparedPairs::Find(plan, timed, false).status().message(),
              HasSubstr("there is no runner 'a'; there are: onnxrt, openvino"));
}

}  // namespace
}  // namespace vernier
