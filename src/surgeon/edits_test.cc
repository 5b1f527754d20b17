// Edits of graphs: what goes, what is put in, what order nodes have afterwards.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/onnx/onnx_test_model.h"
#include "surgeon/asked_sets.h"
#include "surgeon/cleanup.h"
#include "surgeon/constant_folding.h"
#include "surgeon/input_shapes.h"
#include "surgeon/node_insertion.h"
#include "util/log/no_log.h"

namespace vernier {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing_model::Field;
using testing_model::Node;
using testing_model::Number;
using testing_model::Value;

OnnxModel EditedGraph(const std::string& graph) {
  return *testing_model::Parse(testing_model::Model(graph));
}

std::string In(std::string_view name) { return Field(11, Value(name)); }
std::string Out(std::string_view name) { return Field(12, Value(name)); }
std::string SmallWeight(std::string_view name) {
  return Field(5, Number(1, 1) + Number(2, 1) + Field(8, name) + Field(9, std::string(4, '\0')));
}

std::vector<std::string> OpsOf(const OnnxModel& model) {
  std::vector<std::string> ops;
  for (const OnnxNode& node : model.graph().nodes) ops.emplace_back(node.op_type);
  return ops;
}

std::vector<std::string> WeightsOf(const OnnxModel& model) {
  std::vector<std::string> names;
  for (const OnnxTensor& tensor : model.graph().initializers) names.emplace_back(tensor.name);
  return names;
}

TEST(WithoutUnused, DropsNodesAndTheirWeightsAndKeepsInputs) {
  const OnnxModel model = EditedGraph(
      Field(1, Node("Relu", {"x"}, {"y"})) + Field(1, Node("Add", {"z", "w"}, {"t"})) +
      Field(1, Node("Exp", {"t"}, {"u"})) + SmallWeight("w") + In("x") + In("z") + Out("y"));
  const Result<OnnxModel> cleaned = WithoutUnused(model);
  ASSERT_TRUE(cleaned.ok());
  EXPECT_THAT(OpsOf(*cleaned), ElementsAre("Relu"));
  EXPECT_THAT(WeightsOf(*cleaned), IsEmpty());
  EXPECT_EQ(cleaned->graph().inputs.size(), 2u);
}

TEST(InOrder, PutsNodesBehindWhatTheyRead) {
  const Result<OnnxModel> ordered =
      InOrder(EditedGraph(Field(1, Node("Exp", {"t"}, {"y"})) +
                          Field(1, Node("Relu", {"x"}, {"t"})) + In("x") + Out("y")));
  ASSERT_TRUE(ordered.ok());
  EXPECT_THAT(OpsOf(*ordered), ElementsAre("Relu", "Exp"));
}

TEST(InOrder, RefusesNodesThatWaitForEachOther) {
  const Result<OnnxModel> ordered =
      InOrder(EditedGraph(Field(1, Node("Add", {"x", "t"}, {"y"})) +
                          Field(1, Node("Relu", {"y"}, {"t"})) + In("x") + Out("y")));
  EXPECT_EQ(ordered.status().code(), StatusCode::kMalformed);
}

// y = Exp(Relu(x)) with t between them.
OnnxModel TwoSteps() {
  return EditedGraph(Field(1, Node("Relu", {"x"}, {"t"})) + Field(1, Node("Exp", {"t"}, {"y"})) +
                     In("x") + Out("y"));
}

TEST(WithNode, TakesThePlaceOfWhatMadeItsOutput) {
  const Result<OnnxModel> made = WithNode(TwoSteps(), {"Sigmoid", "new", {"x"}, {"t"}, {}});
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_THAT(OpsOf(*made), ElementsAre("Sigmoid", "Exp"));
}

TEST(WithNode, StandsBehindATensorThatIsItsInputAndOutput) {
  const Result<OnnxModel> made = WithNode(TwoSteps(), {"Neg", "new", {"t"}, {"t"}, {}});
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_THAT(OpsOf(*made), ElementsAre("Relu", "Neg", "Exp"));
  const OnnxGraph& graph = made->graph();
  EXPECT_EQ(graph.Inputs(graph.nodes[2])[0], "t" + std::string(kInsertedSuffix));
}

TEST(WithNode, RefusesTensorsThatAreNotThere) {
  const Status status = WithNode(TwoSteps(), {"Neg", "new", {"lost"}, {"t"}, {}}).status();
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr("lost"));
}

TEST(WithNode, CannotMakeAnInputOfTheModel) {
  const Status status = WithNode(TwoSteps(), {"Neg", "new", {"t"}, {"x"}, {}}).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("'x'"));
}

TEST(WithInputShapes, ChangesInputsAndOpensOutputs) {
  const std::vector<TensorInfo> shapes = {
      {"x", DType::kUndefined, std::vector<Dim>{{7, {}}, {3, {}}}}};
  const Result<OnnxModel> made = WithInputShapes(TwoSteps(), shapes);
  ASSERT_TRUE(made.ok());
  const TensorInfo input = made->RequiredInputs().front();
  EXPECT_EQ(input.dtype, DType::kFloat32);
  EXPECT_EQ((*input.shape)[0].value, 7);
  const TensorInfo output = made->Outputs().front();
  ASSERT_TRUE(output.shape && output.shape->size() == 2);
  EXPECT_TRUE((*output.shape)[0].dynamic());
}

TEST(WithInputShapes, RefusesWhatIsNoInput) {
  const std::vector<TensorInfo> shapes = {{"t", DType::kUndefined, std::vector<Dim>()}};
  EXPECT_EQ(WithInputShapes(TwoSteps(), shapes).status().code(), StatusCode::kNotFound);
}

TEST(AskedSets, AreAskedAboutOnce) {
  std::vector<NodeSet> asked;
  const FirstOfSets first = [&](std::span<const NodeSet> sets) -> Result<std::optional<size_t>> {
    for (size_t i = 0; i < sets.size(); ++i) {
      asked.push_back(sets[i]);
      if (sets[i] == NodeSet{2}) return std::optional(i);
    }
    return std::optional<size_t>();
  };
  AskedSets sets(first);
  EXPECT_EQ(*sets.First(std::vector<NodeSet>{{1}, {1}, {2}, {3}}), 2u);
  EXPECT_EQ(*sets.First(std::vector<NodeSet>{{1}, {3}}), std::nullopt);
  EXPECT_EQ(*sets.First(std::vector<NodeSet>{{3}, {2}}), 1u);
  EXPECT_THAT(asked, ElementsAre(NodeSet{1}, NodeSet{2}, NodeSet{3}));
}

TEST(AskedSets, PassErrorsOn) {
  const FirstOfSets first = [](std::span<const NodeSet>) -> Result<std::optional<size_t>> {
    return Cancelled("interrupted");
  };
  AskedSets sets(first);
  EXPECT_EQ(sets.First(std::vector<NodeSet>{{1}}).status().code(), StatusCode::kCancelled);
}

// y = x + Exp(w): Exp(w) does not depend on the input.
OnnxModel ConstantInside() {
  return EditedGraph(Field(1, Node("Exp", {"w"}, {"c"})) +
                     Field(1, Node("Add", {"x", "c"}, {"y"})) + SmallWeight("w") + In("x") +
                     Out("y"));
}

TEST(FoldConstants, ReplacesWhatDoesNotDependOnInputs) {
  const ConstantEvaluator evaluate = [](const OnnxModel& part) -> Result<TensorMap> {
    EXPECT_THAT(OpsOf(part), ElementsAre("Exp"));
    const std::vector<float> one = {1};
    return TensorMap{{"c", *Tensor::Copy(DType::kFloat32, {1}, std::as_bytes(std::span(one)))}};
  };
  NoLog log;
  const Result<OnnxModel> folded = FoldConstants(ConstantInside(), {}, evaluate, log);
  ASSERT_TRUE(folded.ok()) << folded.status().message();
  EXPECT_THAT(OpsOf(*folded), ElementsAre("Add"));
  EXPECT_THAT(WeightsOf(*folded), ElementsAre("c"));
}

TEST(FoldConstants, LeavesWhatCannotBeComputed) {
  const ConstantEvaluator evaluate = [](const OnnxModel&) -> Result<TensorMap> {
    return BackendError("no kernel");
  };
  NoLog log;
  const Result<OnnxModel> folded = FoldConstants(ConstantInside(), {}, evaluate, log);
  ASSERT_TRUE(folded.ok()) << folded.status().message();
  EXPECT_THAT(OpsOf(*folded), ElementsAre("Exp", "Add"));
}

TEST(FoldConstants, EndsWhereTheEvaluatorIsGone) {
  const ConstantEvaluator evaluate = [](const OnnxModel&) -> Result<TensorMap> {
    return Unavailable("there is no backend");
  };
  NoLog log;
  EXPECT_EQ(FoldConstants(ConstantInside(), {}, evaluate, log).status().code(),
            StatusCode::kUnavailable);
}

}  // namespace
}  // namespace vernier
