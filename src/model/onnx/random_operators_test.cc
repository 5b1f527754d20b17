#include "model/onnx/random_operators.h"

#include <gtest/gtest.h>

#include <string>

#include "model/onnx/onnx_test_model.h"

namespace vernier {
namespace {

using namespace testing_model;

constexpr const char* kTraining = "Dropout in training mode";

std::string Made(const std::string& node) { return Field(1, node); }

// A scalar of bool in int32_data.
std::string Truth(std::string_view name, bool value) {
  return Number(2, 9) + Number(5, value ? 1 : 0) + Field(8, name);
}

std::string AttributeOf(std::string_view name, const std::string& value, uint64_t type) {
  return Field(5, Field(1, name) + value + Number(20, type));
}

std::string GraphOf(const std::string& nodes, const std::string& more = "") {
  return nodes + Field(2, "g") + more + Field(11, Value("x")) + Field(12, Value("y"));
}

std::string Found(const std::string& graph, const std::string& functions = "",
                  uint64_t opset = 17) {
  const std::string bytes = Number(1, 8) + Field(7, graph) + Field(8, Number(2, opset)) + functions;
  const Result<OnnxModel> model = Parse(bytes);
  EXPECT_TRUE(model.ok()) << model.status().message();
  if (!model.ok()) return "";
  const std::string_view outputs[] = {"y"};
  return FindRandomOperator(*model, outputs, {});
}

const std::string kDrops = Made(Node("Dropout", {"x", "r", "t"}, {"y"}));

std::string ConstantOf(bool value) {
  return Made(Node("Constant", {}, {"t"}, AttributeOf("value", Field(5, Truth("", value)), 4)));
}

TEST(RandomOperators, TrainingModeOfADropoutDecides) {
  EXPECT_EQ(Found(GraphOf(kDrops, Field(5, Truth("t", true)))), kTraining);
  EXPECT_EQ(Found(GraphOf(kDrops, Field(5, Truth("t", false)))), "");
  EXPECT_EQ(Found(GraphOf(ConstantOf(true) + kDrops)), kTraining);
  EXPECT_EQ(Found(GraphOf(ConstantOf(false) + kDrops)), "");
  EXPECT_EQ(Found(GraphOf(Made(Node("Not", {"f"}, {"t"})) + kDrops, Field(5, Truth("f", false)))),
            kTraining);
  EXPECT_EQ(Found(GraphOf(kDrops, Field(11, Value("t")))), kTraining);
  EXPECT_EQ(Found(GraphOf(Made(Node("Dropout", {"x"}, {"y"})))), "");
  EXPECT_EQ(Found(GraphOf(Made(Node("Dropout", {"x", "r", ""}, {"y"})))), "");
}

TEST(RandomOperators, OlderDropoutsHaveAnAttributeOrNothing) {
  const std::string plain = GraphOf(Made(Node("Dropout", {"x"}, {"y"})));
  const std::string test =
      GraphOf(Made(Node("Dropout", {"x"}, {"y"}, AttributeOf("is_test", Number(3, 1), 2))));
  EXPECT_EQ(Found(plain, "", 6), kTraining);
  EXPECT_EQ(Found(test, "", 6), "");
  EXPECT_EQ(Found(plain, "", 7), "");
  EXPECT_EQ(Found(plain, "", 11), "");
}

// The body knows the names of the graph around it.
TEST(RandomOperators, BodiesAreSearched) {
  const auto with_body = [](bool trains) {
    const std::string body =
        Made(Node("Dropout", {"x", "r", "t"}, {"z"})) + Field(2, "b") + Field(12, Value("z"));
    return GraphOf(Made(Node("If", {"c"}, {"y"}, AttributeOf("then_branch", Field(6, body), 5))),
                   Field(5, Truth("t", trains)));
  };
  EXPECT_EQ(Found(with_body(true)), kTraining);
  EXPECT_EQ(Found(with_body(false)), "");
}

std::string LocalFunction(std::string_view name, const std::string& nodes) {
  return Field(25, Field(1, name) + Field(4, "a") + Field(5, "b") + nodes +
                       Field(9, Number(2, 17)) + Field(10, "loc"));
}

std::string Call(std::string_view name, std::string_view input, std::string_view output) {
  return Made(Node(name, {input}, {output}, Field(7, "loc")));
}

TEST(RandomOperators, FunctionsCountWhereTheyAreCalled) {
  const auto body = [](const std::string& node) {
    std::string made;
    AppendBytesField(made, 7, node);
    return made;
  };
  const std::string draws = LocalFunction("F", body(Node("RandomUniformLike", {"a"}, {"b"})));
  const std::string calls = LocalFunction("G", body(Node("F", {"a"}, {"b"}, Field(7, "loc"))));
  const std::string training =
      body(Node("Constant", {}, {"t"}, AttributeOf("value", Field(5, Truth("", true)), 4))) +
      body(Node("Dropout", {"a", "", "t"}, {"b"}));
  EXPECT_EQ(Found(GraphOf(Call("F", "x", "y")), draws), "RandomUniformLike");
  EXPECT_EQ(Found(GraphOf(Call("G", "x", "y")), draws + calls), "RandomUniformLike");
  EXPECT_EQ(Found(GraphOf(Call("F", "x", "y")), LocalFunction("F", training)), kTraining);
  EXPECT_EQ(Found(GraphOf(Made(Node("Relu", {"x"}, {"y"}))), draws + calls), "");
}

TEST(RandomOperators, WhatNoOutputNeedsDoesNotCount) {
  const std::string relu = Made(Node("Relu", {"x"}, {"y"}));
  EXPECT_EQ(Found(GraphOf(Made(Node("RandomUniformLike", {"x"}, {"u"})) + relu)), "");
  EXPECT_EQ(Found(GraphOf(Made(Node("RandomUniformLike", {"x"}, {"u"})) +
                          Made(Node("Relu", {"u"}, {"y"})))),
            "RandomUniformLike");
}

}  // namespace
}  // namespace vernier
