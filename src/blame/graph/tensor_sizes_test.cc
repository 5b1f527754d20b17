#include "blame/graph/tensor_sizes.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "model/onnx/onnx_test_model.h"

namespace vernier {
namespace {

using testing_model::ExternalTensor;
using testing_model::Field;
using testing_model::Node;
using testing_model::Shared;
using testing_model::Value;

// x -> seen -> hidden -> y by operators that no rule covers, beside a table of 3,600 bytes.
// 'seen' is declared as ("N", 3), as x and y are.
std::shared_ptr<const OnnxModel> Unruled() {
  return Shared(Field(1, Node("Unruled", {"x"}, {"seen"})) +
                Field(1, Node("Unruled", {"seen"}, {"hidden"})) +
                Field(1, Node("Transpose", {"table"}, {"turned"})) +
                Field(1, Node("Unruled", {"hidden", "turned"}, {"y"})) +
                Field(5, ExternalTensor("table", 900, "w.bin", "0", "3600")) +
                Field(11, Value("x")) + Field(12, Value("y")) + Field(13, Value("seen")));
}

TEST(TensorSizes, FollowNamesThatInputsGiveToDimensions) {
  const BlameGraph graph = *BlameGraph::Make(Unruled());
  const std::vector<InputDims> feed = {{"x", {5, 3}}};
  const TensorSizes sizes(graph, feed);
  EXPECT_EQ(sizes.Of("seen"), 60U);
  EXPECT_EQ(sizes.Of("y"), 60U);
}

// A batch that is planned for tensors as large as an embedding table holds hardly any of them.
TEST(TensorSizes, WhatIsUnknownIsAsLargeAsATensorThatInputsReach) {
  const BlameGraph graph = *BlameGraph::Make(Unruled());
  const std::vector<InputDims> feed = {{"x", {5, 3}}};
  const TensorSizes sizes(graph, feed);
  EXPECT_EQ(sizes.Of("turned"), 3600U);
  EXPECT_EQ(sizes.Of("hidden"), 60U);
}

}  // namespace
}  // namespace vernier
