#include "record/schema/runner_name.h"

#include <gtest/gtest.h>

namespace vernier {
namespace {

TEST(WithoutTime, DropsTheTimeOfUnnamedRunners) {
  EXPECT_EQ(WithoutTime("onnxrt-runner-N0-11/21/26-18:16:51"), "onnxrt-runner-N0");
  EXPECT_EQ(WithoutTime("trt-runner-N12-21.11.2026-18:16:51"), "trt-runner-N12");
  EXPECT_EQ(WithoutTime("my_script-N0-11/21/26-18:16:51"), "my_script-N0");
}

TEST(WithoutTime, OtherNamesStay) {
  for (const char* name :
       {"mine", "a-11/21/26", "a-runner-N0", "a-runner-N0-fp16", "a-runner-N0-int8",
        "mine-11/21/26-18:16:51", "11/21/26-18:16:51", "-N-11/21/26-18:16:51", ""}) {
    EXPECT_EQ(WithoutTime(name), name);
  }
}

TEST(IsCalled, ByWhatPeopleSeeOfAName) {
  const std::string name = "onnxrt-runner-N0-11/21/26-18:16:51";
  for (const char* word : {"onnxrt", "onnxrt-runner", "onnxrt-runner-N0"}) {
    EXPECT_TRUE(IsCalled(name, word)) << word;
  }
  EXPECT_TRUE(IsCalled(name, name));
  for (const char* word : {"onnx", "onnxrt-runner-N1", "runner", "N0"}) {
    EXPECT_FALSE(IsCalled(name, word)) << word;
  }
  EXPECT_TRUE(IsCalled("mine", "mine"));
}

}  // namespace
}  // namespace vernier
