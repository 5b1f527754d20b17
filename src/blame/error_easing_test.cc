#include "blame/error_easing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "blame/layer_for_test.h"

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
  EaseMadeError(1000, false, layers[0]);
  EXPECT_EQ(layers[0].own_error, 0.3);
  EXPECT_EQ(layers[0].outputs[0].own_error, 0.3);
  AmplifiedTensors amplified;
  EaseTotals(layers, amplified);
  EXPECT_EQ(layers[0].total_error, 0.4);
  EXPECT_DOUBLE_EQ(layers[0].outputs[0].total_bar, 1e-3);
  EXPECT_THAT(layers[0].outputs[0].bar_why, HasSubstr("for a condition number of 1e+03"));
  EXPECT_EQ(layers[1].total_error, 0.04);
  EXPECT_THAT(layers[1].outputs[0].bar_why, HasSubstr("after a condition number"));
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
TEST(EaseTotals, WhatIsWithinItsBarAmplifiesNothing) {
  std::vector<BlameLayerRecord> layers = {LayerForTest("mean", "x", 0.5, 300)};
  EaseMadeError(1000, false, layers[0]);
  AmplifiedTensors amplified;
  EaseTotals(layers, amplified);
  EXPECT_THAT(amplified, IsEmpty());
}

TEST(EaseMadeError, TheErrorWithinTheModelBelongsToTheFusion) {
  BlameLayerRecord layer = LayerForTest("relu", "x", 30, 0.5);
  layer.fused = {"conv", "relu"};
  layer.fused_error = 2;
  layer.in_place_error = 20;
  EXPECT_EQ(MadeError(layer, false), 0.5);
  EXPECT_EQ(MadeError(layer, true), 20);
  EaseMadeError(100, true, layer);
  EXPECT_EQ(layer.own_error, 0.5);
  EXPECT_EQ(layer.fused_error, 0.02);
  EXPECT_EQ(layer.in_place_error, 0.2);
}

}  // namespace
}  // namespace vernier
