#include "session_config.h"

#include <charconv>
#include <cstdint>
#include <string>

#include "proto_bytes.h"

namespace vernier::tf {
namespace {

// Fields of ConfigProto, GPUOptions, GraphOptions, OptimizerOptions and RewriterConfig.
constexpr uint32_t kIntraOpThreads = 2, kInterOpThreads = 5;
constexpr uint32_t kGpuOptions = 6, kSoftPlacement = 7, kGraphOptions = 10;
constexpr uint32_t kMemoryFraction = 1, kAllowGrowth = 4;
constexpr uint32_t kOptimizerOptions = 3, kRewriteOptions = 10;
constexpr uint32_t kOptLevel = 3, kGlobalJitLevel = 5;
constexpr uint32_t kDisableMetaOptimizer = 19;
constexpr uint64_t kJitOn = 1;
constexpr auto kNoOptimization = static_cast<uint64_t>(-1);
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

// 0: TensorFlow's own choice.
Result<uint64_t> ThreadCount(std::string_view text) {
  if (text.empty()) return uint64_t{0};
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value <= INT32_MAX) {
    return uint64_t{value};
  }
  return InvalidArgument("threads: expected a whole number, got '" + std::string(text) + "'");
}

Result<std::string> GraphOptions(const sdk::Options& options) {
  const std::string_view optimization = options.Get("graph_optimization");
  if (!optimization.empty() && optimization != "on" && optimization != "off") {
    return InvalidArgument("graph_optimization: expected on or off, got '" +
                           std::string(optimization) + "'");
  }
  ProtoWriter optimizer, graph;
  if (optimization == "off") optimizer.Number(kOptLevel, kNoOptimization);
  if (!options.Get("xla").empty()) optimizer.Number(kGlobalJitLevel, kJitOn);
  if (!optimizer.bytes().empty()) graph.Bytes(kOptimizerOptions, optimizer.bytes());
  if (optimization == "off") {
    graph.Bytes(kRewriteOptions, ProtoWriter().Number(kDisableMetaOptimizer, 1).bytes());
  }
  return graph.bytes();
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
  VERNIER_ASSIGN_OR_RETURN(const uint64_t threads, ThreadCount(options.Get("threads")));
  if (threads > 0) config.Number(kIntraOpThreads, threads).Number(kInterOpThreads, threads);
  VERNIER_ASSIGN_OR_RETURN(const std::string graph, GraphOptions(options));
  if (!graph.empty()) config.Bytes(kGraphOptions, graph);
  return config.bytes();
}

}  // namespace vernier::tf
