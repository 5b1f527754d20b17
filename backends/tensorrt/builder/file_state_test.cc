#include "tensorrt/builder/file_state.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace vernier::trt {
namespace {

void Write(const std::string& path, const char* text) { std::ofstream(path) << text; }

TEST(FileState, IsAnotherOnceSomeoneHasReplacedTheFile) {
  std::string folder = testing::TempDir() + "vernier-state-XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const std::string path = folder + "/timings";
  EXPECT_EQ(FileState::Of(path), std::nullopt);
  Write(path, "ours");
  const auto ours = FileState::Of(path);
  ASSERT_TRUE(ours);
  EXPECT_EQ(FileState::Of(path), ours);
  Write(path + ".tmp", "hers");  // as many bytes, in another file
  ASSERT_EQ(std::rename((path + ".tmp").c_str(), path.c_str()), 0);
  const auto hers = FileState::Of(path);
  ASSERT_TRUE(hers);
  EXPECT_NE(hers, ours);
  Write(path, "longer");
  EXPECT_NE(FileState::Of(path), hers);
  EXPECT_NE(FileState::Of(folder), FileState::Of(path));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace vernier::trt
