#include "run/saved_progress.h"

#include <gtest/gtest.h>

namespace vernier {
namespace {

TEST(WithoutTime, DropsTheTimeOfUnnamedRunners) {
  EXPECT_EQ(WithoutTime("onnxrt-runner-N0-11/21/26-18:16:51"), "onnxrt-runner-N0");
  EXPECT_EQ(WithoutTime("trt-runner-N12-21.11.2026-18:16:51"), "trt-runner-N12");
  EXPECT_EQ(WithoutTime("my_script-N0-11/21/26-18:16:51"), "my_script-N0");
  EXPECT_EQ(WithoutTime("mine"), "mine");
  EXPECT_EQ(WithoutTime("a-11/21/26"), "a-11/21/26");
  EXPECT_EQ(WithoutTime("a-runner-N0"), "a-runner-N0");
}

}  // namespace
}  // namespace vernier
