#include "blame/judge/amplified_rounding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "blame/judge/layer_for_test.h"

namespace vernier {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

TEST(EaseTotals, ANodeThatAmplifiesAndItsHeirs) {
  std::vector<BlameLayerRecord> layers = {LayerForTest("mean", "x", 400, 300),
                                          LayerForTest("b", "mean_out", 40, 0),
                                          LayerForTest("c", "x", 5, 0.1)};
  EaseMadeErrors(std::vector<double>{1000}, false, layers[0]);
  EXPECT_EQ(layers[0].own_error, 0.3);
  EXPECT_EQ(layers[0].outputs[0].own_error, 0.3);
  AmplifiedTensors amplified;
  EaseTotals(layers, amplified);
  EXPECT_EQ(layers[0].total_error, 0.4);
  EXPECT_DOUBLE_EQ(layers[0].outputs[0].total_bound, 1e-3);
  EXPECT_THAT(layers[0].outputs[0].bound_why, HasSubstr("for a condition number of 1e+03"));
  EXPECT_EQ(layers[1].total_error, 0.04);
  EXPECT_THAT(layers[1].outputs[0].bound_why, HasSubstr("after a condition number"));
  EXPECT_EQ(layers[2].total_error, 5) << "it reads nothing that is amplified";
  EXPECT_THAT(amplified,
              testing::UnorderedElementsAre(Pair("mean_out", 1000), Pair("b_out", 1000)));
}

TEST(EaseTotals, AnErrorOfItsOwnIsNotInherited) {
  std::vector<BlameLayerRecord> layers = {LayerForTest("b", "mean_out", 40, 2)};
  AmplifiedTensors amplified = {{"mean_out", 1000}};
  EaseTotals(layers, amplified);
  EXPECT_EQ(layers[0].total_error, 40);
  EXPECT_THAT(amplified, ElementsAre(Pair("mean_out", 1000)));
}

// A mean that cancels exactly as the reference's does says nothing of what comes behind.
TEST(EaseTotals, WhatIsWithinItsBoundAmplifiesNothing) {
  std::vector<BlameLayerRecord> layers = {LayerForTest("mean", "x", 0.5, 300)};
  EaseMadeErrors(std::vector<double>{1000}, false, layers[0]);
  AmplifiedTensors amplified;
  EaseTotals(layers, amplified);
  EXPECT_THAT(amplified, IsEmpty());
}

// As an If with an ill-conditioned scalar beside a state.
BlameLayerRecord LayerOfTwoOutputs() {
  BlameLayerRecord layer = LayerForTest("if", "x", 18, 18);
  layer.outputs.push_back(LayerForTest("state", "x", 17, 17).outputs[0]);
  return layer;
}

TEST(EaseMadeErrors, AnIllConditionedOutputDoesNotExcuseTheOther) {
  std::vector<BlameLayerRecord> layers = {LayerOfTwoOutputs(), LayerForTest("a", "if_out", 18, 0),
                                          LayerForTest("b", "state_out", 17, 0)};
  EXPECT_THAT(MadeErrors(layers[0], false), ElementsAre(18, 17));
  EaseMadeErrors(std::vector<double>{30, 1}, false, layers[0]);
  EXPECT_EQ(layers[0].own_error, 17);
  EXPECT_EQ(layers[0].condition, 30);
  EXPECT_EQ(layers[0].outputs[0].own_error, 0.6);
  EXPECT_EQ(layers[0].outputs[1].own_error, 17);
  EXPECT_EQ(layers[0].outputs[1].own_bound, 1e-6);
  AmplifiedTensors amplified;
  EaseTotals(layers, amplified);
  EXPECT_EQ(layers[0].total_error, 17);
  EXPECT_EQ(layers[0].outputs[1].total_bound, 1e-6);
  EXPECT_EQ(layers[1].total_error, 0.6);
  EXPECT_EQ(layers[2].total_error, 17) << "what it reads is not amplified";
  EXPECT_THAT(amplified, testing::UnorderedElementsAre(Pair("if_out", 30), Pair("a_out", 30)));
}

TEST(EaseMadeErrors, EachOutputHasItsOwnConditionNumber) {
  std::vector<BlameLayerRecord> layers = {LayerOfTwoOutputs()};
  EaseMadeErrors(std::vector<double>{36, 34}, false, layers[0]);
  EXPECT_EQ(layers[0].own_error, 0.5);
  AmplifiedTensors amplified;
  EaseTotals(layers, amplified);
  EXPECT_EQ(layers[0].total_error, 0.5);
  EXPECT_THAT(amplified, testing::UnorderedElementsAre(Pair("if_out", 36), Pair("state_out", 34)));
}

TEST(EaseMadeErrors, AnErrorWithoutBoundStaysAndHidesNoOther) {
  BlameLayerRecord layer = LayerOfTwoOutputs();
  layer.own_error = layer.outputs[1].own_error = std::numeric_limits<double>::infinity();
  EaseMadeErrors(std::vector<double>{36, 1}, false, layer);
  EXPECT_EQ(layer.outputs[0].own_error, 0.5);
  EXPECT_EQ(layer.own_error, std::numeric_limits<double>::infinity());
}

// Of an output that reads what is amplified, while its neighbour is itself.
TEST(EaseTotals, AnOutputInheritsBesideOneThatAmplifies) {
  std::vector<BlameLayerRecord> layers = {LayerOfTwoOutputs()};
  layers[0].inputs = {"mean_out"};
  layers[0].outputs[1].own_error = 0.1;
  EaseMadeErrors(std::vector<double>{36, 1}, false, layers[0]);
  AmplifiedTensors amplified = {{"mean_out", 1000}};
  EaseTotals(layers, amplified);
  EXPECT_EQ(layers[0].outputs[0].total_error, 0.5);
  EXPECT_EQ(layers[0].outputs[1].total_error, 0.017);
  EXPECT_EQ(layers[0].condition, 1000);
}

TEST(EaseMadeErrors, TheErrorWithinTheModelBelongsToTheFusion) {
  BlameLayerRecord layer = LayerForTest("relu", "x", 30, 0.5);
  layer.fused = {"conv", "relu"};
  layer.fused_error = layer.outputs[0].fused_error = 2;
  layer.in_place_error = layer.outputs[0].in_place_error = 20;
  EXPECT_THAT(MadeErrors(layer, false), ElementsAre(0.5));
  EXPECT_THAT(MadeErrors(layer, true), ElementsAre(20));
  EaseMadeErrors(std::vector<double>{100}, true, layer);
  EXPECT_EQ(layer.own_error, 0.5);
  EXPECT_EQ(layer.fused_error, 0.02);
  EXPECT_EQ(layer.in_place_error, 0.2);
}

}  // namespace
}  // namespace vernier
