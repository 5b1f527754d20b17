// What a plug-in may ask of the program that has loaded it. A part of backend_sdk.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "vernier/backend_abi.h"
#include "vernier/backend_options.hpp"
#include "vernier/status.h"

namespace vernier::sdk {

/// What the host offers: logging, and whether the user has interrupted the run. Cheap to copy;
/// valid as long as the plug-in is loaded. Log() and cancelled() may be called from any thread, the
/// others from the thread of the present call.
class Host {
 public:
  explicit Host(const vn_host* host) : host_(host) {}

  /// A line of the run's log, in UTF-8, at one of the levels of Python's logging: 10 (debug), 20
  /// (info), 22 (what a phase begins with), 30 (warning), 40 (error). Lines below the user's level
  /// are dropped.
  void Log(int32_t severity, std::string_view text) const {
    host_->log(host_->self, severity, Str(text));
  }
  void Info(std::string_view text) const { Log(20, text); }
  void Start(std::string_view text) const { Log(22, text); }
  void Warning(std::string_view text) const { Log(30, text); }
  /// Has the user interrupted the run? Then end the call soon, with any error.
  bool cancelled() const { return host_->cancelled(host_->self) != 0; }
  /// May outputs stay on a CUDA device?
  bool takes_cuda_outputs() const { return host_->abi_minor >= 1; }

  /// During Session::Run: memory of the host for one output, which then need not be copied.
  /// nullptr: use your own, as for small outputs. It may not be touched after Run.
  void* OutputMemory(size_t byte_size) const {
    if (!VN_HAS(host_, vn_host, output_memory)) return nullptr;
    return host_->output_memory(host_->self, byte_size);
  }

  /// During Session::Run, when the inference goes on by itself: the inputs of the session's next
  /// Run, if they are here already; empty if not, or if they were given before. If there is a next
  /// Run, it has just these. Their data stay until it returns.
  std::span<const vn_tensor* const> NextInputs() const {
    if (!VN_HAS(host_, vn_host, next_inputs)) return {};
    size_t count = 0;
    const vn_tensor* const* const inputs = host_->next_inputs(host_->self, &count);
    return {inputs, inputs == nullptr ? 0 : count};
  }

  /// An error in the host's own memory, which it frees. For code that fills the C tables itself:
  /// elsewhere return a Status.
  vn_status* NewStatus(const Status& status) const {
    return host_->status_new(host_->self, static_cast<int32_t>(status.code()),
                             Str(status.message()));
  }

 private:
  const vn_host* host_;
};

}  // namespace vernier::sdk
