// Where ONNX Runtime put the nodes of a model: a provider that was asked for takes the nodes that
// it can, and leaves the rest, perhaps all, to the CPU without a word.
#pragma once

#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ort_api.h"
#include "vernier/backend_sdk.hpp"

namespace vernier::ort {

inline constexpr std::string_view kCpuProvider = "CPUExecutionProvider";

/// "CUDAExecutionProvider" is what people know as "CUDA".
std::string ShortName(std::string_view provider);

/// Reads what a session logs while it is made. The session's own warnings go on to the host.
class Placement {
 public:
  explicit Placement(const sdk::Host& host) : host_(host) {}
  Placement(const Placement&) = delete;
  Placement& operator=(const Placement&) = delete;

  /// Before the session is made of `options`; it must outlive that. Warnings and worse are passed
  /// on from `least`.
  Status Listen(const Api& api, OrtSessionOptions* options, OrtLoggingLevel least);

  /// Once the session is there: says which provider runs what, a warning where it is not what was
  /// `asked` for, in order of preference.
  void LogPlacement(std::span<const std::string> asked) const;

  /// Where the session computes: "CUDA", or "CUDA (5 of 7 nodes), CPU (2)".
  std::string Device(std::span<const std::string> asked) const;

 private:
  struct Share {
    size_t count = 0;
    std::vector<std::string> nodes;  ///< some, where several providers share the model
  };

  static void OnLine(void* self, OrtLoggingLevel severity, const char* category, const char* id,
                     const char* place, const char* message);
  void Take(OrtLoggingLevel severity, std::string_view message);
  size_t Total() const;
  std::string Shares(std::string_view but = {}) const;

  const sdk::Host& host_;
  OrtLoggingLevel least_ = ORT_LOGGING_LEVEL_WARNING;
  bool logs_to_host_ = false;
  std::mutex mutex_;  ///< of log lines, from any thread of ONNX Runtime
  std::map<std::string, Share, std::less<>> shares_;
  Share* described_ = nullptr;  ///< whose nodes follow
};

}  // namespace vernier::ort
