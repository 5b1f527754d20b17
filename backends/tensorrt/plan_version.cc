#include "plan_version.h"

#include <cstddef>

namespace vernier::trt {
namespace {

// Since 8.6, as NVIDIA's trtexec reads it: four letters, the layout of what follows, and with the
// first layout the release in four bytes.
constexpr std::string_view kTag = "ftrt";
constexpr size_t kLayoutPlace = 4;
constexpr size_t kVersionPlace = 24;
constexpr size_t kVersionParts = 4;

// Before, with a number that only TensorRT knows.
constexpr std::string_view kOldTag = "ptrt";

}  // namespace

std::string DescribePlan(std::string_view plan) {
  if (plan.starts_with(kOldTag)) return "this engine, built with a TensorRT older than 8.6,";
  if (!plan.starts_with(kTag)) return "this file, which does not begin as TensorRT's engines do,";
  const bool tells = plan.size() >= kVersionPlace + kVersionParts && plan[kLayoutPlace] == 0;
  if (!tells) return "this engine";
  std::string version;
  for (const char part : plan.substr(kVersionPlace, kVersionParts)) {
    version += (version.empty() ? "" : ".") + std::to_string(static_cast<unsigned char>(part));
  }
  return "this engine, built with TensorRT " + version + ",";
}

}  // namespace vernier::trt
