#include "model/edit/onnx_extract.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/edit/onnx_islands.h"
#include "model/onnx/onnx_test_model.h"

namespace vernier {
namespace {

using testing::ElementsAre;
using testing_model::ExternalTensor;
using testing_model::Field;
using testing_model::Model;
using testing_model::Node;
using testing_model::Parse;
using testing_model::Value;

std::string Body(std::string_view nodes, std::string_view output) {
  return std::string(nodes) + Field(2, "body") + Field(12, Value(output));
}

// A node with one body, which captures what its nodes read from outside.
std::string IfNode(std::string_view condition, std::string_view output, std::string_view body) {
  return Node("If", {condition}, {output}, Field(5, Field(1, "then_branch") + Field(6, body)));
}

// x -> a -> b -> y, with weights w (external) at b, v at y; and z beside it.
std::string Chain() {
  return Field(1, Node("Relu", {"x"}, {"a"})) + Field(1, Node("MatMul", {"a", "w"}, {"b"})) +
         Field(1, Node("Add", {"b", "v"}, {"y"})) + Field(1, Node("Relu", {"x2"}, {"z"})) +
         Field(5, ExternalTensor("w", 9, "w.bin", "0", "36")) +
         Field(5, ExternalTensor("v", 3, "w.bin", "36", "12")) + Field(11, Value("x")) +
         Field(11, Value("x2")) + Field(12, Value("y")) + Field(12, Value("z")) +
         Field(13, Value("a"));
}

OnnxModel Cut(const OnnxModel& model, const ExtractPlan& plan) {
  Result<BytePieces> pieces = ExtractModel(model, plan);
  EXPECT_TRUE(pieces.ok()) << pieces.status().message();
  const std::vector<std::byte> bytes = *ToBytes(*pieces);
  Result<OnnxModel> part =
      Parse(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  EXPECT_TRUE(part.ok()) << part.status().message();
  return *std::move(part);
}

std::vector<std::string> Operators(const OnnxModel& model) {
  std::vector<std::string> names;
  for (const OnnxNode& node : model.graph().nodes) names.emplace_back(node.op_type);
  return names;
}

std::vector<std::string> Initializers(const OnnxModel& model) {
  std::vector<std::string> names;
  for (const OnnxTensor& tensor : model.graph().initializers) names.emplace_back(tensor.name);
  return names;
}

TensorInfo Named(std::string name) { return {std::move(name), DType::kUndefined, std::nullopt}; }

TEST(ExtractModel, TakesTheNodesBetweenAndTheirWeightsOnly) {
  const OnnxModel model = *Parse(Model(Chain()));
  const OnnxModel part = Cut(model, {{Named("a")}, {Named("b")}});
  EXPECT_THAT(Operators(part), ElementsAre("MatMul"));
  EXPECT_THAT(Initializers(part), ElementsAre("w"));
  ASSERT_EQ(part.external_tensors().size(), 1U);
  EXPECT_EQ(part.external_tensors()[0].location, "w.bin");
  EXPECT_EQ(part.opset(), model.opset());
}

TEST(ExtractModel, FillsInWhatTheModelDeclares) {
  const OnnxModel model = *Parse(Model(Chain()));
  const OnnxModel part = Cut(model, {{Named("a")}, {Named("y")}});
  const TensorInfo input = ToTensorInfo(part.graph().inputs.at(0));
  EXPECT_EQ(input.dtype, DType::kFloat32);
  ASSERT_TRUE(input.shape);
  EXPECT_EQ(input.shape->at(0).symbol, "N");
  EXPECT_EQ(input.shape->at(1).value, 3);
}

TEST(ExtractModel, GivenShapesAndTypesWin) {
  const OnnxModel model = *Parse(Model(Chain()));
  TensorInfo given{"a", DType::kFloat16, std::vector<Dim>{{2, {}}, {3, {}}}};
  const TensorInfo input = ToTensorInfo(Cut(model, {{given}, {Named("b")}}).graph().inputs.at(0));
  EXPECT_EQ(input.dtype, DType::kFloat16);
  EXPECT_EQ(input.shape->at(0).value, 2);
}

TEST(ExtractModel, NamesAnInputThatIsMissing) {
  const OnnxModel model = *Parse(Model(Chain()));
  const auto cut = ExtractModel(model, {{Named("a")}, {Named("b"), Named("z")}});
  ASSERT_FALSE(cut.ok());
  EXPECT_EQ(cut.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(cut.status().message().find("'x2'"), std::string::npos);
}

TEST(ExtractModel, RefusesATensorThatIsNotThere) {
  const OnnxModel model = *Parse(Model(Chain()));
  EXPECT_EQ(ExtractModel(model, {{Named("nosuch")}, {Named("y")}}).status().code(),
            StatusCode::kNotFound);
}

TEST(ExtractModel, KeepsBodiesAndWhatTheyCapture) {
  const std::string body = Body(Field(1, Node("MatMul", {"a", "w"}, {"inner"})), "inner");
  const std::string graph = Field(1, Node("Relu", {"x"}, {"a"})) +
                            Field(1, IfNode("c", "y", body)) +
                            Field(5, ExternalTensor("w", 9, "w.bin", "0", "36")) +
                            Field(11, Value("x")) + Field(11, Value("c")) + Field(12, Value("y"));
  const OnnxModel model = *Parse(Model(graph));
  const OnnxModel part = Cut(model, {{Named("c"), Named("a")}, {Named("y")}});
  EXPECT_THAT(Operators(part), ElementsAre("If"));
  EXPECT_THAT(Initializers(part), ElementsAre("w"));
  const auto without = ExtractModel(model, {{Named("c")}, {Named("y")}});
  EXPECT_EQ(without.status().code(), StatusCode::kInvalidArgument) << "the body reads 'x'";
}

TEST(ExtractModel, AnOutputMayBeAnInitializer) {
  const OnnxModel model = *Parse(Model(Chain()));
  EXPECT_THAT(Initializers(Cut(model, {{Named("x")}, {Named("a"), Named("w")}})), ElementsAre("w"));
}

TEST(BuildIslands, GivesEveryNodeInputsOfItsOwn) {
  const OnnxModel model = *Parse(Model(Chain()));
  const std::vector<Island> islands = {{{0}, {"a"}}, {{1}, {"b"}}, {{2}, {"y"}}};
  const auto built =
      BuildIslands(model, islands, [](std::string_view name) { return Named(std::string(name)); });
  ASSERT_TRUE(built.ok()) << built.status().message();
  EXPECT_THAT(built->inputs, ElementsAre("x", "a", "b"));
  const std::vector<std::byte> bytes = *ToBytes(built->bytes);
  const auto parsed = Parse(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  // What one island makes is not what another one reads.
  EXPECT_EQ(parsed->graph().Inputs(parsed->graph().nodes[1])[0], "a");
  EXPECT_NE(parsed->graph().Outputs(parsed->graph().nodes[0])[0], "a");
  EXPECT_EQ(parsed->graph().outputs.size(), 3U);
  EXPECT_THAT(Initializers(*parsed), ElementsAre("w", "v"));
}

TEST(BuildIslands, AGroupIsConnectedWithinItself) {
  const OnnxModel model = *Parse(Model(Chain()));
  const std::vector<Island> islands = {{{0, 1}, {"b"}}, {{0}, {"a"}}};
  const auto built =
      BuildIslands(model, islands, [](std::string_view name) { return Named(std::string(name)); });
  ASSERT_TRUE(built.ok());
  EXPECT_THAT(built->inputs, ElementsAre("x"));
  const std::vector<std::byte> bytes = *ToBytes(built->bytes);
  const auto parsed = Parse(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  ASSERT_TRUE(parsed.ok());
  const OnnxGraph& graph = parsed->graph();
  EXPECT_EQ(graph.Inputs(graph.nodes[1])[0], graph.Outputs(graph.nodes[0])[0]);
  EXPECT_NE(graph.Outputs(graph.nodes[0])[0], graph.Outputs(graph.nodes[2])[0]);
  EXPECT_EQ(built->made.at(std::string(graph.Outputs(graph.nodes[0])[0])), "a");
}

TEST(BuildIslands, ANodeOfSeveralIslandsHasANameInEach) {
  const auto named = [](std::string_view name) { return Field(3, name); };
  const std::string graph = Field(1, Node("Relu", {"x"}, {"a"}, named("first"))) +
                            Field(1, Node("Neg", {"a"}, {"y"}, named("second"))) +
                            Field(11, Value("x")) + Field(12, Value("y"));
  const OnnxModel model = *Parse(Model(graph));
  const std::vector<Island> islands = {{{0}, {"a"}}, {{0, 1}, {"y"}}};
  const auto built =
      BuildIslands(model, islands, [](std::string_view name) { return Named(std::string(name)); });
  ASSERT_TRUE(built.ok());
  const std::vector<std::byte> bytes = *ToBytes(built->bytes);
  const auto parsed = Parse(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  std::vector<std::string_view> names;
  for (const OnnxNode& node : parsed->graph().nodes) names.push_back(node.name);
  EXPECT_THAT(names, ElementsAre("first", "first@1", "second"));
}

TEST(BuildIslands, RenamesWhatABodyCapturesFromItsOwnIsland) {
  const std::string body = Body(Field(1, Node("Relu", {"a"}, {"inner"})), "inner");
  const std::string graph = Field(1, Node("Relu", {"x"}, {"a"})) +
                            Field(1, IfNode("c", "y", body)) + Field(11, Value("x")) +
                            Field(11, Value("c")) + Field(12, Value("y"));
  const OnnxModel model = *Parse(Model(graph));
  const std::vector<Island> islands = {{{0, 1}, {"y"}}};
  const auto built =
      BuildIslands(model, islands, [](std::string_view name) { return Named(std::string(name)); });
  ASSERT_TRUE(built.ok());
  EXPECT_THAT(built->inputs, ElementsAre("x", "c"));
  const std::vector<std::byte> bytes = *ToBytes(built->bytes);
  const auto parsed = Parse(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  const OnnxGraph& main = parsed->graph();
  const OnnxGraph& inner = parsed->Subgraph(main.Subgraphs(main.nodes[1])[0]);
  EXPECT_EQ(inner.Inputs(inner.nodes[0])[0], main.Outputs(main.nodes[0])[0]);
  EXPECT_EQ(inner.Outputs(inner.nodes[0])[0], "inner");
}

}  // namespace
}  // namespace vernier
