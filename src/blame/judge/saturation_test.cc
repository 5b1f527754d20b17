#include "blame/judge/saturation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "blame/judge/layer_for_test.h"

namespace vernier {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr double kInfinite = std::numeric_limits<double>::infinity();

// Of 4 elements 2 are beyond float16.
BlameLayerRecord Masked(const std::string& name, const std::string& input, int64_t infinite = 2) {
  BlameLayerRecord layer = LayerForTest(name, input, kInfinite, kInfinite);
  BlameTensorRecord& tensor = layer.outputs[0];
  tensor.dtype = "float16";
  tensor.reference_dtype = "float32";
  tensor.reference.elements = tensor.candidate.elements = 4;
  tensor.reference.float16_overflow = 0.5;
  tensor.candidate.infinite_count = infinite;
  return layer;
}

TEST(SaturationTest, AMaskThatASoftmaxTakesIsRounding) {
  std::vector<BlameLayerRecord> layers = {Masked("mask", "x"), Masked("add", "mask_out"),
                                          LayerForTest("softmax", "add_out", 0.4, 0.2)};
  EXPECT_THAT(ExcuseSaturation({"softmax_out"}, layers), ElementsAre("mask_out", "add_out"));
  EXPECT_EQ(layers[0].total_error, 0);
  EXPECT_EQ(layers[1].own_error, 0);
  EXPECT_EQ(layers[2].total_error, 0.4);
  EXPECT_THAT(ExcuseSaturation({"softmax_out"}, layers), IsEmpty()) << "it is done";
}

TEST(SaturationTest, WhatShowsBehindItIsNone) {
  std::vector<BlameLayerRecord> layers = {Masked("sum", "x"),
                                          LayerForTest("root", "sum_out", kInfinite, kInfinite)};
  EXPECT_THAT(ExcuseSaturation({"root_out"}, layers), IsEmpty());
  EXPECT_EQ(layers[0].total_error, kInfinite);
  layers[1] = LayerForTest("root", "sum_out", 40, 0.2);
  EXPECT_THAT(ExcuseSaturation({"root_out"}, layers), IsEmpty());
  layers[1] = LayerForTest("root", "sum_out", 0.4, 0.2);
  EXPECT_THAT(ExcuseSaturation({"root_out", "sum_out"}, layers), IsEmpty()) << "it is handed out";
  layers.pop_back();
  EXPECT_THAT(ExcuseSaturation({"root_out"}, layers), IsEmpty()) << "nobody is known to read it";
}

// As of -inf that a Cast makes -3.4e38, which a Softmax takes for zero as well.
TEST(SaturationTest, AnInfinityThatACastCutsOffIsRounding) {
  const auto cast = [](double largest, int64_t beyond) {
    BlameLayerRecord layer = LayerForTest("cast", "x", kInfinite, kInfinite);
    BlameTensorRecord& tensor = layer.outputs[0];
    tensor.dtype = "float64";
    tensor.reference.elements = tensor.candidate.elements = 4;
    tensor.reference.infinite_count = 2;
    tensor.candidate.float16_overflow = static_cast<double>(beyond) / 4;
    tensor.candidate.largest = largest;
    return std::vector<BlameLayerRecord>{layer, LayerForTest("softmax", "cast_out", 0.4, 0.2)};
  };
  constexpr double kLargest = std::numeric_limits<float>::max();
  for (const auto& [layers, excused] :
       {std::pair(cast(kLargest, 2), 1), std::pair(cast(1e38, 2), 0),
        std::pair(cast(kLargest, 3), 0)}) {
    std::vector<BlameLayerRecord> judged = layers;
    EXPECT_EQ(ExcuseSaturation({"softmax_out"}, judged).size(), excused);
  }
}

TEST(SaturationTest, OtherInfinitiesAreErrors) {
  std::vector<BlameLayerRecord> layers = {Masked("mask", "x", 3),
                                          LayerForTest("softmax", "mask_out", 0.4, 0.2)};
  EXPECT_THAT(ExcuseSaturation({"softmax_out"}, layers), IsEmpty()) << "one more than is beyond";
  layers[0] = Masked("mask", "x");
  layers[0].outputs[0].dtype = "float32";
  EXPECT_THAT(ExcuseSaturation({"softmax_out"}, layers), IsEmpty()) << "float32 holds them";
}

}  // namespace
}  // namespace vernier
