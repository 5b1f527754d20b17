// Models that are changed and shown where rules suffice: no runner is asked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "inference/extraction.h"
#include "inference/inspection.h"
#include "inference/model_shapes.h"
#include "inference/sanitizing.h"
#include "io/results/io_test_data.h"
#include "io/results/results_writer.h"
#include "model/onnx/onnx_test_model.h"
#include "surgeon/input_shapes.h"
#include "util/log/recording_logger.h"

namespace vernier {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing_model::Field;
using testing_model::Node;
using testing_model::Value;

const std::atomic<int> kNever{0};

// t = Relu(x), y = Exp(t), and u, which nothing needs; Exp comes first. x and y are [N, 3].
std::string ChainFile(const TemporaryFolder& folder) {
  const std::string path = folder / "chain.onnx";
  WriteText(path, testing_model::Model(Field(1, Node("Exp", {"t"}, {"y"})) +
                                       Field(1, Node("Relu", {"x"}, {"t"})) +
                                       Field(1, Node("Neg", {"t"}, {"u"})) + Field(11, Value("x")) +
                                       Field(12, Value("y"))));
  return path;
}

EditableModel Chain(const TemporaryFolder& folder) {
  return *EditableModel::Open(ChainFile(folder), {}, false);
}

std::vector<std::string> NodesOf(const OnnxModel& model) {
  std::vector<std::string> ops;
  for (const OnnxNode& node : model.graph().nodes) ops.emplace_back(node.op_type);
  return ops;
}

TensorInfo TwoByThree(const std::string& name) {
  return {name, DType::kFloat32, std::vector<Dim>{{2, {}}, {3, {}}}};
}

// "x: N 3" of a tensor whose shape is known.
std::string ShapeOf(const OnnxModel& model, const std::string& name) {
  const std::vector<std::string> names = {name};
  const std::vector<TensorInfo> infos = DescribeTensors(model, names);
  std::string text = name + ":";
  if (infos.empty() || !infos[0].shape) return text + " unknown";
  for (const Dim& dim : *infos[0].shape) {
    text += " " + (dim.symbol.empty() ? std::to_string(dim.value) : dim.symbol);
  }
  return text;
}

TEST(Shapes, FollowFromThoseOfTheInputs) {
  const TemporaryFolder folder;
  EditableModel model = Chain(folder);
  const std::vector<TensorInfo> inputs = {TwoByThree("x")};
  model.Become(*WithInputShapes(model.now(), inputs));
  EXPECT_TRUE(*TakeShapesThatFollow(model));
  EXPECT_EQ(ShapeOf(model.now(), "t"), "t: 2 3");
}

TEST(Shapes, AreForcedWithoutAFeedWhereRulesKnowAll) {
  const TemporaryFolder folder;
  EditableModel model = Chain(folder);
  RecordingLogger log;
  FeedSource source;  // that no inference can be asked of
  source.flags = {"--seed"};
  ASSERT_TRUE(ForceShapes(model, source, kNever, log).ok());
  EXPECT_EQ(ShapeOf(model.now(), "t"), "t: 1 3");
  EXPECT_TRUE(log.Has("--seed has no effect"));
}

TEST(Sanitize, DropsWhatIsUnusedAndPutsNodesInOrder) {
  const TemporaryFolder folder;
  EditableModel model = Chain(folder);
  RecordingLogger log;
  SanitizePlan plan;
  plan.shapes.wanted = false;
  plan.cleanup = plan.sort = true;
  ASSERT_TRUE(Sanitize(plan, model, kNever, log).ok());
  EXPECT_THAT(NodesOf(model.now()), ElementsAre("Relu", "Exp"));
  EXPECT_TRUE(log.Has("Original Model:"));
}

TEST(Sanitize, TakesOutputsAndInputShapesThatAreGiven) {
  const TemporaryFolder folder;
  EditableModel model = Chain(folder);
  RecordingLogger log;
  SanitizePlan plan;
  plan.shapes.wanted = false;
  plan.model.outputs = {"t"};
  plan.inputs = {TwoByThree("x")};
  ASSERT_TRUE(Sanitize(plan, model, kNever, log).ok());
  ASSERT_EQ(model.now().Outputs().size(), 1u);
  EXPECT_EQ(model.now().Outputs()[0].name, "t");
  EXPECT_EQ(ShapeOf(model.now(), "x"), "x: 2 3");
  EXPECT_TRUE(log.Has("Overriding input shapes"));
  plan.model.outputs = {"lost"};
  EXPECT_EQ(Sanitize(plan, model, kNever, log).code(), StatusCode::kNotFound);
}

TEST(Sanitize, MakesATensorWithinAnInput) {
  const TemporaryFolder folder;
  EditableModel model = Chain(folder);
  RecordingLogger log;
  SanitizePlan plan;
  plan.shapes.wanted = false;
  plan.inputs = {TwoByThree("t")};
  ASSERT_TRUE(Sanitize(plan, model, kNever, log).ok());
  EXPECT_THAT(NodesOf(model.now()), ElementsAre("Exp"));
}

TEST(ExtractPart, WritesTheNodesBetweenTheTensors) {
  const TemporaryFolder folder;
  const EditableModel model = Chain(folder);
  RecordingLogger log;
  for (const bool as_in_file : {true, false}) {
    ExtractionPlan plan;
    plan.path = folder / "chain.onnx";
    plan.as_in_file = as_in_file;
    plan.output = folder / "part.onnx";
    plan.extract = {{{"t", DType::kUndefined, std::nullopt}},
                    {{"y", DType::kUndefined, std::nullopt}}};
    ASSERT_TRUE(ExtractPart(model.original(), plan, log).ok());
    const EditableModel part = *EditableModel::Open(plan.output, {}, false);
    EXPECT_THAT(NodesOf(part.now()), ElementsAre("Exp"));
  }
}

TEST(ReadTensorRanges, AreThoseOfTheFirstIteration) {
  const TemporaryFolder folder;
  const std::string path = folder / "outputs.npz";
  const auto writer = *ResultsWriter::Create(path, {"onnxrt"});
  for (const float first : {-1.0f, 9.0f}) {
    const std::vector<float> values = {first, 2, 5};
    const auto bytes = std::as_bytes(std::span(values));
    const Tensor tensor = *Tensor::Copy(DType::kFloat32, {3}, {bytes.begin(), bytes.end()});
    ASSERT_TRUE(writer->Append(0, {"onnxrt", std::nullopt, {{"y", tensor}}}).ok());
  }
  ASSERT_TRUE(writer->Publish().ok());
  RecordingLogger log;
  const auto ranges = ReadTensorRanges(path, log);
  ASSERT_TRUE(ranges.ok()) << ranges.status().message();
  EXPECT_EQ(ranges->at("y").min, -1);
  EXPECT_EQ(ranges->at("y").max, 5);
  EXPECT_EQ(ranges->at("y").mean, 2);
  EXPECT_TRUE(log.Has("Found 2 iterations"));
}

TEST(SaveGraphPage, DrawsTheModelOrSaysWhyNot) {
  const TemporaryFolder folder;
  const ReportFile page = *ReportFileFor("--graph", folder / "graph.html");
  ASSERT_TRUE(SaveGraphPage(ChainFile(folder), page, {}).ok());
  EXPECT_THAT(ReadText(folder / "graph.html"), HasSubstr("Relu"));
  WriteText(folder / "no_model.onnx", "no model");
  EXPECT_EQ(SaveGraphPage(folder / "no_model.onnx", page, {}).code(), StatusCode::kMalformed);
}

}  // namespace
}  // namespace vernier
