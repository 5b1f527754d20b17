#include "blame/sides/foreign_pairs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "model/onnx/onnx_test_model.h"

namespace vernier {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing_model::Field;
using testing_model::Node;
using testing_model::Shared;
using testing_model::Value;

Tensor FloatTensor(Dims dims, const std::vector<float>& values) {
  return *Tensor::Copy(DType::kFloat32, std::move(dims), std::as_bytes(std::span(values)));
}

// Values that look like no other's.
std::vector<float> Wave(double pitch, size_t count = 24) {
  std::vector<float> values;
  for (size_t i = 0; i < count; ++i) {
    values.push_back(static_cast<float>(std::sin(pitch * static_cast<double>(i * i + 1))));
  }
  return values;
}

std::vector<float> Scaled(std::vector<float> values, float above, float below) {
  for (float& value : values) value *= value > 0 ? above : below;
  return values;
}

// x -> a -> b -> c -> y, each by a node of its own.
class PairForeignTensorsTest : public testing::Test {
 protected:
  static BlameGraph Chain(std::string_view second = "Conv", std::string_view b = "b",
                          std::string_view c = "c") {
    return *BlameGraph::Make(
        Shared(Field(1, Node("Conv", {"x"}, {"a"})) + Field(1, Node(second, {"a"}, {b})) +
               Field(1, Node("Tanh", {b}, {c})) + Field(1, Node("Conv", {c}, {"y"})) +
               Field(11, Value("x")) + Field(12, Value("y"))));
  }

  // What is behind "b" is wrong, too.
  void SpoilFromB(std::string_view name, const std::vector<float>& values) {
    candidate_[1] = {std::string(name), FloatTensor({1, 24}, values)};
    candidate_[2].tensor = FloatTensor({1, 24}, Wave(2.3));
    candidate_[3].tensor = FloatTensor({1, 24}, Wave(2.9));
  }

  // "a=first value, b=second value".
  static std::string Told(const ForeignPairs& found) {
    std::string text;
    for (const ForeignPair& pair : found.pairs) {
      text += (text.empty() ? "" : ", ") + std::string(pair.candidate) + "=" + pair.reference +
              " " + std::string(ForeignMatchName(pair.how));
    }
    return text;
  }

  ForeignPairs Pairs(const BlameGraph& graph) const {
    return PairForeignTensors({graph, candidate_, reference_, outputs_});
  }

  TensorMap candidate_ = {{"a", FloatTensor({1, 24}, Wave(0.3))},
                          {"b", FloatTensor({1, 24}, Wave(0.7))},
                          {"c", FloatTensor({1, 24}, Wave(1.1))},
                          {"y", FloatTensor({1, 24}, Wave(1.9))}};
  TensorMap reference_ = {{"first:0", FloatTensor({24}, Wave(0.3))},
                          {"second:0", FloatTensor({24}, Wave(0.7))},
                          {"third:0", FloatTensor({24}, Wave(1.1))},
                          {"last:0", FloatTensor({24}, Wave(1.9))}};
  std::map<std::string, std::string> outputs_ = {{"y", "last:0"}};
};

TEST_F(PairForeignTensorsTest, ValuesPairWhateverTheNames) {
  const BlameGraph graph = Chain();
  const ForeignPairs found = Pairs(graph);
  EXPECT_EQ(Told(found), "a=first:0 value, b=second:0 value, c=third:0 value, y=last:0 output");
  EXPECT_THAT(found.candidate_alone, IsEmpty());
  EXPECT_THAT(found.reference_alone, IsEmpty());
  EXPECT_EQ(found.pairs[0].layout.Apply(reference_[0].tensor)->dims(), (Dims{1, 24}));
}

TEST_F(PairForeignTensorsTest, EqualPlainNamesAreNamed) {
  reference_[1].name = "StatefulPartitionedCall/b:0";
  EXPECT_THAT(Told(Pairs(Chain())), testing::HasSubstr("b=StatefulPartitionedCall/b:0 name"));
}

TEST_F(PairForeignTensorsTest, ChannelsMayComeLast) {
  // [1, 2, 3, 4] here, [1, 3, 4, 2] there.
  std::vector<float> first = Wave(0.3), last(24);
  for (size_t c = 0; c < 2; ++c) {
    for (size_t i = 0; i < 12; ++i) last[i * 2 + c] = first[c * 12 + i];
  }
  candidate_[0].tensor = FloatTensor({1, 2, 3, 4}, first);
  reference_[0].tensor = FloatTensor({1, 3, 4, 2}, last);
  const BlameGraph graph = Chain();
  const ForeignPairs found = Pairs(graph);
  ASSERT_EQ(found.pairs.size(), 4U);
  const Result<Tensor> laid_out = found.pairs[0].layout.Apply(reference_[0].tensor);
  ASSERT_TRUE(laid_out.ok());
  EXPECT_EQ(laid_out->dims(), (Dims{1, 2, 3, 4}));
  EXPECT_TRUE(std::ranges::equal(laid_out->As<float>(), first));
}

TEST_F(PairForeignTensorsTest, ANodeThatChangesNothingHasNoPartner) {
  // As a fault may leave it: "b" holds what "a" does, and is not what the reference has there.
  candidate_[1].tensor = candidate_[0].tensor;
  candidate_[2].tensor = FloatTensor({1, 24}, Wave(2.3));
  candidate_[3].tensor = FloatTensor({1, 24}, Wave(2.9));
  const BlameGraph graph = Chain();
  EXPECT_EQ(Told(Pairs(graph)), "a=first:0 value, y=last:0 output");
  // What only moves it has: it is the same tensor.
  const BlameGraph moving = Chain("Identity");
  EXPECT_EQ(Told(Pairs(moving)), "a=first:0 value, b=first:0 value, y=last:0 output");
}

TEST_F(PairForeignTensorsTest, AFaultInAFewChannelsIsFoundByTheOthers) {
  std::vector<float> faulty = Wave(0.7);
  for (size_t i = 0; i < 4; ++i) faulty[i] = 0;
  candidate_[1].tensor = FloatTensor({1, 24}, faulty);
  candidate_[2].tensor = FloatTensor({1, 24}, Wave(2.3));
  candidate_[3].tensor = FloatTensor({1, 24}, Wave(2.9));
  EXPECT_THAT(Told(Pairs(Chain())), testing::StartsWith("a=first:0 value, b=second:0 most values"));
}

TEST_F(PairForeignTensorsTest, WhatAllValuesOfTwoAreEqualToIsNotDecidedByThem) {
  SpoilFromB("b", Scaled(Wave(0.7), 1.000002F, 1.000002F));
  reference_[1].name = "model/b:0";
  reference_.insert(reference_.begin() + 1,
                    {"sum:0", FloatTensor({24}, Scaled(Wave(0.7), 1.000001F, 1.000001F))});
  EXPECT_THAT(Told(Pairs(Chain())), testing::StartsWith("a=first:0 value, b=model/b:0 name"));
}

TEST_F(PairForeignTensorsTest, BehindAFaultNamesPair) {
  for (size_t i = 1; i < 4; ++i) {
    candidate_[i].tensor = FloatTensor({1, 24}, Wave(2.3 + static_cast<double>(i)));
  }
  reference_[1].name = "model/b:0";
  // "third:0" is then the only one left.
  EXPECT_EQ(Told(Pairs(Chain())),
            "a=first:0 value, b=model/b:0 name, c=third:0 shape, y=last:0 output");
}

// A convolution as TensorFlow Lite names it, from which an exporter took the Relu again.
constexpr std::string_view kMergedName = "model_1/r/Relu;model_1/conv/BiasAdd;model_1/conv/Conv2D";

TEST_F(PairForeignTensorsTest, AMergedNameIsTheNearestOfItsTensors) {
  SpoilFromB(kMergedName, Scaled(Wave(0.7), 1.15F, 1.15F));
  reference_[1].name = "model_1/conv/BiasAdd:0";
  reference_[2] = {"model_1/r/Relu:0", FloatTensor({24}, Scaled(Wave(0.7), 1, 0))};
  EXPECT_EQ(Told(Pairs(Chain("Conv", kMergedName))),
            "a=first:0 value, " + std::string(kMergedName) +
                "=model_1/conv/BiasAdd:0 name, c=model_1/r/Relu:0 shape, y=last:0 output");
}

TEST_F(PairForeignTensorsTest, AMergedNameInDoubtPairsNothing) {
  // As far from what is before the Relu as from what is behind it.
  SpoilFromB(kMergedName, Scaled(Wave(0.7), 1.1F, 0.5F));
  reference_[1].name = "model_1/conv/BiasAdd:0";
  reference_[2] = {"model_1/r/Relu:0", FloatTensor({24}, Scaled(Wave(0.7), 1, 0))};
  EXPECT_EQ(Told(Pairs(Chain("Conv", kMergedName))), "a=first:0 value, y=last:0 output");
  // Neither is near.
  SpoilFromB(kMergedName, Wave(2.1));
  reference_[2] = {"third:0", FloatTensor({24}, Wave(1.1))};
  EXPECT_EQ(Told(Pairs(Chain("Conv", kMergedName))), "a=first:0 value, y=last:0 output");
}

TEST_F(PairForeignTensorsTest, OfTensorsThatShareANameTheNearestHasIt) {
  // One module, two nodes: the reference has the second's result, which is wrong here.
  constexpr std::string_view kFirst = "/norm/Sub_output_0", kSecond = "/norm/Add_output_0";
  SpoilFromB(kFirst, Wave(2.1));
  candidate_[2] = {std::string(kSecond), FloatTensor({1, 24}, Scaled(Wave(0.7), 1.15F, 1.15F))};
  reference_[1].name = "norm";
  EXPECT_EQ(Told(Pairs(Chain("Conv", kFirst, kSecond))), "a=first:0 value, y=last:0 output");
}

TEST_F(PairForeignTensorsTest, WhatANodeOnlyMovesIsPairedAsWhatItReads) {
  candidate_[0].tensor = FloatTensor({1, 24}, Scaled(Wave(0.3), 1.15F, 1.15F));
  SpoilFromB("b", Scaled(Wave(0.3), 1.15F, 1.15F));
  reference_[0].name = "model/a:0";
  // Were it not for the Reshape, this name would be b's.
  reference_[1].name = "b:0";
  const BlameGraph graph = Chain("Reshape");
  EXPECT_THAT(Told(Pairs(graph)), testing::StartsWith("a=model/a:0 name, b=model/a:0 value, "));
}

TEST_F(PairForeignTensorsTest, ASoundModelIsNotPairedByNames) {
  // Two nodes that the exporter merged or took apart: what follows is right.
  candidate_[1].tensor = FloatTensor({1, 24}, Wave(2.3));
  reference_[1].name = "b:0";
  const BlameGraph graph = Chain();
  const ForeignPairs found = Pairs(graph);
  EXPECT_EQ(Told(found), "a=first:0 value, c=third:0 value, y=last:0 output");
  EXPECT_THAT(found.candidate_alone, ElementsAre("b"));
  EXPECT_THAT(found.reference_alone, ElementsAre("b:0"));
}

TEST_F(PairForeignTensorsTest, WhatTwoAreNearToIsLeftOpen) {
  std::vector<float> near = Wave(0.7);
  near[0] += 0.02F;
  std::vector<float> between = Wave(0.7);
  between[0] += 0.01F;
  candidate_[1].tensor = FloatTensor({1, 24}, between);
  reference_.push_back({"near:0", FloatTensor({24}, near)});
  const BlameGraph graph = Chain();
  EXPECT_THAT(Pairs(graph).candidate_alone, Contains("b"));
}

TEST(TensorLayout, RefusesOtherSizes) {
  const TensorLayout layout{{1, 0}, {3, 8}};
  EXPECT_TRUE(layout.Apply(FloatTensor({8, 3}, Wave(0.3))).ok());
  EXPECT_FALSE(layout.Apply(FloatTensor({8, 2}, Wave(0.3, 16))).ok());
  EXPECT_FALSE(layout.Apply(FloatTensor({24}, Wave(0.3))).ok());
}

}  // namespace
}  // namespace vernier
