// TensorRT's own messages, passed on at Polygraphy's levels.
#pragma once

#include <NvInfer.h>

#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "vernier/backend_sdk.hpp"

namespace vernier::trt {

class Logger final : public nvinfer1::ILogger {
 public:
  explicit Logger(const sdk::Host& host) : host_(host) {}

  void log(Severity severity, const char* text) noexcept override {
    const std::lock_guard lock(mutex_);
    switch (severity) {
      case Severity::kINTERNAL_ERROR:
      case Severity::kERROR:
        if (first_error_.empty()) first_error_ = text;
        last_error_ = text;
        host_.Log(40, text);
        break;
      case Severity::kWARNING:
        // One fault of a model may be reported for every layer.
        if (warned_.insert(text).second) host_.Log(30, text);
        break;
      case Severity::kINFO:
        host_.Log(10, text);
        break;
      default:
        host_.Log(0, text);
        break;
    }
  }

  const sdk::Host& host() const { return host_; }

  /// What TensorRT complained of, as the reason of a failure: first what went wrong, then what came
  /// of it in the end. Forgets both.
  std::string TakeError() {
    const std::lock_guard lock(mutex_);
    std::string error = std::exchange(first_error_, {});
    const std::string last = std::exchange(last_error_, {});
    if (last != error) error += "; " + last;
    return error;
  }

 private:
  const sdk::Host& host_;
  std::mutex mutex_;
  std::set<std::string> warned_;
  std::string first_error_;
  std::string last_error_;
};

}  // namespace vernier::trt
