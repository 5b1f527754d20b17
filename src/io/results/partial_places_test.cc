#include "io/results/partial_places.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "io/results/io_test_data.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;

TEST(PartsBeside, AreExactlyThoseThatAreNamedSo) {
  TemporaryFolder folder;
  const std::vector<std::string> ours = {"o.partial", "o.partial.1", "o.partial.12",
                                         "o.resumed.3.partial", "o.resumed.partial"};
  for (const std::string& name : ours) fs::create_directory(folder / name);
  for (const char* name :
       {"o", "o.partial-backup", "o.partial.mine", "o.partial.", "o.partial.1x", "o.partial.1.2",
        "oo.partial", "o.json.partial", "o.resumed", "o.resumed.x.partial", "o.resumedpartial"}) {
    fs::create_directory(folder / name);
  }
  std::vector<std::string> found;
  for (const std::string& path : PartsBeside(folder / "o")) {
    found.push_back(fs::path(path).filename().string());
  }
  EXPECT_EQ(found, ours);
}

TEST(FreePlace, IsNothingThatIsThere) {
  TemporaryFolder folder;
  EXPECT_EQ(FreePlace(folder / "o"), folder / "o");
  fs::create_directory(folder / "o");
  fs::create_directory(folder / "o.1.partial");
  fs::create_symlink("nowhere", folder / "o.2");
  EXPECT_EQ(FreePlace(folder / "o"), folder / "o.3");
}

TEST(ReplaceIterations, PutsTheNewFolderInPlaceOfTheOld) {
  TemporaryFolder folder;
  fs::create_directory(folder / "old");
  fs::create_directory(folder / "new");
  WriteText(folder / "old/0.json", "old");
  WriteText(folder / "old/9.json", "old");
  WriteText(folder / "old/notes.txt", "mine");
  WriteText(folder / "new/0.json", "new");
  ASSERT_TRUE(ReplaceIterations(folder / "new", folder / "old").ok());
  EXPECT_EQ(ReadText(folder / "old/0.json"), "new");
  EXPECT_EQ(ReadText(folder / "old/notes.txt"), "mine");
  EXPECT_FALSE(fs::exists(folder / "old/9.json"));
  EXPECT_FALSE(fs::exists(folder / "new"));
}

TEST(ReplaceIterations, WhatCannotBeReplacedIsAsItWas) {
  TemporaryFolder folder;
  fs::create_directory(folder / "old");
  WriteText(folder / "old/0.json", "old");
  const Status status = ReplaceIterations(folder / "new", folder / "old");
  EXPECT_EQ(status.code(), StatusCode::kIo);
  EXPECT_NE(status.message().find("cannot be replaced"), std::string::npos);
  EXPECT_EQ(ReadText(folder / "old/0.json"), "old");
}

}  // namespace
}  // namespace vernier
