#include "run/workers/runner_devices.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace vernier {
namespace {

class VisibleDevices : public testing::Test {
 protected:
  VisibleDevices() {
    if (const char* before = std::getenv("CUDA_VISIBLE_DEVICES")) before_ = before;
    ::unsetenv("CUDA_VISIBLE_DEVICES");
  }
  ~VisibleDevices() override {
    ::unsetenv("CUDA_VISIBLE_DEVICES");
    if (before_) ::setenv("CUDA_VISIBLE_DEVICES", before_->c_str(), 1);
  }

  static std::vector<std::string> Variables(std::vector<std::string> devices, size_t workers) {
    ExecutionPlan plan;
    plan.devices = std::move(devices);
    std::vector<std::string> variables;
    for (size_t i = 0; i < workers; ++i) variables.push_back(DeviceVariable(plan, i).value_or(""));
    return variables;
  }

 private:
  std::optional<std::string> before_;
};

TEST_F(VisibleDevices, WorkersTakeTheDevicesInTurn) {
  EXPECT_EQ(Variables({"cuda:3", "cuda:1"}, 4),
            (std::vector<std::string>{"CUDA_VISIBLE_DEVICES=3", "CUDA_VISIBLE_DEVICES=1",
                                      "CUDA_VISIBLE_DEVICES=3", "CUDA_VISIBLE_DEVICES=1"}));
  EXPECT_EQ(Variables({}, 1), std::vector<std::string>{""});
}

// As a launcher lets its tasks see some of the devices.
TEST_F(VisibleDevices, NumbersAreOfThoseThatThisProcessSees) {
  ::setenv("CUDA_VISIBLE_DEVICES", "5,GPU-8f2c,2", 1);
  EXPECT_EQ(Variables({"cuda:0", "cuda:1", "cuda:2"}, 3),
            (std::vector<std::string>{"CUDA_VISIBLE_DEVICES=5", "CUDA_VISIBLE_DEVICES=GPU-8f2c",
                                      "CUDA_VISIBLE_DEVICES=2"}));
}

TEST_F(VisibleDevices, ADeviceHasAKindAndANumber) {
  EXPECT_EQ(DeviceNumberOf("cuda:0"), 0);
  EXPECT_EQ(DeviceNumberOf("cuda:17"), 17);
  for (const char* word : {"all", "cuda", "cuda:", "cuda:-1", "cuda:1 ", "cpu:0", ""}) {
    EXPECT_FALSE(DeviceNumberOf(word).has_value()) << word;
  }
}

}  // namespace
}  // namespace vernier
