#include "model/rounding/value_growth.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/rounding/error_test_graphs.h"

namespace vernier {
namespace {

using namespace testing_model;

TEST(ValueGrowthTest, WhatAChannelsOffsetTakesAwayLeavesItsErrors) {
  const std::string graph =
      Linear(64) + Do("BatchNormalization", {"y", "scale", "offset", "mean", "variance"}, "n");
  // Of slope 1: the root mean squares are 100.13 before and 0.75 behind.
  EXPECT_NEAR(RatioSeen(graph, "n", {{"y", {100, 101, 99, 100.5F}}, {"n", {0, 1, -1, 0.5F}}}),
              133.5, 0.5);
  EXPECT_LT(RatioSeen(graph, "n", {{"y", {100, 100, 100}}, {"n", {1e-3F, 1e-3F, 1e-3F}}}), 3)
      << "what does not vary shows no slope";
}

// Expected are root(sum w^2 x^2) over the output's root mean square; the sum's own rounding adds 1
// %.
TEST(ValueGrowthTest, SumsThatCancelHaveTheErrorsOfTheirProducts) {
  const std::string product =
      Linear(64) + WeightOf("v", {2, 1}, {0.01F, -1}) + Do("MatMul", {"y", "v"}, "p");
  EXPECT_NEAR(RatioSeen(product, "p", {{"y", {110, 1}}, {"p", {0.1F}}}), 14.9, 0.3);
  const std::string turned = Linear(64) + WeightOf("v", {2, 2}, {0.01F, -1, 0, 1}) +
                             Do("Gemm", {"y", "v"}, "p", Attribute("transB", 1));
  EXPECT_NEAR(RatioSeen(turned, "p", {{"y", {110, 1}}, {"p", {0.01F, 0.1F}}}), 17.8, 0.4);
  const std::string apart = Linear(64) + WeightOf("v", {2, 1, 1}, {0.01F, -1}) +
                            Do("Conv", {"y", "v"}, "p", Attribute("group", 2));
  const Dims channels = {1, 2, 1};
  EXPECT_NEAR(RatioSeen(apart, "p", {{"y", {110, 1}, channels}, {"p", {0.11F, -0.1F}, channels}}),
              10, 0.3);
}

TEST(ValueGrowthTest, AHardSigmoidPassesOnErrorsWhereItIsNotCutOff) {
  const std::vector<SeenTensor> values = {{"y", {-10, -2.4F, -2.4F, -2.4F}},
                                          {"h", {0, 0.02F, 0.02F, 0.02F}}};
  // 5.415 times 0.2 root(3/4) over 0.01732.
  EXPECT_NEAR(RatioSeen(Linear(64) + Do("HardSigmoid", {"y"}, "h"), "h", values), 54.2, 0.3);
  const std::string alpha =
      Field(5, Field(1, "alpha") + std::string("\x15\xcd\xcc\xcc\x3d", 5) + Number(20, 1));  // 0.1
  EXPECT_NEAR(RatioSeen(Linear(64) + Do("HardSigmoid", {"y"}, "h", alpha), "h", values), 27.1, 0.3);
}

TEST(ValueGrowthTest, APoolOfMaximaHasTheErrorsOfItsInput) {
  const std::string graph = Linear(64) + Do("MaxPool", {"y"}, "m");
  EXPECT_NEAR(RatioSeen(graph, "m", {{"y", {-7, -7, -7, 1}}, {"m", {1}}}), 6.083, 0.01);
}

TEST(ValueGrowthTest, TheExtremeOfManyIsPickedForItsErrorToo) {
  const std::string graph = Linear(64) + Do("ReduceMin", {"y"}, "m");
  // root(2 ln 2000)
  EXPECT_NEAR(RatioSeen(graph, "m", {{"y", std::vector<float>(1000, 1)}, {"m", {1}}}), 3.899, 0.01);
}

}  // namespace
}  // namespace vernier
