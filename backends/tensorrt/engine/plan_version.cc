#include "tensorrt/engine/plan_version.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace vernier::trt {
namespace {

// Since 8.6, as NVIDIA's trtexec reads it: four letters, the layout of what follows, and with the
// first layout the release in four bytes.
constexpr std::string_view kTag = "ftrt";
constexpr size_t kLayoutPlace = 4;
constexpr size_t kVersionPlace = 24;
constexpr size_t kVersionParts = 4;

// Before, with the number of a format that changed now and then.
constexpr std::string_view kOldTag = "ptrt";
constexpr size_t kFormatPlace = 8;
constexpr uint32_t kFormatOf85 = 232;

std::string DescribeOldPlan(std::string_view plan) {
  uint32_t format = 0;
  if (plan.size() < kFormatPlace + sizeof(format)) return "this engine";
  std::memcpy(&format, plan.data() + kFormatPlace, sizeof(format));
  return std::string("this engine, built with ") +
         (format == kFormatOf85 ? "TensorRT 8.5" : "a TensorRT older than 8.6") + " (format " +
         std::to_string(format) + "),";
}

}  // namespace

std::string DescribePlan(std::string_view plan) {
  if (plan.starts_with(kOldTag)) return DescribeOldPlan(plan);
  if (!plan.starts_with(kTag)) return "this file, which does not begin as TensorRT's engines do,";
  const bool has_version = plan.size() >= kVersionPlace + kVersionParts && plan[kLayoutPlace] == 0;
  if (!has_version) return "this engine";
  std::string version;
  for (const char part : plan.substr(kVersionPlace, kVersionParts)) {
    version += (version.empty() ? "" : ".") + std::to_string(static_cast<unsigned char>(part));
  }
  return "this engine, built with TensorRT " + version + ",";
}

}  // namespace vernier::trt
