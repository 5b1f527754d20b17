#include "run/runner/resolve_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run/runner/engine_use.h"
#include "util/log/no_log.h"

namespace vernier {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

RunnerPlan RunnerOf(std::string backend, std::string path) {
  RunnerPlan runner;
  runner.backend = std::move(backend);
  runner.model.path = std::move(path);
  return runner;
}

Status Resolve(RunnerPlan& runner) {
  NoLog silence;
  return ResolveRunner(runner, silence);
}

TEST(ResolveRunner, TheTypeFollowsFromTheFile) {
  RunnerPlan runner = RunnerOf("onnxruntime", "absent.onnx");
  ASSERT_TRUE(Resolve(runner).ok());
  EXPECT_EQ(runner.model.type, "onnx");
  EXPECT_THAT(runner.session_options, IsEmpty());
}

TEST(ResolveRunner, TensorRtIsToldTheTypeAndWhoServesItInPython) {
  RunnerPlan runner = RunnerOf("tensorrt", "absent.engine");
  runner.model.outputs = {"*"};
  ASSERT_TRUE(Resolve(runner).ok());
  EXPECT_THAT(runner.session_options,
              ElementsAre(Pair("script", "builtin:tensorrt"), Pair("model_type", "engine")));
  EXPECT_THAT(runner.backend_options, ElementsAre(Pair("module", "tensorrt")));
  EXPECT_THAT(runner.model.outputs, IsEmpty());
}

TEST(ResolveRunner, TensorFlowsModelsAreConvertedForThoseThatReadOnnx) {
  RunnerPlan runner = RunnerOf("onnxruntime", "absent.pb");
  ASSERT_TRUE(Resolve(runner).ok());
  EXPECT_THAT(runner.session_options, ElementsAre(Pair("convert", "onnx")));
}

TEST(ResolveRunner, KerasModelsMoveToPython) {
  RunnerPlan runner = RunnerOf("tensorflow", "absent.keras");
  ASSERT_TRUE(Resolve(runner).ok());
  EXPECT_EQ(runner.backend, "keras");
  EXPECT_THAT(runner.backend_options, ElementsAre(Pair("module", "keras")));
}

TEST(ResolveRunner, WhatABackendCannotReadIsAnError) {
  RunnerPlan runner = RunnerOf("onnxruntime", "absent.engine");
  const Status status = Resolve(runner);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("engine could not be converted"));
}

TEST(ResolveRunner, OpenVinosOwnFormatIsForOpenVinoAlone) {
  RunnerPlan openvino = RunnerOf("openvino", "m.xml");
  EXPECT_TRUE(Resolve(openvino).ok());
  EXPECT_EQ(openvino.model.type, "");
  RunnerPlan other = RunnerOf("onnxruntime", "m.xml");
  EXPECT_EQ(Resolve(other).code(), StatusCode::kInvalidArgument);
}

TEST(ResolveRunner, ASecondCallChangesNothing) {
  for (const auto& [backend, path] :
       {std::pair("tensorrt", "m.onnx"), std::pair("tensorrt", "m.pb"),
        std::pair("tensorrt", "net.py:load"), std::pair("tensorflow", "m.keras"),
        std::pair("tensorflow", "m.pb"), std::pair("onnxref", "m.onnx"), std::pair("torch", "m.pt"),
        std::pair("openvino", "m.onnx")}) {
    RunnerPlan once = RunnerOf(backend, path);
    if (!Resolve(once).ok()) continue;
    RunnerPlan twice = once;
    ASSERT_TRUE(Resolve(twice).ok()) << backend << " " << path;
    EXPECT_EQ(twice.backend, once.backend);
    EXPECT_EQ(twice.place, once.place);
    EXPECT_EQ(twice.backend_options, once.backend_options) << backend << " " << path;
    EXPECT_EQ(twice.session_options, once.session_options) << backend << " " << path;
    EXPECT_EQ(twice.model.type, once.model.type);
    EXPECT_EQ(twice.model.path, once.model.path);
  }
}

TEST(ResolveRunner, APlugInOfOthersSaysLaterWhatItOpens) {
  RunnerPlan runner = RunnerOf("another", "m.own");
  EXPECT_TRUE(Resolve(runner).ok());
  EXPECT_EQ(runner.model.type, "");
  RunnerPlan caffe = RunnerOf("another", "m.prototxt");
  EXPECT_TRUE(Resolve(caffe).ok());
  EXPECT_EQ(caffe.model.type, "caffe");
}

TEST(CheckFormat, RefusesWhatIsNotListed) {
  const auto check = [](const char* path, const char* type, std::vector<std::string> formats) {
    ModelPlan model;
    model.path = path;
    model.type = type;
    return CheckFormat(model, formats);
  };
  EXPECT_TRUE(check("m.onnx", "onnx", {"onnx"}).ok());
  EXPECT_TRUE(check("m.own", "", {"onnx", ".own"}).ok());
  EXPECT_TRUE(check("m.else", "", {"*"}).ok());
  EXPECT_THAT(check("m.engine", "engine", {"onnx"}).message(),
              HasSubstr("engine could not be converted"));
  EXPECT_THAT(check("m.else", "", {"onnx"}).message(), HasSubstr("Could not automatically"));
  // One that says nothing is given what has a type that some framework of today reads.
  EXPECT_TRUE(check("m.engine", "engine", {}).ok());
  EXPECT_FALSE(check("m.else", "", {}).ok());
  EXPECT_THAT(check("m.uff", "uff", {}).message(), HasSubstr("convert the TensorFlow graph"));
}

TEST(IsConvertedFor, HoldsOfTensorFlowsModelsWhereOnnxIsOpened) {
  using Formats = std::vector<std::string>;
  EXPECT_TRUE(IsConvertedFor(Formats{"onnx"}, ModelType::kFrozen));
  EXPECT_FALSE(IsConvertedFor(Formats{"onnx", "frozen"}, ModelType::kFrozen));
  EXPECT_FALSE(IsConvertedFor(Formats{"onnx"}, ModelType::kEngine));
  EXPECT_FALSE(IsConvertedFor(Formats{".own"}, ModelType::kFrozen));
  EXPECT_FALSE(IsConvertedFor({}, ModelType::kFrozen));
}

TEST(CheckOneEngine, RefusesProcessesThatWouldEachBuildOne) {
  RunnerPlan runner = RunnerOf("another", "m.onnx");
  runner.name = "own";
  RunPlan plan;
  EXPECT_TRUE(CheckOneEngine(plan, runner).ok());
  plan.execution.workers_per_runner = 2;
  EXPECT_THAT(CheckOneEngine(plan, runner).message(), HasSubstr("an engine in every worker"));
  plan.shard = {1, 4};
  EXPECT_THAT(CheckOneEngine(plan, runner).message(), HasSubstr("an engine in every shard"));
  runner.model.type = "engine";
  EXPECT_TRUE(CheckOneEngine(plan, runner).ok());
}

TEST(PassMarks, GoToThoseThatNameTensorsThemselves) {
  RunnerPlan torch = RunnerOf("torch", "m.pt"), onnx = RunnerOf("onnxruntime", "m.onnx");
  PassMarks({"mark", "all"}, torch);
  PassMarks({"mark", "all"}, onnx);
  EXPECT_THAT(torch.session_options, ElementsAre(Pair("mark", "*")));
  EXPECT_THAT(onnx.session_options, IsEmpty());
}

}  // namespace
}  // namespace vernier
