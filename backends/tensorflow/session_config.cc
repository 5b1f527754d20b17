#include "session_config.h"

#include <charconv>
#include <string>

#include "proto_bytes.h"

namespace vernier::tf {
namespace {

// Fields of ConfigProto, GPUOptions, GraphOptions and OptimizerOptions.
constexpr uint32_t kGpuOptions = 6, kSoftPlacement = 7, kGraphOptions = 10;
constexpr uint32_t kMemoryFraction = 1, kAllowGrowth = 4;
constexpr uint32_t kOptimizerOptions = 3, kGlobalJitLevel = 5;
constexpr uint64_t kJitOn = 1;
// Polygraphy's default.
constexpr double kDefaultFraction = 0.9;

Result<double> Fraction(std::string_view text) {
  if (text.empty()) return kDefaultFraction;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value >= 0 && value <= 1) {
    return value;
  }
  return InvalidArgument("--gpu-memory-fraction: expected a number from 0 to 1, got '" +
                         std::string(text) + "'");
}

}  // namespace

Result<SessionConfig> ConfigFrom(const sdk::Options& options) {
  VERNIER_ASSIGN_OR_RETURN(const double fraction, Fraction(options.Get("gpu_memory_fraction")));
  ProtoWriter gpu;
  gpu.Double(kMemoryFraction, fraction);
  if (!options.Get("allow_growth").empty()) gpu.Number(kAllowGrowth, 1);
  ProtoWriter config;
  // Graphs name the devices of the machine that they were made on.
  config.Bytes(kGpuOptions, gpu.bytes()).Number(kSoftPlacement, 1);
  if (!options.Get("xla").empty()) {
    const std::string optimizer = ProtoWriter().Number(kGlobalJitLevel, kJitOn).bytes();
    config.Bytes(kGraphOptions, ProtoWriter().Bytes(kOptimizerOptions, optimizer).bytes());
  }
  return config.bytes();
}

}  // namespace vernier::tf
