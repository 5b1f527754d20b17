#include "model/shapes/row_axes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/onnx/onnx_test_model.h"

namespace vernier {
namespace {

namespace made = testing_model;
using testing::ElementsAre;
using testing::HasSubstr;

std::string IntAttribute(std::string_view name, uint64_t value) {
  return made::Field(5, made::Field(1, name) + made::Number(3, value) + made::Number(20, 2));
}

std::string IntsAttribute(std::string_view name, std::initializer_list<uint64_t> values) {
  std::string attribute = made::Field(1, name);
  for (const uint64_t value : values) attribute += made::Number(8, value);
  return made::Field(5, attribute + made::Number(20, 7));
}

// An initializer of int64.
std::string Numbers(std::string_view name, std::initializer_list<uint64_t> values) {
  std::string tensor = made::Number(1, values.size()) + made::Number(2, 7) + made::Field(8, name);
  for (const uint64_t value : values) tensor += made::Number(7, value);
  return made::Field(5, tensor);
}

// "x", of the shape (N, 3), goes in and "y" comes out.
std::string WhyRowsMeet(std::string_view nodes, std::string_view more = {}) {
  const std::string graph = std::string(nodes) + made::Field(2, "g") + std::string(more) +
                            made::Field(11, made::Value("x")) + made::Field(12, made::Value("y"));
  const auto model = made::Shared(graph);
  const std::vector<BatchedInput> in = {{"x"}};
  const std::vector<std::string> out = {"y"};
  const std::vector<MeetingRows> meeting = FindMeetingRows(*model, in, out);
  return meeting.empty() ? "" : meeting.front().why;
}

std::string OnlyNode(std::string_view op, std::initializer_list<std::string_view> inputs,
                     std::string_view attributes = {}) {
  return made::Field(1, made::Node(op, inputs, {"y"}, attributes));
}

std::string NodeAfter(const std::string& first, std::string_view op,
                      std::initializer_list<std::string_view> inputs,
                      std::string_view attributes = {}) {
  return made::Field(1, first) + OnlyNode(op, inputs, attributes);
}

TEST(RowAxes, WhatTreatsEachRowByItselfIsABatch) {
  EXPECT_EQ(WhyRowsMeet(OnlyNode("Relu", {"x"})), "");
  EXPECT_EQ(WhyRowsMeet(OnlyNode("Softmax", {"x"}, IntAttribute("axis", 1))), "");
  EXPECT_EQ(WhyRowsMeet(OnlyNode("ReduceSum", {"x", "a"}), Numbers("a", {1})), "");
  EXPECT_EQ(WhyRowsMeet(OnlyNode("LayerNormalization", {"x", "s"}), Numbers("s", {1, 1, 1})), "");
  EXPECT_EQ(WhyRowsMeet(OnlyNode("Add", {"x", "b"}), Numbers("b", {1, 2, 3})), "");
  EXPECT_EQ(WhyRowsMeet(OnlyNode("MatMul", {"x", "w"}),
                        made::Field(5, made::Number(1, 3) + made::Number(1, 2) +
                                           made::Number(2, 1) + made::Field(8, "w"))),
            "");
}

TEST(RowAxes, WhatGoesAlongTheRowsIsNone) {
  EXPECT_THAT(WhyRowsMeet(OnlyNode("ReduceSum", {"x", "a"}), Numbers("a", {0})),
              HasSubstr("the node that makes 'y' (ReduceSum) combines rows"));
  EXPECT_THAT(WhyRowsMeet(OnlyNode("ReduceMax", {"x"})), HasSubstr("combines rows"));
  EXPECT_THAT(WhyRowsMeet(OnlyNode("Softmax", {"x"}, IntAttribute("axis", 0))),
              HasSubstr("normalises over rows"));
  EXPECT_THAT(WhyRowsMeet(OnlyNode("CumSum", {"x", "a"}), Numbers("a", {0})),
              HasSubstr("combines"));
  EXPECT_THAT(WhyRowsMeet(OnlyNode("DynamicQuantizeLinear", {"x"})),
              HasSubstr("one scale for all"));
  EXPECT_THAT(WhyRowsMeet(OnlyNode("TopK", {"x", "k"}, IntAttribute("axis", 0)), Numbers("k", {1})),
              HasSubstr("combines"));
}

TEST(RowAxes, TheAxisIsFollowedThroughOtherPlaces) {
  const std::string turned = made::Node("Transpose", {"x"}, {"t"}, IntsAttribute("perm", {1, 0}));
  EXPECT_THAT(WhyRowsMeet(NodeAfter(turned, "Softmax", {"t"}, IntAttribute("axis", 1))),
              HasSubstr("normalises"));
  EXPECT_EQ(WhyRowsMeet(NodeAfter(turned, "Softmax", {"t"}, IntAttribute("axis", 0))), "");
  // Every row against every other one, as attention does.
  EXPECT_THAT(WhyRowsMeet(NodeAfter(turned, "MatMul", {"x", "t"})), HasSubstr("pairs each row"));
  EXPECT_THAT(WhyRowsMeet(NodeAfter(turned, "MatMul", {"t", "x"})), HasSubstr("combines rows"));
  const std::string more = made::Node("Unsqueeze", {"x", "zero"}, {"t"});
  EXPECT_THAT(WhyRowsMeet(NodeAfter(more, "ReduceSum", {"t", "one"}),
                          Numbers("zero", {0}) + Numbers("one", {1})),
              HasSubstr("combines rows"));
  EXPECT_EQ(WhyRowsMeet(NodeAfter(more, "ReduceSum", {"t", "zero"}), Numbers("zero", {0})), "");
}

// The target of the Reshape begins with the number of rows, as exporters write it.
TEST(RowAxes, TheAxisIsFollowedThroughAReshapeToAComputedShape) {
  const std::string sizes = made::Field(1, made::Node("Shape", {"x"}, {"all"})) +
                            made::Field(1, made::Node("Gather", {"all", "zero"}, {"rows"})) +
                            made::Field(1, made::Node("Concat", {"rows", "rest"}, {"target"}));
  const std::string target = Numbers("zero", {0}) + Numbers("rest", {3, 1});
  const std::string shaped = sizes + made::Field(1, made::Node("Reshape", {"x", "target"}, {"t"}));
  EXPECT_THAT(WhyRowsMeet(shaped + OnlyNode("CumSum", {"t", "zero"}), target),
              HasSubstr("(CumSum) combines rows"));
  EXPECT_EQ(WhyRowsMeet(shaped + OnlyNode("CumSum", {"t", "one"}), target + Numbers("one", {1})),
            "");
  const std::string pairs =
      sizes + made::Field(1, made::Node("Concat", {"two", "rows", "three"}, {"pairs"}));
  const std::string wide = pairs + made::Field(1, made::Node("Expand", {"x", "pairs"}, {"t"}));
  EXPECT_THAT(
      WhyRowsMeet(wide + OnlyNode("CumSum", {"t", "one"}),
                  target + Numbers("two", {2}) + Numbers("three", {3}) + Numbers("one", {1})),
      HasSubstr("(CumSum) combines rows"));
  // Behind what no rule knows the sizes of.
  const std::string padded = sizes + made::Field(1, made::Node("Pad", {"x", "computed"}, {"p"})) +
                             made::Field(1, made::Node("Reshape", {"p", "target"}, {"t"}));
  EXPECT_THAT(WhyRowsMeet(padded + OnlyNode("CumSum", {"t", "zero"}), target),
              HasSubstr("(CumSum) combines rows"));
}

// As behind padding whose sizes are computed.
TEST(RowAxes, TheAxisIsFollowedWhereTheRankIsNotKnown) {
  const std::string padded = made::Field(1, made::Node("Pad", {"x", "computed"}, {"p"}));
  const std::string power = made::Field(1, made::Node("Pow", {"p", "one"}, {"t"}));
  EXPECT_THAT(WhyRowsMeet(padded + power + OnlyNode("CumSum", {"t", "zero"}),
                          Numbers("one", {1}) + Numbers("zero", {0})),
              HasSubstr("(CumSum) combines rows"));
}

TEST(RowAxes, ARecurrenceGoesAlongTheSequence) {
  const std::string more = made::Node("Unsqueeze", {"x", "one"}, {"t"});
  EXPECT_THAT(WhyRowsMeet(NodeAfter(more, "LSTM", {"t", "W", "R"}), Numbers("one", {1})),
              HasSubstr("(LSTM) goes along the rows"));
  EXPECT_EQ(WhyRowsMeet(NodeAfter(more, "GRU", {"t", "W", "R"}, IntAttribute("layout", 1)),
                        Numbers("one", {1})),
            "");
}

TEST(RowAxes, AWindowOverTheRowsCombinesThem) {
  const std::string two = Numbers("axes", {0, 1});
  const std::string more = made::Node("Unsqueeze", {"x", "axes"}, {"t"});
  EXPECT_THAT(
      WhyRowsMeet(NodeAfter(more, "Conv", {"t", "w"}, IntsAttribute("kernel_shape", {3, 1})), two),
      HasSubstr("(Conv) combines rows"));
  EXPECT_EQ(
      WhyRowsMeet(NodeAfter(more, "Conv", {"t", "w"}, IntsAttribute("kernel_shape", {1, 3})), two),
      "");
}

TEST(RowAxes, ADynamicQuantisationIsKnownAlongAnyAxis) {
  const std::string nodes = made::Field(1, made::Node("DynamicQuantizeLinear", {"x"}, {"q", "s"})) +
                            OnlyNode("Cast", {"q"}, IntAttribute("to", 1));
  EXPECT_THAT(WhyRowsMeet(nodes), HasSubstr("one scale"));
  const std::string graph = nodes + made::Field(2, "g") + made::Field(11, made::Value("x")) +
                            made::Field(12, made::Value("y"));
  const auto model = made::Shared(graph);
  const std::vector<BatchedInput> second = {{"x", 1}};
  const std::vector<std::string> out = {"y"};
  const std::vector<MeetingRows> meeting = FindMeetingRows(*model, second, out);
  ASSERT_EQ(meeting.size(), 1u);
  EXPECT_TRUE(meeting.front().by_scale);
}

TEST(RowAxes, WhatMeetsInASumDoesNotMeetByAScaleAlone) {
  const auto model =
      made::Shared(made::Field(1, made::Node("DynamicQuantizeLinear", {"x"}, {"q", "s", "z"})) +
                   made::Field(1, made::Node("DequantizeLinear", {"q", "s", "z"}, {"d"})) +
                   made::Field(1, made::Node("ReduceSum", {"x", "a"}, {"r"})) +
                   OnlyNode("Add", {"d", "r"}) + made::Field(2, "g") + Numbers("a", {0}) +
                   made::Field(11, made::Value("x")) + made::Field(12, made::Value("y")));
  const std::vector<BatchedInput> in = {{"x"}};
  const std::vector<std::string> out = {"y"};
  const std::vector<MeetingRows> meeting = FindMeetingRows(*model, in, out);
  ASSERT_EQ(meeting.size(), 1u);
  EXPECT_FALSE(meeting.front().by_scale);
  EXPECT_THAT(meeting.front().why, HasSubstr("ReduceSum"));
}

TEST(RowAxes, WhatNoRuleTellsIsNotSaidToMeet) {
  EXPECT_EQ(WhyRowsMeet(OnlyNode("NonZero", {"x"})), "");
  EXPECT_EQ(WhyRowsMeet(OnlyNode("Shape", {"x"})), "");
  EXPECT_EQ(WhyRowsMeet(OnlyNode("Reshape", {"x", "s"})), "");
}

}  // namespace
}  // namespace vernier
