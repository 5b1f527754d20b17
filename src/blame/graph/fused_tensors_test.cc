#include "blame/graph/fused_tensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/onnx/onnx_test_model.h"

namespace vernier {
namespace {

using testing::IsEmpty;
using testing::UnorderedElementsAre;
using testing::UnorderedElementsAreArray;
using testing_model::Field;
using testing_model::Node;
using testing_model::Shared;
using testing_model::Value;

std::string Named(std::string_view op, std::initializer_list<std::string_view> inputs,
                  std::string_view output, std::string_view name) {
  return Field(1, Node(op, inputs, {output}, Field(3, name)));
}

// Conv and Relu; Conv, the shortcut's Add and Relu; a pool; all of it named n_ and the tensor.
BlameGraph Network() {
  return *BlameGraph::Make(
      Shared(Named("Conv", {"x", "w"}, "c1", "n_c1") + Named("Relu", {"c1"}, "r1", "n_r1") +
             Named("Conv", {"r1", "w"}, "c2", "n_c2") + Named("Add", {"c2", "r1"}, "a2", "n_a2") +
             Named("Relu", {"a2"}, "r2", "n_r2") + Named("GlobalAveragePool", {"r2"}, "y", "n_y") +
             Field(11, Value("x")) + Field(11, Value("w")) + Field(12, Value("y"))));
}

TEST(FusedAwayIn, TensorsThatNoNodeMakesAnyMore) {
  const auto optimised =
      Shared(Named("FusedConv", {"x", "w"}, "r1", "n_c1") +
             Named("Conv", {"r1", "w"}, "c2", "n_c2") + Named("Add", {"c2", "r1"}, "a2", "n_a2") +
             Named("Relu", {"a2"}, "r2", "n_r2") + Named("GlobalAveragePool", {"r2"}, "y", "n_y"));
  EXPECT_THAT(FusedAwayIn(*optimised, Network()), UnorderedElementsAre("c1"));
}

TEST(FusedAwayIn, NodesOfTheRuntimesOwnLayoutStandForWhatTheyEndWith) {
  const auto optimised = Shared(Named("Conv", {"x", "w"}, "reorder_1", "r1_nchwc") +
                                Named("Conv", {"reorder_1", "w"}, "reorder_2", "c2_nchwc_token_3") +
                                Named("GlobalAveragePool", {"reorder_2"}, "y", "n_y"));
  EXPECT_THAT(FusedAwayIn(*optimised, Network()), UnorderedElementsAre("c1", "c2", "a2"));
}

// Whichever of them is looked at first.
TEST(FusedAwayIn, ChainsBehindOneAnotherEndBeforeTheNextBegins) {
  std::string nodes, optimised;
  std::vector<std::string> sums;
  std::string tip = "x";
  for (int i = 0; i < 12; ++i) {
    const std::string sum = "c" + std::to_string(i), rectified = "r" + std::to_string(i);
    nodes += Named("Conv", {tip, "w"}, sum, "n_" + sum);
    nodes += Named("Relu", {sum}, rectified, "n_" + rectified);
    optimised += Named("Conv", {"at" + tip, "w"}, "at" + rectified, sum + "_nchwc");
    sums.push_back(sum);
    tip = rectified;
  }
  const BlameGraph graph = *BlameGraph::Make(
      Shared(nodes + Named("GlobalAveragePool", {tip}, "y", "n_y") + Field(11, Value("x")) +
             Field(11, Value("w")) + Field(12, Value("y"))));
  optimised += Named("GlobalAveragePool", {"at" + tip}, "y", "n_y");
  EXPECT_THAT(FusedAwayIn(*Shared(optimised), graph), UnorderedElementsAreArray(sums));
}

TEST(FusedAwayIn, TensorsOfALongerTypeHaveOtherNames) {
  const auto optimised =
      Shared(Named("Conv", {"x", "w"}, "reorder_1", "InsertedPrecisionFreeCast_r1_nchwc") +
             Named("ReorderOutput", {"reorder_1"}, "InsertedPrecisionFreeCast_r1", "back") +
             Named("Conv", {"r1", "w"}, "InsertedPrecisionFreeCast_c2", "n_c2") +
             Named("Add", {"c2", "r1"}, "InsertedPrecisionFreeCast_a2", "n_a2") +
             Named("Relu", {"a2"}, "r2", "n_r2") + Named("GlobalAveragePool", {"r2"}, "y", "n_y"));
  EXPECT_THAT(FusedAwayIn(*optimised, Network()), UnorderedElementsAre("c1"));
}

TEST(FusedAwayIn, ResultsAreNeverGone) {
  EXPECT_THAT(FusedAwayIn(*Shared(Named("Mine", {"x", "w"}, "other", "all")), Network()),
              UnorderedElementsAre("c1", "r1", "c2", "a2", "r2"));
}

TEST(FusedAwayByKernels, KernelsNamedForTheirFirstNode) {
  const std::vector<LayerTime> kernels = {{"n_c1/WithoutBiases", "Convolution", 1},
                                          {"n_c2/WithoutBiases", "Convolution", 1},
                                          {"x_abcd_acdb_n_c1", "Reorder", 1},
                                          {"n_y", "Reduce", 1}};
  EXPECT_THAT(FusedAwayByKernels(kernels, Network()), UnorderedElementsAre("c1", "c2", "a2"));
}

TEST(FusedAwayByKernels, KernelsNamedForTheirLastNode) {
  const BlameGraph graph = *BlameGraph::Make(
      Shared(Named("MatMul", {"x", "w"}, "m", "n_m") + Named("Add", {"m", "b"}, "s", "n_s") +
             Named("Mul", {"s", "s"}, "q", "n_q") + Named("Add", {"q", "s"}, "y", "n_y") +
             Field(11, Value("x")) + Field(11, Value("w")) + Field(11, Value("b")) +
             Field(12, Value("y"))));
  const std::vector<LayerTime> kernels = {{"n_s", "FullyConnected", 1}, {"n_y", "Subgraph", 1}};
  EXPECT_THAT(FusedAwayByKernels(kernels, graph), UnorderedElementsAre("m", "q"));
}

// Two kernels that could take the same sum along are told of in the order of their times.
TEST(FusedAwayByKernels, TimesDoNotDecide) {
  const BlameGraph graph = *BlameGraph::Make(
      Shared(Named("Conv", {"x", "w"}, "a", "n_a") + Named("Conv", {"x", "w"}, "b", "n_b") +
             Named("Add", {"a", "b"}, "s", "n_s") + Named("Softmax", {"s"}, "y", "n_y") +
             Field(11, Value("x")) + Field(11, Value("w")) + Field(12, Value("y"))));
  const LayerTime a{"n_a", "Convolution", 1}, b{"n_b", "Convolution", 1}, y{"n_y", "Softmax", 1};
  EXPECT_THAT(FusedAwayByKernels(std::vector{a, b, y}, graph), UnorderedElementsAre("a"));
  EXPECT_THAT(FusedAwayByKernels(std::vector{b, a, y}, graph), UnorderedElementsAre("a"));
}

TEST(FusedAwayByKernels, KernelsThatListTheirNodes) {
  const std::vector<LayerTime> kernels = {
      {"n_c1/WithoutBiases + n_c1/WithoutBiases + n_c1 + n_r1", "Convolution", 0},
      {"n_c2/WithoutBiases + n_c2/WithoutBiases + n_c2", "Convolution", 0},
      {"n_a2 + n_a2 + n_r2", "Eltwise", 0},
      {"n_y + n_y", "Reduce", 0}};
  EXPECT_THAT(FusedAwayByKernels(kernels, Network()), UnorderedElementsAre("c1", "a2"));
}

TEST(FusedAwayByKernels, ASumThatNoListHasJoinsTheBiasThatReadsIt) {
  const BlameGraph graph = *BlameGraph::Make(
      Shared(Named("MatMul", {"x", "w"}, "m", "n_m") + Named("Add", {"m", "b"}, "s", "n_s") +
             Named("Softplus", {"s"}, "p", "n_p") + Named("Add", {"p", "x"}, "y", "n_y") +
             Field(11, Value("x")) + Field(11, Value("w")) + Field(11, Value("b")) +
             Field(12, Value("y"))));
  // A result has its tensor's name.
  const std::vector<LayerTime> kernels = {{"n_s + n_s + n_p", "FullyConnected", 0},
                                          {"y + y", "Subgraph", 0}};
  EXPECT_THAT(FusedAwayByKernels(kernels, graph), UnorderedElementsAre("m", "s"));
}

TEST(FusedAwayByKernels, WhatNothingIsToldOfStays) {
  EXPECT_THAT(FusedAwayByKernels({}, Network()), IsEmpty());
  const std::vector<LayerTime> kernels = {{"n_c1", "Convolution", 1}, {"n_r1", "Eltwise", 1},
                                          {"n_c2", "Convolution", 1}, {"n_a2", "Eltwise", 1},
                                          {"n_r2", "Eltwise", 1},     {"n_y", "Reduce", 1}};
  EXPECT_THAT(FusedAwayByKernels(kernels, Network()), IsEmpty());
}

TEST(FusedAwayByLists, NamesOfAllNodes) {
  const std::vector<LayerTime> kernels = {
      {"n_c1 + n_r1", "layer", 0},
      {"n_c2 + PWN(n_a2, n_r2)", "layer", 0},
      {"Reformatting CopyNode for Input Tensor 0 to n_y", "layer", 0},
      {"n_y", "layer", 0}};
  EXPECT_THAT(FusedAwayByLists(kernels, Network()), UnorderedElementsAre("c1", "c2", "a2"));
  const std::vector<LayerTime> nested = {{"PWN(PWN(n_a2), n_r2)", "layer", 0}};
  EXPECT_THAT(FusedAwayByLists(nested, Network()), UnorderedElementsAre("a2"));
  const std::vector<LayerTime> region = {{"{ForeignNode[n_c1...n_r2]}", "layer", 0}};
  EXPECT_THAT(FusedAwayByLists(region, Network()), IsEmpty());
}

TEST(FusionQuestion, OnlyForRuntimesThatTell) {
  const BlameGraph graph = Network();
  BackendInfo backend;
  backend.options = {{"layer_times", "path", "", "", {}, {}, OptionRole::kLayerTimes}};
  EXPECT_FALSE(*FusionQuestion::Make(backend, graph.model()));
  backend.options.push_back({"nodes", "path", "", "", {}, {}, OptionRole::kLayerNodes});
  const auto made = FusionQuestion::Make(backend, graph.model());
  ASSERT_TRUE(made.ok() && made->has_value());
  const FusionQuestion& question = **made;
  ASSERT_EQ(question.options().size(), 1U);
  EXPECT_EQ(question.options()[0].first, "nodes");
  // Nothing was written: nothing is known.
  EXPECT_THAT(*question.FusedAway(graph), IsEmpty());
}

}  // namespace
}  // namespace vernier
