// What session.h and checks.h refuse before anything is opened, and how they complete a plan.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vernier/checks.h"
#include "vernier/session.h"

namespace vernier {
namespace {

using testing::HasSubstr;

RunPlan PlanOf(const std::string& backend, const std::string& path) {
  RunPlan plan;
  plan.runners = {MakeRunner("one", backend, path)};
  return plan;
}

TEST(ResolveRunners, TakeBackendsByTheNamesOfTheirFlags) {
  RunPlan plan = PlanOf("onnxrt", "absent.onnx");
  ASSERT_TRUE(ResolveRunners(plan).ok());
  EXPECT_EQ(plan.runners[0].backend, "onnxruntime");
  EXPECT_EQ(plan.runners[0].model.type, "onnx");
}

TEST(ResolveRunners, NameTheRunnerThatCannotTakeItsModel) {
  RunPlan plan = PlanOf("onnxrt", "absent.engine");
  const Status status = ResolveRunners(plan);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("runner 'one': Model type: engine"));
}

TEST(ResolveRunners, SayWhichScriptIsNotThere) {
  RunPlan plan = PlanOf("absent.py", "absent.onnx");
  EXPECT_EQ(ResolveRunners(plan).code(), StatusCode::kMalformed);
}

TEST(Profile, WantsARunnerAndASetOfShapes) {
  EXPECT_EQ(Profile({}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(ProfileOptions().shapes.size(), 1);
  ProfileOptions none;
  none.shapes.clear();
  EXPECT_THAT(Profile(PlanOf("onnxrt", "m.onnx"), none).status().message(), HasSubstr("shapes"));
}

TEST(ValidatePlan, RefusesToSaveJsonUnderTheNameOfAnotherFormat) {
  RunPlan plan;
  for (const char* name : {"x.npy", "x.PB"}) {
    plan.save.outputs = name;
    const Status status = ValidatePlan(plan);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr("--save-outputs: '" + plan.save.outputs + "'"));
    plan.lenient = true;  // Polygraphy writes it
    EXPECT_TRUE(ValidatePlan(plan).ok());
    plan.lenient = false;
  }
  for (const char* name : {"x.json", "x.npz", "x.foo", "x"}) {
    plan.save.outputs = name;
    EXPECT_TRUE(ValidatePlan(plan).ok()) << ValidatePlan(plan).message();
  }
}

TEST(Checks, RefuseNamesThatDoNotExist) {
  const RunPlan plan = PlanOf("onnxrt", "m.onnx");
  ExtremesOptions extremes;
  extremes.sets = {"denormalz"};
  EXPECT_THAT(CheckExtremes(plan, extremes).status().message(), HasSubstr("denormals"));
  ConsistencyOptions consistency;
  consistency.only = {"nosuch"};
  EXPECT_EQ(CheckConsistency(plan, consistency).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(CheckConsistency({}).status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace vernier
