#include "blame/bundle/bundle_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <utility>

namespace vernier {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class Bundles : public testing::Test {
 protected:
  void SetUp() override {
    root_ = testing::TempDir() + "bundles-" + std::to_string(::getpid()) + "/";
    fs::remove_all(root_);
    fs::create_directories(root_);
    start_ = fs::current_path();
  }
  void TearDown() override {
    fs::current_path(start_);
    fs::remove_all(root_);
  }

  static void Put(const std::string& path, const std::string& text) {
    fs::create_directories(fs::path(path).parent_path());
    std::ofstream(path) << text;
  }

  static std::string Text(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  static void Fill(const std::string& folder, const std::string& text) {
    for (const char* part :
         {"model.onnx", "test_data_set_0/input_0.pb", "found/blame.json", kBundleScript}) {
      Put(folder + "/" + part, text);
    }
  }

  void Save(const std::string& folder, const std::string& text) {
    Result<BundleFolder> made = BundleFolder::Create(folder);
    ASSERT_TRUE(made.ok()) << made.status().message();
    Fill(made->path(), text);
    const Status status = made->Publish();
    ASSERT_TRUE(status.ok()) << status.message();
  }

  static std::set<std::string> Names(const std::string& folder) {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) {
      names.insert(entry.path().filename().string());
    }
    return names;
  }

  std::string root_;
  fs::path start_;
};

TEST_F(Bundles, ANewOneTakesThePlaceOfAnOldOneAsAWhole) {
  Save(root_ + "b", "old");
  Put(root_ + "b/test_data_set_0/input_1.pb", "of the old one alone");
  Save(root_ + "b/", "new");
  EXPECT_THAT(Names(root_), ElementsAre("b"));
  EXPECT_THAT(Names(root_ + "b"),
              ElementsAre("found", "model.onnx", "repro.sh", "test_data_set_0"));
  EXPECT_THAT(Names(root_ + "b/test_data_set_0"), ElementsAre("input_0.pb"));
  EXPECT_EQ(Text(root_ + "b/model.onnx"), "new");
}

TEST_F(Bundles, WhatIsNotPublishedLeavesTheOldOne) {
  Save(root_ + "b", "old");
  {
    Result<BundleFolder> made = BundleFolder::Create(root_ + "b");
    ASSERT_TRUE(made.ok());
    Put(made->path() + "/model.onnx", "new");
    EXPECT_EQ(Text(root_ + "b/model.onnx"), "old");
  }
  EXPECT_EQ(Text(root_ + "b/model.onnx"), "old");
  EXPECT_THAT(Names(root_), ElementsAre("b"));
}

TEST_F(Bundles, TheWorkingDirectoryStays) {
  fs::current_path(root_);
  Save(".", "old");
  Save(".", "new");
  EXPECT_THAT(Names("."), ElementsAre("found", "model.onnx", "repro.sh", "test_data_set_0"));
  EXPECT_EQ(Text("repro.sh"), "new");
}

TEST_F(Bundles, SomebodysFilesAreKept) {
  Put(root_ + "somebodys/model.onnx", "a model");
  Put(root_ + "script/repro.sh", "somebody's");
  Fill(root_ + "b", "old");
  Put(root_ + "b/notes.md", "mine");
  Put(root_ + "file", "no folder");
  for (const auto& [name, why] :
       {std::pair{"somebodys", "holds 'model.onnx', which is not part of a bundle"},
        std::pair{"script", "holds 'repro.sh'"}, std::pair{"b", "holds 'notes.md'"},
        std::pair{"file", "is not a folder"}}) {
    const Status status = BundleFolder::Create(root_ + name).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << name;
    EXPECT_THAT(status.message(), HasSubstr(why));
  }
  EXPECT_EQ(Text(root_ + "somebodys/model.onnx"), "a model");
  EXPECT_TRUE(CheckBundleFolder(root_ + "nowhere").ok());
}

}  // namespace
}  // namespace vernier
