#include "backend/known/backend_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace vernier {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class BackendPath : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "backend-path-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  void TearDown() override {
    ::unsetenv("VERNIER_BACKEND_PATH");
    fs::remove_all(root_);
  }

  std::string Folder(const std::string& name, const std::vector<std::string>& files) const {
    fs::create_directories(root_ / name);
    for (const std::string& file : files) std::ofstream(root_ / name / file) << "not loaded";
    return (root_ / name).string();
  }

  fs::path root_;
};

TEST_F(BackendPath, OptionThenVariableThenInstallation) {
  ::setenv("VERNIER_BACKEND_PATH", "/v1::/v2:", 1);
  const std::vector<std::string> path = BackendSearchPath({"/option"});
  ASSERT_EQ(path.size(), 4u);
  EXPECT_EQ(path[0], "/option");
  EXPECT_EQ(path[1], "/v1");
  EXPECT_EQ(path[2], "/v2");
  EXPECT_THAT(path[3], testing::EndsWith("lib/vernier/backends"));
}

TEST_F(BackendPath, ListsPluginsByNameAndNothingElse) {
  const std::string folder =
      Folder("a", {"libvernier_backend_zeta.so", "libvernier_backend_alpha.so", "libother.so",
                   "libvernier_backend_old.so.1", "vernier_backend_x.so"});
  const std::vector<BackendFile> backends = ListBackends({folder, "/nonexistent"});
  ASSERT_EQ(backends.size(), 2u);
  EXPECT_EQ(backends[0].name, "alpha");
  EXPECT_EQ(backends[1].name, "zeta");
}

TEST_F(BackendPath, FirstFolderWins) {
  const std::string first = Folder("first", {"libvernier_backend_x.so"});
  const std::string second = Folder("second", {"libvernier_backend_x.so"});
  const Result<std::vector<std::string>> found = FindBackend("x", {first, second});
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(*found, ElementsAre(first + "/libvernier_backend_x.so"));
}

TEST_F(BackendPath, PluginsOfAFrameworksReleasesComeNewestFirst) {
  const std::string folder =
      Folder("a", {"libvernier_backend_x_8.so", "libvernier_backend_x_10.so",
                   "libvernier_backend_x_y.so", "libvernier_backend_xx_9.so"});
  const Result<std::vector<std::string>> found = FindBackend("x", {folder});
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(*found, ElementsAre(folder + "/libvernier_backend_x_10.so",
                                  folder + "/libvernier_backend_x_8.so"));
}

TEST_F(BackendPath, MissingBackendSaysWhereItWasLookedFor) {
  const std::string folder = Folder("a", {});
  const Result<std::vector<std::string>> found = FindBackend("x", {folder, "/nonexistent"});
  EXPECT_EQ(found.status().code(), StatusCode::kUnavailable);
  EXPECT_THAT(found.status().message(), HasSubstr("'x'"));
  EXPECT_THAT(found.status().message(), HasSubstr(folder));
}

}  // namespace
}  // namespace vernier
