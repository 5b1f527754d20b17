#include "debug/mask_flow.h"

#include <gtest/gtest.h>

#include <string>

#include "model/onnx/onnx_test_model.h"

namespace vernier {
namespace {

using testing_model::Field;
using testing_model::Node;
using testing_model::Value;

// How many Softmax nodes the value ends in; -1: it goes elsewhere, or nowhere.
int EndsOf(const std::string& nodes, const char* value) {
  const OnnxModel model = *testing_model::Parse(testing_model::Model(
      nodes + Field(11, Value("m")) + Field(11, Value("x")) + Field(12, Value("y"))));
  const auto ends = MaskFlow(model).EndsOf(value);
  return ends ? static_cast<int>(ends->size()) : -1;
}

TEST(MaskFlow, EndsInTheSoftmaxBehindSumsAndMoves) {
  const std::string moves =
      Field(1, Node("Unsqueeze", {"m"}, {"u"})) + Field(1, Node("Add", {"x", "u"}, {"s"}));
  EXPECT_EQ(EndsOf(moves + Field(1, Node("Softmax", {"s"}, {"y"})), "m"), 1);
  EXPECT_EQ(EndsOf(moves + Field(1, Node("Softmax", {"s"}, {"y"})) +
                       Field(1, Node("Softmax", {"u"}, {"z"})),
                   "m"),
            2);
}

TEST(MaskFlow, CountsASoftmaxOnceHoweverManyWaysLeadToIt) {
  EXPECT_EQ(
      EndsOf(Field(1, Node("Reshape", {"m"}, {"a"})) + Field(1, Node("Cast", {"m"}, {"b"})) +
                 Field(1, Node("Add", {"a", "b"}, {"s"})) + Field(1, Node("Softmax", {"s"}, {"y"})),
             "m"),
      1);
}

TEST(MaskFlow, EndsNowhereWhereAnythingElseReadsTheValue) {
  const std::string softmax = Field(1, Node("Softmax", {"s"}, {"y"}));
  // A product may change signs.
  EXPECT_EQ(EndsOf(Field(1, Node("Mul", {"x", "m"}, {"s"})) + softmax, "m"), -1);
  EXPECT_EQ(EndsOf(Field(1, Node("Add", {"x", "m"}, {"s"})) + Field(1, Node("Relu", {"s"}, {"r"})) +
                       softmax,
                   "m"),
            -1);
  // The result of a model is read by its caller, and what has no reader ends in nothing.
  EXPECT_EQ(EndsOf(Field(1, Node("Add", {"x", "m"}, {"y"})), "m"), -1);
  EXPECT_EQ(EndsOf(Field(1, Node("Relu", {"x"}, {"y"})), "m"), -1);
}

}  // namespace
}  // namespace vernier
