#include "options/words/flag_suggestion.h"
#include "options/table/command_options.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/table/command_table.h"

namespace vernier {
namespace {

TEST(SuggestFlag, NamesTheNearestFlag) {
  const OptionTable table = RunOptionTable();
  EXPECT_EQ(SuggestFlag(table, "--onxrt"), "--onnxrt");
  EXPECT_EQ(SuggestFlag(table, "--save-ouptuts=f"), "--save-outputs");
  EXPECT_EQ(SuggestFlag(table, "--opnevino"), "--openvino");
  EXPECT_EQ(SuggestFlag(table, "-rtol"), "--rtol");
}

TEST(SuggestFlag, KnowsFrameworksByOtherNames) {
  const OptionTable table = RunOptionTable();
  EXPECT_EQ(SuggestFlag(table, "--ort"), "--onnxrt");
  EXPECT_EQ(SuggestFlag(table, "--tensorrt"), "--trt");
  EXPECT_EQ(SuggestFlag(FindCommand("compare")->options(), "--ort"), std::nullopt);
}

TEST(SuggestFlag, MarksOutputsAsEveryRunnerOfOnnxDoes) {
  const OptionTable table = RunOptionTable();
  EXPECT_EQ(SuggestFlag(table, "--outputs-by-type"), "--onnx-outputs-by-type");
  EXPECT_EQ(SuggestFlag(table, "--outputs"), "--onnx-outputs");
}

TEST(ExplainElsewhere, NamesTheCommandThatHasTheFlag) {
  EXPECT_EQ(ExplainElsewhere(*FindCommand("batch"), "--onnxrt"),
            "--onnxrt is an option of run: put it after --, as in vernier batch ... -- --onnxrt");
  EXPECT_EQ(ExplainElsewhere(*FindCommand("compare"), "--onnxrt"), "vernier run has --onnxrt.");
  EXPECT_EQ(ExplainElsewhere(*FindCommand("run"), "--duration=3"),
            "vernier profile has --duration.");
  EXPECT_EQ(ExplainElsewhere(*FindCommand("run"), "--nosuch"), "");
}

TEST(SuggestFlag, KnowsFlagsThatPolygraphyUsedToHave) {
  const OptionTable table = RunOptionTable();
  EXPECT_EQ(SuggestFlag(table, "--int-max=5"), "--val-range");
}

TEST(SuggestFlag, IsSilentWhenNothingIsNear) {
  const OptionTable table = RunOptionTable();
  EXPECT_EQ(SuggestFlag(table, "--quite-another-thing"), std::nullopt);
  EXPECT_EQ(SuggestFlag(table, "model.onnx"), std::nullopt);
  EXPECT_EQ(SuggestFlag(table, "-"), std::nullopt);
  EXPECT_EQ(SuggestFlag(table, "-5x"), std::nullopt);
  EXPECT_EQ(SuggestFlag(table, "--" + std::string(100000, 'x')), std::nullopt);
}

TEST(ExplainSurplus, ASecondModelNeedsARunner) {
  const std::vector<std::string> words = {"a.onnx", "--onnxrt", "my b.onnx"};
  EXPECT_EQ(ExplainSurplus(RunOptionTable(), words, "my b.onnx"),
            "There is one model for all runners. For one each: --runner a='onnxrt FILE' --runner "
            "b='onnxrt my b.onnx'.");
}

TEST(ExplainSurplus, ASecondValueIsNoModel) {
  const std::vector<std::string> words = {"--report", "a.html", "b.html", "--onnxrt", "m.onnx"};
  EXPECT_EQ(ExplainSurplus(RunOptionTable(), words, "m.onnx"),
            "--report takes one value: 'b.html' after it was taken for the model.");
}

TEST(ExplainSurplus, NamesTheFlagThatTakesNoMore) {
  const OptionTable table = RunOptionTable();
  const std::vector<std::string> words = {"m.onnx",   "--report", "a.html", "b.md", "--blame",
                                          "--resume", "s.json",   "x",      "--"};
  EXPECT_EQ(ExplainSurplus(table, words, "b.md"),
            "--report takes one value; give it once for each.");
  EXPECT_EQ(ExplainSurplus(table, words, "s.json"),
            "--resume takes no file here. `vernier blame --resume s.json` resumes a search.");
  EXPECT_EQ(ExplainSurplus(table, words, "x"),
            "--resume takes no file here. `vernier blame --resume x` resumes a search.");
  EXPECT_EQ(ExplainSurplus(table, words, "--nosuch"), "");
  EXPECT_EQ(ExplainSurplus(table, words, "not there"), "");
}

}  // namespace
}  // namespace vernier
