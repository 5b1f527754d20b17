#include "model/onnx/flat_graph.h"

#include <gtest/gtest.h>

#include <string>

#include "model/onnx/onnx_test_model.h"

namespace vernier {
namespace {

using namespace testing_model;

// A FunctionProto of so many nodes.
std::string Function(const std::string& node, size_t count) {
  std::string function = Field(1, "F") + Field(4, "i") + Field(5, "o");
  for (size_t i = 0; i < count; ++i) function += Field(7, node);
  return Field(25, function + Field(9, Number(2, 17)) + Field(10, "local"));
}

std::string Calls(size_t count) {
  std::string graph;
  for (size_t i = 0; i < count; ++i) {
    graph += Field(1, Node("F", {"x"}, {"y" + std::to_string(i)}, Field(7, "local")));
  }
  return graph;
}

size_t CountCalls(const OnnxGraph& graph) {
  size_t count = 0;
  for (const OnnxNode& node : graph.nodes) count += node.op_type == "F" ? 1 : 0;
  return count;
}

TEST(FlatGraph, AFewCallsAreReplacedByTheirNodes) {
  const auto model = Parse(Model(Calls(3)) + Function(Node("Relu", {"i"}, {"o"}), 1));
  ASSERT_TRUE(model.ok()) << model.status().message();
  const FlatGraph flat(*model);
  EXPECT_EQ(flat.graph().nodes.size(), 3u);
  EXPECT_EQ(CountCalls(flat.graph()), 0u);
}

// A Constant that is an attribute of the call makes a name in each, but no node.
TEST(FlatGraph, CallsThatMakeNamesAloneAreCountedToo) {
  constexpr size_t kCalls = 5'000, kConstants = 2'000;
  const std::string constant =
      Node("Constant", {}, {"c"}, Field(5, Field(1, "value") + Field(21, "a") + Number(20, 4)));
  const auto model = Parse(Model(Calls(kCalls)) + Function(constant, kConstants));
  ASSERT_TRUE(model.ok()) << model.status().message();
  const FlatGraph flat(*model);
  EXPECT_GT(CountCalls(flat.graph()), kCalls / 2);
  EXPECT_LT(CountCalls(flat.graph()), kCalls);
  EXPECT_TRUE(IsForeign(flat.graph().nodes.back()));
}

}  // namespace
}  // namespace vernier
