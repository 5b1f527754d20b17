// What session.h and checks.h refuse before anything is opened, how they complete a plan, and what
// they do without a framework.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "model/onnx/onnx_test_model.h"
#include "report/files/accuracy_file.h"
#include "vernier/checks.h"
#include "vernier/compare_options.h"
#include "vernier/session.h"

namespace vernier {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing_model::Field;
using testing_model::Node;
using testing_model::Value;

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

TEST(ValidatePlan, TokensNeedSomebodyWhoTakesThem) {
  RunPlan plan = PlanOf("onnxrt", "m.onnx");
  plan.compare->tokens = "tokens.npy";
  EXPECT_THAT(ValidatePlan(plan).message(),
              testing::HasSubstr("--tokens tokens.npy: nothing takes them: add --compare logits"));
  plan.compare->functions = {CompareFunction::kLogits};
  EXPECT_THAT(ValidatePlan(plan).message(), testing::Not(testing::HasSubstr("nothing takes them")));
}

TEST(ValidatePlan, ToResumeNeedsSavedOutputsAndARunner) {
  RunPlan plan;
  plan.save.resume = true;
  EXPECT_THAT(ValidatePlan(plan).message(), HasSubstr("--resume needs --save-outputs, which"));
  plan.save.outputs = "x.npz";
  EXPECT_EQ(ValidatePlan(plan).message(), "--resume needs a runner");
}

TEST(ValidatePlan, RefusesPicturesOfWhatSimpleDoesNotCompare) {
  RunPlan plan;
  plan.pictures.heatmaps = "maps";
  EXPECT_TRUE(ValidatePlan(plan).ok()) << ValidatePlan(plan).message();
  plan.compare->functions = {CompareFunction::kScript};
  EXPECT_EQ(ValidatePlan(plan).code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(ValidatePlan(plan).message(), HasSubstr("--save-heatmaps"));
  plan.lenient = true;  // Polygraphy ignores it
  EXPECT_TRUE(ValidatePlan(plan).ok()) << ValidatePlan(plan).message();
}

TEST(ValidatePlan, RefusesDecisionsThatTheirTextDoesNotSay) {
  RunPlan plan = PlanOf("onnxrt", "absent.onnx");
  plan.decisions.decisions = {*ParseDecision("y:top1")};
  EXPECT_TRUE(ValidatePlan(plan).ok()) << ValidatePlan(plan).message();
  plan.decisions.decisions[0].k = 0;
  EXPECT_EQ(ValidatePlan(plan).code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(ValidatePlan(plan).message(), HasSubstr("do not say what its text 'top1' says"));
  plan.decisions.decisions[0] = DecisionPlan();
  EXPECT_EQ(ValidatePlan(plan).code(), StatusCode::kInvalidArgument);
}

TEST(ValidatePlan, RefusesTwoNamesOfOneFileThatIsNotThereYet) {
  const std::string folder = testing::TempDir() + "two_names/";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  std::filesystem::create_symlink("absent.json", folder + "link.json");
  const std::pair<std::string, std::string> same[] = {
      {"two_names.json", "./two_names.json"},
      {folder + "absent.json", folder + "link.json"},
      {folder + "link.json", folder + "absent.json"}};
  for (const auto& [inputs, outputs] : same) {
    RunPlan plan;
    plan.save.inputs = inputs;
    plan.save.outputs = outputs;
    EXPECT_THAT(ValidatePlan(plan).message(),
                HasSubstr("--save-inputs and --save-outputs name the same path"));
    plan.save.inputs = folder + "other.json";
    EXPECT_TRUE(ValidatePlan(plan).ok());
  }
  std::filesystem::remove_all(folder);
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

std::string TextOfFile(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// A file whose node "bad" reads what nothing makes.
std::string BrokenModel(const std::string& name) {
  const std::string path = testing::TempDir() + name;
  const std::string node = Node("Add", {"x", "lost"}, {"y"}, Field(3, "bad"));
  std::ofstream(path) << testing_model::Model(Field(2, "graph") + Field(1, node) +
                                              Field(11, Value("x")) + Field(12, Value("y")));
  return path;
}

TEST(CheckLint, GoesByRulesWithoutARunner) {
  LintOptions check;
  check.model.path = BrokenModel("lint_by_rules.onnx");
  RunPlan plan;
  plan.save.record = testing::TempDir() + "lint_by_rules.json";
  const Result<Checked<LintRecord>> checked = CheckLint(plan, check);
  ASSERT_TRUE(checked.ok()) << checked.status().message();
  EXPECT_EQ(checked->exit_code, 1);
  EXPECT_FALSE(checked->record.valid());
  ASSERT_EQ(checked->record.findings.size(), 1);
  EXPECT_EQ(checked->record.findings[0].rule, "dangling-input");
  EXPECT_THAT(checked->record.failing, ElementsAre("bad"));
  EXPECT_THAT(checked->record.runners, testing::IsEmpty());
  EXPECT_EQ(TextOfFile(plan.save.record), ToJson(checked->record));
  check.skip = {"dangling-input"};
  EXPECT_EQ(CheckLint({}, check)->exit_code, 0);
}

TEST(CheckLint, SavesOverNothingThatItReads) {
  LintOptions check;
  check.model.path = BrokenModel("lint_kept.onnx");
  RunPlan plan;
  plan.save.record = check.model.path;
  const Status status = CheckLint(plan, check).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("lint_kept.onnx' is read by this run (the model)"));
}

TEST(CheckLint, RefusesWhatItCannotCheck) {
  EXPECT_EQ(CheckLint({}).status().code(), StatusCode::kInvalidArgument);
  LintOptions check;
  check.model.path = "absent.onnx";
  EXPECT_EQ(CheckLint({}, check).status().code(), StatusCode::kMalformed);
  check.model.path = BrokenModel("lint_refused.onnx");
  EXPECT_THAT(CheckLint(PlanOf("onnxrt", "other.onnx"), check).status().message(),
              HasSubstr("runner 'one' has the model 'other.onnx'"));
  check.skip = {"nosuch"};
  EXPECT_THAT(CheckLint({}, check).status().message(),
              HasSubstr("--skip: 'nosuch' is not a rule; "));
}

// A file with an RMSE of 0.5 and its threshold of 0.25.
std::string SavedRmse(const std::string& name) {
  const SavedOutput output{"y", SavedMetric{CompareFunction::kRmse, 0.5, 0.25}};
  const SavedFunction function{false, {{"first", "second", {{output}}}}};
  const std::string path = testing::TempDir() + name;
  EXPECT_TRUE(WriteAccuracyResults({{function}}, path).ok());
  return path;
}

TEST(CheckAccuracy, JudgesByThresholdsOfThePlan) {
  const std::string path = SavedRmse("accuracy_judged.json");
  RunPlan plan;
  plan.compare->functions = {CompareFunction::kRmse};
  plan.compare->thresholds[CompareFunction::kRmse].fallback = 0.4;
  EXPECT_EQ(CheckAccuracy(plan, path)->exit_code, 1);
  plan.compare->thresholds[CompareFunction::kRmse].fallback = 0.6;
  plan.save.accuracy = testing::TempDir() + "accuracy_saved.json";
  const Result<Checked<AccuracyRecord>> checked = CheckAccuracy(plan, path);
  ASSERT_TRUE(checked.ok()) << checked.status().message();
  EXPECT_EQ(checked->exit_code, 0);
  EXPECT_TRUE(checked->record.results.passed());
  EXPECT_TRUE(ReadAccuracyResults(plan.save.accuracy)->passed());
}

TEST(CheckAccuracy, PassesNothingThatItCannotJudge) {
  const std::string path = SavedRmse("accuracy_refused.json");
  EXPECT_THAT(CheckAccuracy({}, path).status().message(), HasSubstr("No saved comparison results"));
  RunPlan plan;
  plan.compare->functions = {CompareFunction::kIndices};
  const Result<Checked<AccuracyRecord>> checked = CheckAccuracy(plan, path);
  ASSERT_TRUE(checked.ok()) << checked.status().message();
  EXPECT_EQ(checked->exit_code, 4);
  EXPECT_THAT(checked->record.skipped, ElementsAre(CompareFunction::kIndices));
  plan.save.accuracy = path;
  EXPECT_EQ(CheckAccuracy(plan, path).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(CheckAccuracy({}, "absent.json").status().code(), StatusCode::kMalformed);
}

}  // namespace
}  // namespace vernier
