#include "blame/graph/blame_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "blame/search/disturbing_probes.h"
#include "blame/sides/tensor_pairs.h"
#include "model/onnx/onnx_test_model.h"

namespace vernier {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;
using testing_model::ExternalTensor;
using testing_model::Field;
using testing_model::Node;
using testing_model::Shared;
using testing_model::Value;

std::string Named(std::string_view op, std::string_view input, std::string_view output) {
  return Field(1, Node(op, {input}, {output}, Field(3, std::string("n_") + std::string(output))));
}

// x -> a -> b -> y, where b also reads wt, made of the weights w alone.
std::shared_ptr<const OnnxModel> Chain() {
  return Shared(Named("Relu", "x", "a") +
                Field(1, Node("Transpose", {"w"}, {"wt"}, Field(3, "n_wt"))) +
                Field(1, Node("MatMul", {"a", "wt"}, {"b"}, Field(3, "n_b"))) +
                Named("Relu", "b", "y") + Field(5, ExternalTensor("w", 9, "w.bin", "0", "36")) +
                Field(11, Value("x")) + Field(12, Value("y")));
}

TEST(BlameGraph, AnIslandIsANodeWithTheConstantsThatItReads) {
  const BlameGraph graph = *BlameGraph::Make(Chain());
  const NameSet visible = {"a", "wt", "b", "y"};
  const auto islands = graph.Islands(graph.Targets(visible), visible, {});
  ASSERT_EQ(islands.size(), 4U);
  EXPECT_THAT(islands[2].nodes, ElementsAre(1, 2));
  EXPECT_THAT(graph.InputsOf(islands[2]), ElementsAre("a"));
}

TEST(BlameGraph, ConstantsInDisputeAreFed) {
  const BlameGraph graph = *BlameGraph::Make(Chain());
  const NameSet visible = {"a", "wt", "b", "y"};
  const auto islands = graph.Islands(graph.Targets(visible), visible, {"wt"});
  EXPECT_THAT(islands[2].nodes, ElementsAre(2));
  EXPECT_THAT(graph.InputsOf(islands[2]), ElementsAre("a", "wt"));
}

TEST(BlameGraph, ConstantsHaveMakers) {
  const BlameGraph graph = *BlameGraph::Make(Chain());
  const std::vector<std::string_view> names = {"a", "wt", "x", "nobody"};
  EXPECT_THAT(graph.MakersOfConstants(names), ElementsAre(1));
  EXPECT_THAT(graph.MakersOfConstants({}), IsEmpty());
}

TEST(BlameGraph, WhatCannotBeSeenJoinsTheNodeThatReadsIt) {
  const BlameGraph graph = *BlameGraph::Make(Chain());
  const NameSet visible = {"b", "y"};
  const auto islands = graph.Islands(graph.Targets(visible), visible, {});
  ASSERT_EQ(islands.size(), 2U);
  EXPECT_THAT(islands[0].nodes, ElementsAre(0, 1, 2));
  EXPECT_THAT(graph.InputsOf(islands[0]), ElementsAre("x"));
}

TEST(PairTensors, EqualNamesMeetAndTheRestIsListed) {
  const auto reference = Shared(Named("Relu", "x", "a") + Named("Relu", "a", "mine"));
  const BlameGraph candidate =
      *BlameGraph::Make(Shared(Named("Relu", "x", "a") + Named("Relu", "a", "theirs")));
  const TensorPairs pairs = PairTensors(reference.get(), {}, candidate);
  EXPECT_EQ(pairs.reference.size(), 1U);
  ASSERT_EQ(pairs.one_sided.size(), 2U);
  EXPECT_EQ(pairs.one_sided[0].name, "mine");
  EXPECT_EQ(pairs.one_sided[1].name, "theirs");
}

// As the mask of Dropout.
TEST(PairTensors, WhatNothingReadsIsNotCompared) {
  const std::string graph = Field(1, Node("Dropout", {"x"}, {"a", "mask"})) +
                            Field(1, Node("Dropout", {"a"}, {"b", "read"})) +
                            Field(1, Node("Dropout", {"b"}, {"c", "declared"})) +
                            Named("Not", "read", "y") + Field(12, Value("declared"));
  const auto reference = Shared(graph);
  const TensorPairs pairs = PairTensors(reference.get(), {}, *BlameGraph::Make(Shared(graph)));
  EXPECT_NE(pairs.Find("read"), nullptr);
  EXPECT_NE(pairs.Find("declared"), nullptr);
  EXPECT_EQ(pairs.Find("mask"), nullptr);
  ASSERT_EQ(pairs.one_sided.size(), 1U);
  EXPECT_EQ(pairs.one_sided[0].name, "mask");
  EXPECT_EQ(pairs.one_sided[0].why, "nothing reads it");
}

TEST(PairTensors, ThroughTheDequantisedTwin) {
  const auto reference =
      Shared(Named("Relu", "x", "a") + Named("Identity", "a", "a2") + Named("Relu", "a2", "y"));
  const BlameGraph candidate = *BlameGraph::Make(
      Shared(Named("Relu", "x", "other") + Named("QuantizeLinear", "other", "a") +
             Named("DequantizeLinear", "a", "a_dq") + Named("Relu", "a_dq", "y")));
  const TensorPairs pairs = PairTensors(reference.get(), {}, candidate);
  ASSERT_NE(pairs.Find("y"), nullptr);
  // The candidate's 'a' is integers: the float 'a' meets what they were made of, and 'a2', which
  // has no namesake, the next float that holds the same values.
  EXPECT_EQ(pairs.Find("a"), nullptr);
  ASSERT_NE(pairs.Find("other"), nullptr);
  EXPECT_EQ(*pairs.Find("other"), "a");
  ASSERT_NE(pairs.Find("a_dq"), nullptr);
  EXPECT_EQ(*pairs.Find("a_dq"), "a2");
}

// Quantisers may have taken in the rectifier before them: what the graph reads is behind them.
TEST(PairTensors, WhatOnlyAQuantiserReadsMeetsBehindIt) {
  const auto reference = Shared(Named("Relu", "x", "a") + Named("Relu", "a", "y"));
  const std::string quantised = Named("Conv", "x", "a") + Named("QuantizeLinear", "a", "q") +
                                Named("DequantizeLinear", "q", "d") + Named("Relu", "d", "y");
  const BlameGraph candidate = *BlameGraph::Make(Shared(quantised));
  const TensorPairs pairs = PairTensors(reference.get(), {}, candidate);
  EXPECT_EQ(pairs.Find("a"), nullptr);
  ASSERT_NE(pairs.Find("d"), nullptr);
  EXPECT_EQ(*pairs.Find("d"), "a");
  const std::vector<std::string> saved = {"a", "y"};
  EXPECT_NE(PairTensors(nullptr, saved, candidate).Find("d"), nullptr);
  const std::vector<std::string> with_steps = {"a", "q", "y"};
  EXPECT_NE(PairTensors(nullptr, with_steps, candidate).Find("a"), nullptr);
}

TEST(PairTensors, QuantisedTensorsOfBothSidesMeetByName) {
  const std::string graph = Named("QuantizeLinear", "x", "q") + Named("DequantizeLinear", "q", "y");
  const auto reference = Shared(graph);
  const BlameGraph candidate = *BlameGraph::Make(Shared(graph));
  EXPECT_NE(PairTensors(reference.get(), {}, candidate).Find("q"), nullptr);
  const std::vector<std::string> saved = {"q"};
  EXPECT_NE(PairTensors(nullptr, saved, candidate).Find("q"), nullptr);
}

TEST(PairTensors, SavedNamesAreEnough) {
  const std::vector<std::string> saved = {"b", "nosuch"};
  const BlameGraph candidate = *BlameGraph::Make(Chain());
  const TensorPairs pairs = PairTensors(nullptr, saved, candidate);
  EXPECT_EQ(pairs.reference.size(), 1U);
  ASSERT_NE(pairs.Find("b"), nullptr);
}

// A backend that computes something else unless one of `cures` is exposed.
struct Fused {
  std::vector<std::string> cures;
  int trials = 0;

  ProbeTrial Trial() {
    return [this](const std::vector<std::string>& probes) -> Result<double> {
      ++trials;
      const bool cured = std::any_of(probes.begin(), probes.end(), [&](const std::string& probe) {
        return std::find(cures.begin(), cures.end(), probe) != cures.end();
      });
      return cured ? 0.1 : 40.0;
    };
  }
};

std::shared_ptr<const OnnxModel> LongChain(int length, std::vector<std::string>& tensors) {
  std::string graph, before = "x";
  for (int i = 0; i < length; ++i) {
    const std::string name = "t" + std::to_string(i);
    graph += Named("Relu", before, name);
    tensors.push_back(name);
    before = name;
  }
  return Shared(graph + Field(11, Value("x")) + Field(12, Value(before)));
}

TEST(SearchDisturbance, FindsTheProbeThatCuresAndTheNodesAroundIt) {
  std::vector<std::string> tensors;
  const BlameGraph graph = *BlameGraph::Make(LongChain(1000, tensors));
  Fused fused{{"t700"}};
  DisturbanceRecord record;
  record.plain_error = 40;
  ASSERT_TRUE(SearchDisturbance(graph, tensors, fused.Trial(), record).ok());
  EXPECT_EQ(record.effect, "cures");
  EXPECT_THAT(record.probes, ElementsAre("t700"));
  EXPECT_THAT(record.region, ElementsAre("n_t700", "n_t701"));
  EXPECT_LT(fused.trials, 20);
}

TEST(SearchDisturbance, TheRegionIsAllThatCuresAlone) {
  std::vector<std::string> tensors;
  const BlameGraph graph = *BlameGraph::Make(LongChain(100, tensors));
  Fused fused{{"t40", "t41"}};
  DisturbanceRecord record;
  record.plain_error = 40;
  ASSERT_TRUE(SearchDisturbance(graph, tensors, fused.Trial(), record).ok());
  EXPECT_THAT(record.region, ElementsAre("n_t40", "n_t41", "n_t42"));
}

TEST(SearchDisturbance, TwoFusionsNeedTwoProbes) {
  std::vector<std::string> tensors;
  const BlameGraph graph = *BlameGraph::Make(LongChain(64, tensors));
  const ProbeTrial trial = [](const std::vector<std::string>& probes) -> Result<double> {
    const auto has = [&](const char* name) {
      return std::find(probes.begin(), probes.end(), name) != probes.end();
    };
    return has("t10") && has("t50") ? 0.5 : 9.0;
  };
  DisturbanceRecord record;
  record.plain_error = 9;
  ASSERT_TRUE(SearchDisturbance(graph, tensors, trial, record).ok());
  EXPECT_THAT(record.probes, ElementsAre("t10", "t50"));
}

TEST(SearchDisturbance, NamesNobodyWhereNoSmallSetHasTheEffect) {
  std::vector<std::string> tensors;
  const BlameGraph graph = *BlameGraph::Make(LongChain(64, tensors));
  const ProbeTrial trial = [](const std::vector<std::string>& probes) -> Result<double> {
    return probes.size() > 20 ? 0.5 : 9.0;
  };
  DisturbanceRecord record;
  record.plain_error = 9;
  record.probed_error = 0.5;
  ASSERT_TRUE(SearchDisturbance(graph, tensors, trial, record).ok());
  EXPECT_THAT(record.probes, IsEmpty());
  EXPECT_THAT(record.region, IsEmpty());
  EXPECT_THAT(record.finding, HasSubstr("No small set"));
}

TEST(SearchDisturbance, ProbesThatCauseTheFault) {
  std::vector<std::string> tensors;
  const BlameGraph graph = *BlameGraph::Make(LongChain(64, tensors));
  const ProbeTrial trial = [](const std::vector<std::string>& probes) -> Result<double> {
    return std::find(probes.begin(), probes.end(), "t3") != probes.end() ? 7.0 : 0.2;
  };
  DisturbanceRecord record;
  record.plain_error = 0.2;
  record.probed_error = 7;
  ASSERT_TRUE(SearchDisturbance(graph, tensors, trial, record).ok());
  EXPECT_EQ(record.effect, "causes");
  EXPECT_THAT(record.probes, ElementsAre("t3"));
}

}  // namespace
}  // namespace vernier
