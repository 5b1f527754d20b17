#include "model/onnx/external_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "model/onnx/onnx_test_model.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;
using namespace testing_model;
using testing::HasSubstr;
using testing::Not;

void WriteText(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

class ExternalDataTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(testing::TempDir()) / ("external." + std::to_string(getpid()));
    fs::remove_all(root_);
    WriteText(root_ / "model" / "w.bin", std::string(16, 'w'));
    WriteText(root_ / "outside.bin", std::string(16, 'o'));
  }
  void TearDown() override { fs::remove_all(root_); }

  // The report for a model in root/model with one float tensor of four elements.
  Result<ExternalDataReport> Check(const std::string& location, const std::string& offset = "",
                                   const std::string& length = "",
                                   ExternalDataOptions options = {}) {
    return CheckAt(root_ / "model" / "m.onnx", location, offset, length, std::move(options));
  }

  static Result<ExternalDataReport> CheckAt(const fs::path& path, const std::string& location,
                                            const std::string& offset, const std::string& length,
                                            ExternalDataOptions options) {
    const Result<OnnxModel> model =
        Parse(Model(Field(5, ExternalTensor("w", 4, location, offset, length))), path.string());
    return CheckExternalData(*model, options);
  }

  void ExpectRefused(const Result<ExternalDataReport>& report, const std::string& reason) {
    ASSERT_FALSE(report.ok()) << reason;
    EXPECT_EQ(report.status().code(), StatusCode::kMalformed);
    EXPECT_THAT(report.status().message(), HasSubstr("m.onnx"));
    EXPECT_THAT(report.status().message(), HasSubstr("'w'"));
    EXPECT_THAT(report.status().message(), HasSubstr(reason));
    EXPECT_THAT(report.status().message(), Not(HasSubstr("\n")));
  }

  fs::path root_;
};

TEST_F(ExternalDataTest, ReportsFilesAndSlices) {
  WriteText(root_ / "model" / "sub" / "v.bin", std::string(100, 'v'));
  const Result<ExternalDataReport> report = Check("sub/v.bin", "4", "16");
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->files[0].size, 100u);
  EXPECT_EQ(report->slices[0].offset, 4u);
  EXPECT_EQ(report->total_bytes, 16u);
}

TEST_F(ExternalDataTest, LengthDefaultsToWhatTheShapeNeeds) {
  EXPECT_TRUE(Check("w.bin").ok());
  EXPECT_TRUE(Check("./w.bin", "0").ok());
  fs::create_directory(root_ / "model" / "sub");
  EXPECT_TRUE(Check("sub/../w.bin").ok());
}

TEST_F(ExternalDataTest, RefusesWhatIsNotThere) {
  ExpectRefused(Check("missing.bin"), "does not exist; --external-data-dir");
  ExpectRefused(Check("w.bin", "4"), "too short: 16 bytes at offset 4 are needed, it has 16");
  ExpectRefused(Check("w.bin", "9223372036854775807"), "too short");
  ExpectRefused(Check("w.bin", "9223372036854775808"), "its offset is '9223372036854775808'");
  ExpectRefused(Check("w.bin", "-4"), "its offset is '-4'");
  ExpectRefused(Check("w.bin", "0", "8"), "the model gives it 8 bytes, but float32 (4,) needs 16");
}

TEST_F(ExternalDataTest, RefusesToLeaveTheFolder) {
  ExpectRefused(Check("../outside.bin"), "escapes the model's folder");
  ExpectRefused(Check("a/../../outside.bin"), "escapes the model's folder");
  ExpectRefused(Check((root_ / "outside.bin").string()), "relative to the model");
  ExpectRefused(Check(""), "names no file");
  ExpectRefused(Check("a\\b"), "backslash");
  ExpectRefused(Check(std::string("w.bin\0x", 7)), "NUL");
}

TEST_F(ExternalDataTest, RefusesLinksThatLeaveTheFolder) {
  fs::create_symlink("../outside.bin", root_ / "model" / "link.bin");
  fs::create_directory_symlink("..", root_ / "model" / "up");
  fs::create_symlink("loop.bin", root_ / "model" / "loop.bin");
  fs::create_symlink("/proc/self/fd/0", root_ / "model" / "magic.bin");
  ExpectRefused(Check("link.bin"), "escapes the model's folder");
  ExpectRefused(Check("up/outside.bin"), "escapes the model's folder");
  ExpectRefused(Check("loop.bin"), "cannot be opened");
  EXPECT_FALSE(Check("magic.bin").ok());
}

TEST_F(ExternalDataTest, RefusesWhatIsNoRegularFile) {
  fs::create_directory(root_ / "model" / "folder");
  ASSERT_EQ(mkfifo((root_ / "model" / "pipe").c_str(), 0600), 0);
  ExpectRefused(Check("folder"), "not a regular file");
  ExpectRefused(Check("pipe"), "not a regular file");
  ExpectRefused(Check("."), "not a regular file");
}

TEST_F(ExternalDataTest, FollowsALinkInsideTheFolderUnlessStrict) {
  fs::create_symlink("w.bin", root_ / "model" / "link.bin");
  EXPECT_TRUE(Check("link.bin").ok());
  ExpectRefused(Check("link.bin", "", "", {.directory = "", .links = LinkPolicy::kRefuse}),
                "symbolic link");
}

TEST_F(ExternalDataTest, FollowsLinksOfACacheThatStoresByContent) {
  WriteText(root_ / "blobs" / "1234", "model");
  WriteText(root_ / "blobs" / "5678", std::string(16, 'b'));
  const fs::path snapshot = root_ / "snapshots" / "main";
  fs::create_directories(snapshot);
  fs::create_symlink("../../blobs/1234", snapshot / "m.onnx");
  fs::create_symlink("../../blobs/5678", snapshot / "m.onnx_data");
  const Result<ExternalDataReport> report = CheckAt(snapshot / "m.onnx", "m.onnx_data", "", "", {});
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->files[0].path, fs::canonical(root_ / "blobs" / "5678").string());

  fs::remove(snapshot / "m.onnx_data");
  fs::create_symlink("../../outside.bin", snapshot / "m.onnx_data");
  EXPECT_FALSE(CheckAt(snapshot / "m.onnx", "m.onnx_data", "", "", {}).ok());
}

TEST_F(ExternalDataTest, CountsHardLinksAndRefusesThemWhenStrict) {
  fs::create_hard_link(root_ / "outside.bin", root_ / "model" / "hard.bin");
  const Result<ExternalDataReport> report = Check("hard.bin");
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->files[0].hard_links, 2u);
  ExpectRefused(Check("hard.bin", "", "", {.directory = "", .links = LinkPolicy::kRefuse}),
                "hard links");
}

TEST_F(ExternalDataTest, OtherFolder) {
  WriteText(root_ / "weights" / "v.bin", std::string(16, 'v'));
  const std::string folder = root_ / "weights";
  EXPECT_TRUE(Check("v.bin", "", "", {.directory = folder}).ok());
  EXPECT_FALSE(Check("v.bin").ok());
  EXPECT_FALSE(Check("v.bin", "", "", {.directory = folder + "/none"}).ok());
}

// A name that flips between a file inside and a link to one outside must never open the latter.
TEST_F(ExternalDataTest, SwappingAFileForALinkNeverEscapes) {
  const fs::path target = root_ / "model" / "flip.bin";
  const fs::path staged = root_ / "model" / "staged";
  const Result<ExternalFolder> folder =
      ExternalFolder::Open((root_ / "model" / "m.onnx").string(), {});
  std::jthread swapper([&](const std::stop_token& stop) {
    for (int i = 0; !stop.stop_requested(); ++i) {
      std::error_code ignored;
      fs::remove(staged, ignored);
      fs::create_symlink(i % 2 == 0 ? "../outside.bin" : "w.bin", staged, ignored);
      fs::rename(staged, target, ignored);
    }
  });
  int opened = 0;
  // On a busy machine the other thread may not even have begun after these.
  for (int i = 0; i < 10000 || (opened == 0 && i < 10'000'000); ++i) {
    const Result<ExternalFile> file = folder->OpenFile("flip.bin");
    if (!file.ok()) continue;
    ++opened;
    char byte = 0;
    ASSERT_EQ(::pread(file->fd(), &byte, 1, 0), 1);
    ASSERT_EQ(byte, 'w');
  }
  EXPECT_GT(opened, 0);
}

}  // namespace
}  // namespace vernier
