#include "options/bind/file_conflicts.h"
#include "options/table/command_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "options/table/option_table.h"

namespace vernier {
namespace {

using testing::HasSubstr;

class FileConflicts : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "file_conflicts/";
    std::filesystem::create_directories(folder_);
    for (const char* name : {"m.onnx", "in.npz", "runner.py"}) std::ofstream(folder_ + name) << "x";
  }

  Status Check(std::vector<std::string> words) {
    for (std::string& word : words) {
      if (const size_t at = word.rfind('@'); at != std::string::npos) word.replace(at, 1, folder_);
    }
    const OptionTable table = RunOptionTable();
    ParseResult parsed = ParseCommandLine(table, words);
    EXPECT_EQ(parsed.error, "");
    return CheckFileConflicts(parsed.args);
  }

  std::string folder_;
};

TEST_F(FileConflicts, NothingIsSavedOverWhatIsRead) {
  for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{
           {"--save-outputs", "@m.onnx"},
           {"--log-file", "@./m.onnx"},
           {"--load-inputs", "@in.npz", "--save-record", "@in.npz"},
           {"--load-outputs", "A=@in.npz", "--save-record", "@in.npz"},
           {"--like", "@in.npz", "--save-record", "@in.npz"},
           {"--class-names", "@in.npz", "--save-record", "@in.npz"},
           {"--labels", "y:@in.npz", "--log-file", "@in.npz"},
           {"--initial-state", "@in.npz", "--log-file", "@in.npz"},
           {"--map-inputs", "x=y", "@@in.npz", "--save-record", "@in.npz"},
           {"--map-outputs", "@@in.npz", "--log-file", "@in.npz"},
           {"--onnxrt-lib", "@in.npz", "--save-record", "@in.npz"},
           {"--plugins", "@in.npz", "--log-file", "@in.npz"},
           {"--compare", "logits", "--tokens", "@in.npz", "--save-record", "@in.npz"},
           {"--tf", "--save-pb", "@m.onnx"},
           {"--model-runner", "@runner.py", "--save-outputs", "@runner.py"},
           {"--runner", "a=@runner.py", "--report", "@runner.py"}}) {
    std::vector<std::string> words = {"@m.onnx", "--onnxrt"};
    words.insert(words.end(), more.begin(), more.end());
    const Status status = Check(words);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << more.back();
    EXPECT_THAT(status.message(), HasSubstr("would be overwritten: name another file"));
  }
}

TEST_F(FileConflicts, TheLogIsNoFileThatIsSavedByDefault) {
  const Status status =
      Check({"@m.onnx", "--onnxrt", "--output-dir", "@od", "--log-file", "@od/record.json"});
  EXPECT_THAT(status.message(), HasSubstr("--log-file and --output-dir would both write '"));
  EXPECT_TRUE(Check({"@m.onnx", "--onnxrt", "--output-dir", "@od", "--log-file", "@l"}).ok());
}

TEST_F(FileConflicts, ABundleReplacesNothingThatIsReadOrSaved) {
  const std::vector<std::string> run = {"@m.onnx", "--onnxrt", "--blame", "--bundle"};
  const auto check = [&](std::vector<std::string> more) {
    std::vector<std::string> words = run;
    words.insert(words.end(), more.begin(), more.end());
    return Check(words);
  };
  EXPECT_THAT(check({"@"}).message(), HasSubstr("m.onnx', which is read by this command"));
  const std::string bundle = folder_ + "bundle/";
  for (const char* part : {"found", "test_data_set_0"}) {
    std::filesystem::create_directories(bundle + part);
  }
  for (const char* part : {"repro.sh", "model.onnx", "found/blame.json"}) {
    std::ofstream(bundle + part) << "x";
  }
  EXPECT_TRUE(check({"@bundle"}).ok());
  EXPECT_THAT(check({"@bundle", "--load-inputs", "@bundle"}).message(),
              HasSubstr("(--load-inputs), and is replaced as a whole"));
  EXPECT_THAT(check({"@bundle", "--runner", "a=onnxrt " + bundle + "model.onnx"}).message(),
              HasSubstr("is read by this command"));
  for (const char* flag : {"--save-blame", "--save-outputs", "--report", "--log-file"}) {
    const Status status = check({"@bundle", flag, "@bundle/x.html"});
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << flag;
    EXPECT_THAT(status.message(), HasSubstr("is in the folder of --bundle"));
  }
  EXPECT_TRUE(check({"@bundle", "--save-blame", "@bundle.json"}).ok());
  std::ofstream(bundle + "notes.md") << "x";
  EXPECT_THAT(check({"@bundle"}).message(), HasSubstr("holds 'notes.md'"));
  std::filesystem::remove_all(bundle);
}

TEST_F(FileConflicts, ACacheIsNotSavedOverTheModel) {
  EXPECT_FALSE(Check({"@m.onnx", "--trt", "--save-timing-cache", "@m.onnx"}).ok());
  EXPECT_FALSE(Check({"@m.onnx", "--trt", "--int8", "--calibration-cache", "@m.onnx"}).ok());
}

TEST_F(FileConflicts, WhatRunnersSaveIsSaved) {
  const std::string a = "a=trt --save-engine " + folder_ + "e";
  const auto check = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"@m.onnx", "--runner", a});
    return Check(more).message();
  };
  EXPECT_EQ(check({}), "");
  EXPECT_EQ(check({"--runner", "b=trt --fp16 --save-engine " + folder_ + "./e"}),
            "--runner a: --save-engine and --runner b: --save-engine would both write '" + folder_ +
                "./e': name two files");
  EXPECT_EQ(check({"--runner", "b=trt --fp16 --save-engine " + folder_ + "f"}), "");
  EXPECT_THAT(check({"--save-record", "@e"}), HasSubstr(" would both write '"));
  EXPECT_THAT(check({"--runner", "b=trt --save-tactics=" + folder_ + "m.onnx"}),
              HasSubstr("--runner b: --save-tactics: '"));
  EXPECT_THAT(check({"--runner", "b=trt @m.onnx --save-engine " + folder_ + "m.onnx"}),
              HasSubstr("would be overwritten: name another file"));
  // Of an earlier run, and two that share a cache.
  std::ofstream(folder_ + "e") << "x";
  EXPECT_EQ(check({}), "");
  EXPECT_EQ(check({"--load-inputs", "@in.npz", "--runner", "b=trt --save-timing-cache @c",
                   "--runner", "c=trt --save-timing-cache @c"}),
            "");
  std::filesystem::remove(folder_ + "e");
}

TEST_F(FileConflicts, AnEngineIsSavedWhereItsOptionSays) {
  EXPECT_FALSE(
      Check({"@m.onnx", "--trt", "--save-engine", "e", "--log-file", "./e", "--output-dir", "@d"})
          .ok());
}

TEST_F(FileConflicts, WhatOthersReadIsKept) {
  const std::string model = folder_ + "other.onnx";
  std::ofstream(model) << "x";
  const OptionTable table = RunOptionTable();
  const ParseResult parsed =
      ParseCommandLine(table, std::vector<std::string>{"--onnxrt", "--save-outputs", model});
  EXPECT_FALSE(CheckFileConflicts(parsed.args, {}, {&model, 1}).ok());
}

TEST_F(FileConflicts, TwoThingsDoNotGoToOneFile) {
  const Status status =
      Check({"@m.onnx", "--onnxrt", "--save-outputs", "@o.json", "--save-record", "@o.json"});
  EXPECT_THAT(status.message(), HasSubstr("--save-outputs and --save-record would both write"));
  const std::string link = folder_ + "link.json";
  std::filesystem::remove(link);
  std::filesystem::create_symlink("o.json", link);
  EXPECT_FALSE(Check({"@m.onnx", "--save-outputs", link, "--save-record", "@o.json"}).ok());
  std::filesystem::remove(link);
}

TEST_F(FileConflicts, CommandsKeepApart) {
  const OptionTable table = RunOptionTable();
  const auto between = [&](std::vector<std::string> a, std::vector<std::string> b) {
    for (auto* const words : {&a, &b}) {
      for (std::string& word : *words) {
        if (word.starts_with('@')) word.replace(0, 1, folder_);
      }
    }
    const ParseResult first = ParseCommandLine(table, a), second = ParseCommandLine(table, b);
    const NamedCommand commands[] = {{"'a'", &first.args}, {"'b'", &second.args}};
    return CheckFilesBetween(commands).message();
  };
  EXPECT_EQ(between({"@a.onnx", "--save-onnx", "@m.onnx"}, {"@m.onnx", "--save-onnx", "@b.onnx"}),
            "--save-onnx of 'a' would overwrite '" + folder_ +
                "m.onnx', which 'b' reads: name another file");
  EXPECT_THAT(
      between({"@m.onnx", "--log-file", "@in.npz"}, {"@m.onnx", "--load-inputs", "@in.npz"}),
      HasSubstr("which 'b' reads (--load-inputs)"));
  EXPECT_EQ(between({"--save-outputs", "@o.json"}, {"--save-record", "@./o.json"}),
            "--save-outputs of 'a' and --save-record of 'b' would both write '" + folder_ +
                "o.json': name two files");
  EXPECT_EQ(between({"@m.onnx", "--load-inputs", "@in.npz", "--save-outputs", "@a.json"},
                    {"@m.onnx", "--load-inputs", "@in.npz", "--save-outputs", "@b.json"}),
            "");
}

TEST_F(FileConflicts, WhatDoesNotMeetIsNoConflict) {
  EXPECT_TRUE(Check({"@m.onnx", "--onnxrt", "--save-outputs", "@o.json", "--save-record", "@r.json",
                     "--log-file", "@log.txt", "--load-inputs", "@in.npz"})
                  .ok());
  EXPECT_TRUE(
      Check({"@m.onnx", "--onnxrt", "--save-record", "/dev/null", "--log-file", "/dev/null"}).ok());
  EXPECT_TRUE(Check({"@m.onnx", "--trt", "--load-timing-cache", "@in.npz", "--save-timing-cache",
                     "@in.npz"})
                  .ok());
}

}  // namespace
}  // namespace vernier
