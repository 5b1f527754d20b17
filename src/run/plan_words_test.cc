// What the words of a plan mean for the inputs and outputs of a model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "run/comparison/output_names.h"
#include "run/feeds/feed_plan.h"
#include "run/feeds/undeclared_inputs.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using Words = std::vector<std::string>;

TensorInfo FreeInput(std::string name, std::vector<Dim> shape) {
  return {std::move(name), DType::kFloat32, std::move(shape)};
}

TEST(CheckOutputNames, NamesTheOptionAndTheNearestOutput) {
  RunPlan plan;
  plan.compare->atol.entries.emplace_back("logits", 1e-3);
  EXPECT_TRUE(CheckOutputNames(plan, {"logits", "probs"}).ok());
  plan.compare->rtol.entries.emplace_back("prob", 1e-3);
  const Status status = CheckOutputNames(plan, {"logits", "probs"});
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_EQ(status.message(), "--rtol: there is no output 'prob'; did you mean 'probs'?");
}

TEST(CheckOutputNames, TakesASequenceForItsParts) {
  RunPlan plan;
  plan.compare->atol.entries = {{"out", 1e-3}, {"out[7]", 1e-3}};
  const std::vector<std::string> wholes = {"out"};
  EXPECT_TRUE(CheckOutputNames(plan, {"y"}, wholes).ok());
  EXPECT_TRUE(CheckOutputNames(plan, {"out[]", "out[7]"}).ok());
  EXPECT_EQ(CheckOutputNames(plan, {"out"}).code(), StatusCode::kNotFound);
}

TEST(CheckOutputNames, LooksAtThresholdsOfMetrics) {
  RunPlan plan;
  plan.compare->thresholds[CompareFunction::kL2].entries.emplace_back("zzz", 1);
  EXPECT_THAT(CheckOutputNames(plan, {"logits"}).message(), HasSubstr("no output 'zzz'"));
}

TEST(CheckOutputNames, OfOurOwnOptionsIsMisuse) {
  const auto code = [](const RunPlan& plan) { return CheckOutputNames(plan, {"logits"}).code(); };
  RunPlan plan;
  plan.compare->thresholds[CompareFunction::kL2].entries.emplace_back("zzz", 1);
  EXPECT_EQ(code(plan), StatusCode::kNotFound);
  plan.compare->logits_top1_threshold.entries.emplace_back("zzz", 1);
  EXPECT_EQ(code(plan), StatusCode::kInvalidArgument);
  plan = {};
  plan.compare->thresholds[CompareFunction::kUlp].entries.emplace_back("zzz", 1);
  EXPECT_EQ(code(plan), StatusCode::kInvalidArgument);
}

TEST(DescribedInputs, AreFloatUnlessTheySayAnotherType) {
  const Result<std::vector<TensorInfo>> inputs =
      DescribedInputs(Words{"x:[1,3]", "n:[2]:int64"}, nullptr);
  ASSERT_TRUE(inputs.ok()) << inputs.status().message();
  ASSERT_EQ(inputs->size(), 2u);
  EXPECT_EQ((*inputs)[0].dtype, DType::kFloat32);
  EXPECT_EQ((*inputs)[1].dtype, DType::kInt64);
  EXPECT_EQ((*(*inputs)[0].shape)[1].value, 3);
}

TEST(DescribedInputs, WithoutWordsSayWhatToGive) {
  const Status status = DescribedInputs({}, nullptr).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("--input-shapes"));
}

TEST(NoteOfFreeSizes, NamesThemUnlessTheUserGaveSizes) {
  const std::vector<TensorInfo> inputs = {FreeInput("x", {{-1, "N"}, {3, ""}, {-1, ""}}),
                                          FreeInput("k", {{4, ""}})};
  InputPlan plan;
  EXPECT_THAT(NoteOfFreeSizes(plan, inputs), HasSubstr("taken as 1: x [N, 3, ?]. "));
  EXPECT_THAT(NoteOfFreeSizes(plan, inputs, 2), HasSubstr("none of 2 other sizes worked"));
  EXPECT_EQ(NoteOfFreeSizes(plan, inputs, -1), "");
  EXPECT_EQ(NoteOfFreeSizes(plan, {}), "");
  plan.shape_words = {"x:[2,3,4]"};
  EXPECT_EQ(NoteOfFreeSizes(plan, inputs), "");
  plan.shape_words.clear();
  plan.dims = {{"N", 2}};
  EXPECT_EQ(NoteOfFreeSizes(plan, inputs), "");
  EXPECT_THAT(NoteOfFreeSizes(plan, inputs, 2),
              HasSubstr("of ['x[2]'], which were taken as 1, 2 other sizes were tried"));
}

TEST(GivenSizes, AreThoseOfTheFirstFeed) {
  const std::vector<TensorInfo> inputs = {FreeInput("x", {{-1, "N"}, {3, ""}}),
                                          FreeInput("k", {{-1, "N"}})};
  const auto sizes = GivenSizes("--input-shapes", Words{"x:[2,3]", "x:[5,3]"}, inputs);
  ASSERT_TRUE(sizes.ok()) << sizes.status().message();
  ASSERT_EQ(sizes->size(), 1u);
  EXPECT_EQ((*sizes)[0].name, "x");
  EXPECT_THAT((*sizes)[0].dims, ElementsAre(2, 3));
}

TEST(GivenSizes, OfOneNameFollow) {
  const std::vector<TensorInfo> inputs = {FreeInput("x", {{-1, "N"}, {3, ""}}),
                                          FreeInput("k", {{-1, "N"}})};
  const auto sizes = GivenSizes("--input-shapes", Words{"x:[2,3]"}, inputs, KnownSizes());
  ASSERT_TRUE(sizes.ok()) << sizes.status().message();
  ASSERT_EQ(sizes->size(), 2u);
  EXPECT_EQ((*sizes)[1].name, "k");
  EXPECT_THAT((*sizes)[1].dims, ElementsAre(2));
}

TEST(GivenSizes, RefuseWhatDoesNotFit) {
  const std::vector<TensorInfo> inputs = {FreeInput("x", {{-1, "N"}, {3, ""}})};
  const Status unknown = GivenSizes("--opt", Words{"z:[1]"}, inputs).status();
  EXPECT_EQ(unknown.code(), StatusCode::kMalformed);
  EXPECT_THAT(unknown.message(), HasSubstr("--opt: the model has no input 'z'"));
  EXPECT_EQ(GivenSizes("--opt", Words{"x:[2,4]"}, inputs).status().code(), StatusCode::kMalformed);
}

TEST(ListedFeedShapes, LeaveOpenWhatDiffersFromFeedToFeed) {
  const std::vector<TensorInfo> inputs = {FreeInput("x", {{-1, "N"}, {3, ""}})};
  RunPlan plan;
  plan.inputs.shape_words = {"x:[2,3]", "x:[5,3]"};
  EXPECT_EQ(ListedFeedShapes(plan, inputs), "x:[-1,3]");
  plan.inputs.shape_words = {"x:[2,3]"};
  EXPECT_EQ(ListedFeedShapes(plan, inputs), "x:[2,3]");
  plan.inputs.load_paths = {"feeds.json"};
  EXPECT_EQ(ListedFeedShapes(plan, inputs), "");
}

}  // namespace
}  // namespace vernier
