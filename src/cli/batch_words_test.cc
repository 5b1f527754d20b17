#include "cli/batch_words.h"

#include <gtest/gtest.h>

namespace vernier {
namespace {

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

}  // namespace
}  // namespace vernier
