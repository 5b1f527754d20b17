// What speaks for float32, and how TensorRT is set to it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "debug/engine_precisions.h"
#include "debug/precision_evidence.h"
#include "model/onnx/onnx_test_model.h"

namespace vernier {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing_model::Field;
using testing_model::Node;
using testing_model::Value;

using Options = std::vector<std::pair<std::string, std::string>>;

RunnerPlan EngineWith(Options options) {
  RunnerPlan runner;
  runner.backend = std::string(kTensorRtBackend);
  runner.session_options = std::move(options);
  return runner;
}

TEST(EnginePrecisions, NewerReleasesAreStronglyTyped) {
  EXPECT_FALSE(IsStronglyTyped("8.5.3"));
  EXPECT_TRUE(IsStronglyTyped("10.0.1"));
  EXPECT_FALSE(IsStronglyTyped("unknown"));
}

TEST(EnginePrecisions, AFloat32EngineKeepsItsOtherOptions) {
  RunnerPlan runner =
      EngineWith({{"fp16", "1"}, {"refittable", "1"}, {"layer_precisions", "a:float16"}});
  KeepInFloat32(runner);
  EXPECT_THAT(runner.session_options, ElementsAre(Pair("refittable", "1")));
  RunnerPlan other = EngineWith({{"fp16", "1"}});
  other.backend = "onnxruntime";
  KeepInFloat32(other);
  EXPECT_THAT(other.session_options, ElementsAre(Pair("fp16", "1")));
}

TEST(EnginePrecisions, ObeysTheTypesOfTheModelOrThoseOfNodes) {
  RunnerPlan typed = EngineWith({{"fp16", "1"}});
  ObeyTypes(typed);
  EXPECT_THAT(typed.session_options, ElementsAre(Pair("strongly_typed", "1")));
  RunnerPlan hinted = EngineWith({});
  const std::vector<std::string> tensors = {"a", "b"};
  ObeyPrecisions(hinted, tensors, "float32");
  EXPECT_THAT(hinted.session_options,
              ElementsAre(Pair("fp16", "1"), Pair("precision_constraints", "obey"),
                          Pair("node_precisions", "a:float32\nb:float32")));
}

TEST(EnginePrecisions, OneBuilderKeepsTimingsUnlessTacticsAreGiven) {
  RunnerPlan runner = EngineWith({});
  ShareBuilder(runner, "/nowhere/timings");
  EXPECT_EQ(TimingsOf(runner), "/nowhere/timings");
  EXPECT_THAT(runner.backend_options, Contains(Pair("keep_builder", "1")));
  RunnerPlan tactics = EngineWith({{"load_tactics", "t.json"}});
  ShareBuilder(tactics, "/nowhere/timings");
  EXPECT_EQ(TimingsOf(tactics), "");
}

TEST(EnginePrecisions, ReportsLayersThatGiveAnotherPrecision) {
  EngineBuildRecord build;
  build.config = {{"Layer precisions", "a:float32\nb:float32"}};
  build.layers = {{"a", "float32", "float32"}, {"b", "float32", "float16"}, {"c", "", "int8"}};
  EXPECT_THAT(AskedLayers(build), ElementsAre("a:float32", "b:float32"));
  EXPECT_THAT(DisobeyedLayers(build),
              ElementsAre("layer 'b' was set to float32 and computes float16"));
}

// Of four nodes in a row.
NodeSet LikelyOf(std::vector<PrecisionEvidence> evidence) {
  const OnnxModel model = *testing_model::Parse(testing_model::Model(
      Field(1, Node("Relu", {"x"}, {"a"})) + Field(1, Node("Exp", {"a"}, {"b"})) +
      Field(1, Node("Neg", {"b"}, {"c"})) + Field(1, Node("Tanh", {"c"}, {"y"})) +
      Field(11, Value("x")) + Field(12, Value("y"))));
  return LikelyNodes(evidence, FindLowerable(model), {3, 2, 1, 0});
}

TEST(LikelyNodes, AreThoseWithMostOfTheErrorInTheOrderOfTheRanking) {
  EXPECT_THAT(LikelyOf({{.error = 0.9}, {.error = 0.001}, {.error = 0.8}, {.error = 1}}),
              ElementsAre(3, 2));
  EXPECT_THAT(LikelyOf({{}, {}, {}, {}}), IsEmpty());
}

TEST(LikelyNodes, BesideImpossibleValuesSmallErrorsDoNotCount) {
  EXPECT_THAT(LikelyOf({{}, {.beyond = true}, {.error = 0.04}, {.error = 0.04}}), ElementsAre(1));
  // An error that is smaller than what came in grew of itself.
  EXPECT_THAT(LikelyOf({{}, {.beyond = true}, {.error = 0.5, .inherited = 0.6}, {.error = 0.7}}),
              ElementsAre(3, 1));
}

}  // namespace
}  // namespace vernier
