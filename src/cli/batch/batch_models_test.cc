#include "cli/batch/batch_models.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "cli/batch/batch_result.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

TEST(RunWordsForTest, PutsTheStemIntoWhatIsSaved) {
  struct Row {
    Words given, expected;
  };
  const Row rows[] = {
      {{"--onnxrt", "--save-outputs", "out.json"}, {"--onnxrt", "--save-outputs", "m-out.json"}},
      {{"--save-outputs=a/out.npz"}, {"--save-outputs=a/m-out.npz"}},
      {{"--save-outputs"}, {"--save-outputs=m-outputs.json"}},
      {{"--save-inputs", "folder"}, {"--save-inputs", "folder/m"}},
      {{"--output-dir", "d"}, {"--output-dir", "d/m"}},
      {{"--save-outputs", "{stem}.json"}, {"--save-outputs", "m.json"}},
      {{"--load-outputs", "gold/{stem}.json"}, {"--load-outputs", "gold/m.json"}},
      {{"--load-outputs", "gold.json"}, {"--load-outputs", "gold.json"}},
      {{"--save-onnx", "x.onnx", "--log-file", "l.txt"},
       {"--save-onnx", "m-x.onnx", "--log-file", "m-l.txt"}},
      {{"--report", "r.html", "--report=r.xml"}, {"--report", "m-r.html", "--report=m-r.xml"}},
  };
  for (const Row& row : rows) {
    Words given = row.given, expected = row.expected;
    given.emplace_back("--identity");  // who has nothing that runs has nothing to save
    const Result<RunWords> run = RunWordsFor({"dir/m.onnx", "m"}, given);
    ASSERT_TRUE(run.ok()) << run.status().message();
    expected.insert(expected.begin(), "dir/m.onnx");
    expected.emplace_back("--identity");
    EXPECT_EQ(run->words, expected);
  }
}

TEST(RunWordsForTest, KnowsWhereTheRecordGoes) {
  EXPECT_EQ(RunWordsFor({"m.onnx", "m"}, Words{"--onnxrt"})->record, "");
  EXPECT_EQ(RunWordsFor({"m.onnx", "m"}, Words{"--save-record", "r.json"})->record, "m-r.json");
  EXPECT_EQ(RunWordsFor({"m.onnx", "m"}, Words{"--output-dir", "d"})->record, "d/m/record.json");
  EXPECT_EQ(
      RunWordsFor({"m.onnx", "m"}, Words{"--output-dir", "d", "--save-record", "r.json"})->record,
      "d/m/m-r.json");
}

TEST(RunWordsForTest, RefusesWhatIsNoOptionOfRun) {
  for (const Words& words : {Words{"x.onnx", "--onnxrt"}, Words{"--nosuch"}, Words{"--atol"}}) {
    EXPECT_EQ(RunWordsFor({"m.onnx", "m"}, words).status().code(), StatusCode::kInvalidArgument);
  }
}

TEST(FindBatchModelsTest, ExpandsPatternsOnceAndTellsStemsApart) {
  const fs::path root = fs::path(testing::TempDir()) / "batch";
  fs::remove_all(root);
  for (const char* name : {"a/m.onnx", "b/m.onnx", "b/n.onnx", "c/m-2.onnx"}) {
    fs::create_directories((root / name).parent_path());
    std::ofstream(root / name) << "x";
  }
  const auto models =
      FindBatchModels(Words{root / "a" / "m.onnx", root / "*" / "*.onnx", root / "b" / "n.onnx"});
  ASSERT_TRUE(models.ok());
  Words stems;
  for (const BatchModel& model : *models) stems.push_back(model.stem);
  EXPECT_EQ(stems, (Words{"m", "m-2", "n", "m-2-2"}));
  EXPECT_EQ(FindBatchModels(Words{root / "*.pb"}).status().code(), StatusCode::kMalformed);
}

TEST(FaultsOfTest, TheWorstRunDecides) {
  const auto code = [](std::initializer_list<int> codes) {
    std::vector<BatchResult> results;
    for (const int exit_code : codes) {
      results.emplace_back();
      results.back().started = true;
      results.back().exit_code = exit_code;
    }
    return ExitCode(FaultsOf(results), false);
  };
  EXPECT_EQ(code({0, 0}), 0);
  EXPECT_EQ(code({0, 3}), 3);
  EXPECT_EQ(code({3, 6, 0}), 6);
  EXPECT_EQ(code({6, 1, 5}), 1);
  EXPECT_EQ(code({0, 128 + 11}), 70);
}

}  // namespace
}  // namespace vernier
