#include "gpu/device_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "gpu/device_measures.h"
#include "gpu/ptx_table.h"
#include "kernels/measures/pair_measures.h"

namespace vernier::gpu {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(CudaDriver, AMissingLibraryIsOneSentence) {
  const Result<cuda::Driver> driver = cuda::Driver::Load("libcuda-that-is-not-there.so.1");
  ASSERT_FALSE(driver.ok());
  EXPECT_EQ(driver.status().code(), StatusCode::kUnavailable);
  EXPECT_THAT(driver.status().message(), AllOf(HasSubstr("there is no CUDA here"),
                                               HasSubstr("libcuda-that-is-not-there.so.1")));
}

TEST(CudaDriver, AnotherLibraryIsNotTheDriver) {
  const Result<cuda::Driver> driver = cuda::Driver::Load("libm.so.6");
  ASSERT_FALSE(driver.ok());
  EXPECT_EQ(driver.status().code(), StatusCode::kUnavailable);
  EXPECT_THAT(driver.status().message(), HasSubstr("'libm.so.6' has no function cuInit"));
}

TEST(CheckOffered, SaysWhatIsNotMeasuredOnAGpu) {
  MeasureRequest request;
  EXPECT_TRUE(CheckOffered(DType::kFloat32, DType::kInt4, request).ok());
  EXPECT_THAT(CheckOffered(DType::kFloat32, DType::kComplex64, request).message(),
              HasSubstr("complex64"));
  EXPECT_EQ(CheckOffered(DType::kString, DType::kString, request).code(),
            StatusCode::kUnimplemented);
  EXPECT_TRUE(CheckOffered(DType::kInt64, DType::kInt64, request).ok());
  request.products = true;
  EXPECT_EQ(CheckOffered(DType::kFloat32, DType::kUint64, request).code(),
            StatusCode::kUnimplemented);
  EXPECT_TRUE(CheckOffered(DType::kInt32, DType::kFloat64, request).ok());
  request.ulp = true;
  EXPECT_EQ(CheckOffered(DType::kFloat32, DType::kFloat32, request).code(),
            StatusCode::kUnimplemented);
}

#ifdef VERNIER_HAS_PTX
TEST(PtxTable, HoldsEveryKernelOfEveryVariant) {
  EXPECT_EQ(PtxModules().size(), 28u);
  for (const PtxModule& module : PtxModules()) {
    if (module.name == "Codes") {
      EXPECT_THAT(std::string(module.text), HasSubstr(".entry code_counts"));
      EXPECT_THAT(std::string(module.text), HasSubstr(".entry code_places"));
      continue;
    }
    const bool pair = module.name.ends_with("Pair");
    for (const char* kernel : {"_pilot", "_moments", "_first_digit", "_digit"}) {
      const std::string entry = std::string(".entry ") + (pair ? "pair" : "values") + kernel;
      EXPECT_THAT(std::string(module.text), HasSubstr(entry)) << module.name;
    }
  }
}

// Drivers refuse PTX that is newer than they are: what is embedded asks for little.
TEST(PtxTable, AsksForAnOldLanguageAndAnOldDevice) {
  for (const PtxModule& module : PtxModules()) {
    const std::string text(module.text);
    EXPECT_THAT(text, HasSubstr("\n.version 7.0\n")) << module.name;
    EXPECT_THAT(text, HasSubstr("\n.target sm_75\n")) << module.name;
    // Pairs use it where they divide.
    if (!module.name.ends_with("Values")) continue;
    EXPECT_THAT(text, testing::Not(HasSubstr("fma.rn.f32"))) << module.name;
  }
}
#else
TEST(DeviceKernels, ABuildWithoutNvccSaysSo) {
  const auto kernels = DeviceKernels::Open(0);
  ASSERT_FALSE(kernels.ok());
  EXPECT_THAT(kernels.status().message(), HasSubstr("without nvcc"));
}
#endif

}  // namespace
}  // namespace vernier::gpu
