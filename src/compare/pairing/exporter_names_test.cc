#include "compare/pairing/exporter_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vernier {
namespace {

using testing::ElementsAre;

TEST(PlainTensorName, DropsOutputNumbersAndScopes) {
  EXPECT_EQ(PlainTensorName("x"), "x");
  EXPECT_EQ(PlainTensorName("conv1/Relu:0"), "conv1/Relu");
  EXPECT_EQ(PlainTensorName("StatefulPartitionedCall/StatefulPartitionedCall/model_1/conv/Relu:0"),
            "conv/Relu");
  EXPECT_EQ(PlainTensorName("functional_1_2/dense/BiasAdd"), "functional_1_2/dense/BiasAdd");
  EXPECT_EQ(PlainTensorName("sequential/dense/BiasAdd"), "dense/BiasAdd");
  // A model may have a layer of that name alone.
  EXPECT_EQ(PlainTensorName("model"), "model");
  EXPECT_EQ(PlainTensorName("StatefulPartitionedCall:1"), "StatefulPartitionedCall");
}

TEST(PlainTensorName, TakesTheFirstOfWhatWasMerged) {
  EXPECT_EQ(PlainTensorName("model_1/conv/Relu;model_1/conv/Relu;model_1/conv/BiasAdd"),
            "conv/Relu");
}

TEST(PlainTensorNames, AreThoseOfAllThatWasMergedEachOnce) {
  EXPECT_THAT(PlainTensorNames("model_1/relu/Relu;model_1/relu/Relu;model_1/conv/BiasAdd;"
                               "model_1/conv/BiasAdd;model_1/conv/Conv2D__4:0"),
              ElementsAre("relu/Relu", "conv/BiasAdd", "conv/Conv2D__4"));
  EXPECT_THAT(PlainTensorNames("/fc1/Gemm_output_0"), ElementsAre("fc1"));
  EXPECT_THAT(PlainTensorNames("a;;b;"), ElementsAre("a", "b"));
  EXPECT_THAT(PlainTensorNames(";"), ElementsAre(";"));
  EXPECT_THAT(PlainTensorNames(""), ElementsAre(""));
}

TEST(PlainTensorName, KnowsThePathsOfModules) {
  EXPECT_EQ(PlainTensorName("/layer1/layer1.0/conv1/Conv_output_0"), "layer1.0.conv1");
  EXPECT_EQ(PlainTensorName("/fc1/Gemm_output_0"), "fc1");
  EXPECT_EQ(PlainTensorName("layer1.0.conv1"), "layer1.0.conv1");
  // No module around it.
  EXPECT_EQ(PlainTensorName("/Relu_output_0"), "Relu_output_0");
}

TEST(PlainTensorName, IsNeverEmpty) {
  EXPECT_EQ(PlainTensorName("/"), "/");
  EXPECT_EQ(PlainTensorName(";"), ";");
  EXPECT_EQ(PlainTensorName(":0"), ":0");
  EXPECT_EQ(PlainTensorName(""), "");
}

}  // namespace
}  // namespace vernier
