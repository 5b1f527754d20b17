#include "backend/plugin/device_tensors.h"
#include "kernels/measures/pair_measures.h"

#include <gtest/gtest.h>

#include <memory>

namespace vernier {
namespace {

void CountRelease(vn_tensor* tensor) noexcept { ++*static_cast<int*>(tensor->owner); }

// A tensor of the plug-in, which counts its releases.
struct PluginTensor {
  explicit PluginTensor(int32_t device = 0) {
    tensor.struct_size = sizeof(tensor);
    tensor.device_type = VN_DEVICE_CUDA;
    tensor.device_id = device;
    tensor.release = &CountRelease;
    tensor.owner = &releases;
  }
  OwnedTensor Owned() { return {&tensor, DType::kFloat32, 0}; }

  vn_tensor tensor{};
  int releases = 0;
};

TEST(DeviceTensors, AKeptTensorIsReleasedOnce) {
  PluginTensor a, b;
  {
    DeviceTensors devices;
    const uint64_t first = devices.Keep(1, a.Owned());
    const uint64_t second = devices.Keep(1, b.Owned());
    EXPECT_NE(first, second);
    ASSERT_NE(devices.Find(first), nullptr);
    EXPECT_EQ(&devices.Find(first)->abi(), &a.tensor);
    devices.Release(first);
    devices.Release(first);
    EXPECT_EQ(devices.Find(first), nullptr);
    EXPECT_EQ(a.releases, 1);
    EXPECT_EQ(b.releases, 0);
  }
  EXPECT_EQ(b.releases, 1) << "whatever is left goes with the worker";
}

TEST(DeviceTensors, TheEndOfASessionReleasesItsOwn) {
  PluginTensor a, b;
  DeviceTensors devices;
  devices.Keep(1, a.Owned());
  const uint64_t other = devices.Keep(2, b.Owned());
  devices.ReleaseSession(1);
  EXPECT_EQ(a.releases, 1);
  EXPECT_NE(devices.Find(other), nullptr);
}

TEST(DeviceTensors, WhatIsNotOfferedSaysSoBeforeCudaIsTouched) {
  PluginTensor a(0), b(1);
  DeviceTensors devices;
  const OwnedTensor x = a.Owned();
  const OwnedTensor y = b.Owned();
  EXPECT_EQ(devices.Measure(x, y, {}).status().message(),
            "tensors on different GPUs are not compared there");
  MeasureRequest ulp;
  ulp.ulp = true;
  EXPECT_EQ(devices.Measure(x, x, ulp).status().code(), StatusCode::kUnimplemented);
}

TEST(DeviceTensors, NothingIsCopiedOfAnEmptyTensor) {
  PluginTensor a;
  EXPECT_TRUE(DeviceTensors().CopyToHost(a.tensor, {}).ok());
}

}  // namespace
}  // namespace vernier
