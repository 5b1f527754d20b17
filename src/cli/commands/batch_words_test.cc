#include "cli/commands/batch_words.h"

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
      {{"--output-dir", "results.v2"}, {"--output-dir", "results.v2/m"}},
      {{"--tf", "--save-timeline=t.1"}, {"--tf", "--save-timeline=t.1/m"}},
      {{"--runner", "t=trt --save-engine e.plan --fp16"},
       {"--runner", "t=trt --save-engine m-e.plan --fp16"}},
      {{"--runner=t='trt' 'a b' --save-tactics=x/t.json"},
       {"--runner=t=trt 'a b' --save-tactics=x/m-t.json"}},
      {{"--runner", "t=trt --save-engine '{stem}.plan'"},
       {"--runner", "t=trt --save-engine m.plan"}},
      {{"--runner", "t=trt  --save-timing-cache c"}, {"--runner", "t=trt  --save-timing-cache c"}},
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

TEST(RunWordsForTest, QuotesAStemWithBlanksWithinARunner) {
  const Result<RunWords> run =
      RunWordsFor({"a b.onnx", "a b"}, Words{"--runner", "t=trt {stem}.onnx --save-engine e.plan"});
  ASSERT_TRUE(run.ok()) << run.status().message();
  EXPECT_EQ(run->words,
            (Words{"a b.onnx", "--runner", "t=trt 'a b.onnx' --save-engine 'a b-e.plan'"}));
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
