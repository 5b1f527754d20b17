#include "core/memory_limit.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>

#include "vernier/tensor.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kNone = std::numeric_limits<uint64_t>::max();

class ControlGroups : public testing::Test {
 protected:
  ControlGroups() {
    std::string pattern = (fs::temp_directory_path() / "vernier-cgroup-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
  }
  ~ControlGroups() override { fs::remove_all(root_); }

  void Write(const std::string& file, const std::string& text) {
    const fs::path path = root_ / file;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  uint64_t Limit(const std::string& membership) {
    return ControlGroupLimit(membership, root_.string());
  }

  fs::path root_;
};

TEST_F(ControlGroups, TheSmallestLimitOnTheWayUpCounts) {
  Write("a/memory.max", "3000\n");
  Write("a/b/memory.max", "max\n");
  Write("a/b/c/memory.max", "5000\n");
  Write("other/memory.max", "7\n");
  EXPECT_EQ(Limit("0::/a/b/c\n"), 3000u);
  EXPECT_EQ(Limit("0::/a/b"), 3000u);
  EXPECT_EQ(Limit("0::/none"), kNone);
}

TEST_F(ControlGroups, AContainerSeesItsOwnLimitAtTheRoot) {
  Write("memory.max", "4096\n");
  EXPECT_EQ(Limit("0::/\n"), 4096u);
  EXPECT_EQ(Limit("0::/docker/of-the-host\n"), 4096u);
}

TEST_F(ControlGroups, VersionOneHasAFolderForEachController) {
  Write("memory/jobs/memory.limit_in_bytes", "8192\n");
  EXPECT_EQ(Limit("9:name=systemd:/\n4:cpu,memory:/jobs\n0::/\n"), 8192u);
  EXPECT_EQ(Limit("4:cpu:/jobs\n"), kNone);
  EXPECT_EQ(Limit("nonsense\n::\n4\n"), kNone);
}

TEST(MemoryLimit, WhatIsBeyondItIsRefusedBeforeItIsTouched) {
  ASSERT_GT(MemoryLimit(), uint64_t{1} << 20);
  ASSERT_LT(MemoryLimit(), uint64_t{1} << 60);
  const auto beyond = static_cast<int64_t>(MemoryLimit() + 1);
  const auto buffer = TensorBuffer::Allocate(DType::kUint8, {beyond});
  ASSERT_FALSE(buffer.ok());
  EXPECT_EQ(buffer.status().message(), "out of memory: " + std::to_string(beyond) + " bytes");
}

}  // namespace
}  // namespace vernier
