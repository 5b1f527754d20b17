#include "doctor/cuda_devices.h"

#include "vernier/backend_cuda.hpp"

namespace vernier {

Result<std::string> DescribeCudaDevices() {
  const Result<cuda::Driver> driver = cuda::Driver::Load();
  if (!driver.ok()) return driver.status();
  int devices = 0, version = 0;
  (void)driver->DeviceGetCount(&devices);
  (void)driver->DriverGetVersion(&version);
  std::string text;
  for (int ordinal = 0; ordinal < devices; ++ordinal) {
    cuda::DeviceNumber device = 0;
    char name[256] = "unknown";
    int major = 0, minor = 0;
    if (driver->DeviceGet(&device, ordinal) != 0) continue;
    (void)driver->DeviceGetName(name, sizeof(name), device);
    (void)driver->DeviceGetAttribute(&major, cuda::kComputeMajor, device);
    (void)driver->DeviceGetAttribute(&minor, cuda::kComputeMinor, device);
    text += std::to_string(ordinal) + ": " + name + " (compute " + std::to_string(major) + "." +
            std::to_string(minor) + "), ";
  }
  return text + "CUDA " + std::to_string(version / 1000) + "." +
         std::to_string(version % 1000 / 10);
}

}  // namespace vernier
