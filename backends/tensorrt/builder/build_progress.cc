#include "tensorrt/builder/build_progress.h"

#include <chrono>
#include <map>

namespace vernier::trt {
namespace {

constexpr std::chrono::seconds kBetweenLines{10};

}  // namespace

#if VERNIER_TRT_AT_LEAST(10, 0)

// TensorRT calls it from several threads.
class BuildProgress::Monitor final : public nvinfer1::IProgressMonitor {
 public:
  Monitor(nvinfer1::IBuilderConfig& config, const sdk::Host& host) : host_(host) {
    config.setProgressMonitor(this);
  }

  void phaseStart(char const* name, char const*, int32_t steps) noexcept override {
    const std::lock_guard lock(mutex_);
    phases_[name] = {0, steps};
  }
  bool stepComplete(char const* name, int32_t step) noexcept override {
    const std::lock_guard lock(mutex_);
    phases_[name].first = step + 1;
    return !host_.cancelled();
  }
  void phaseFinish(char const* name) noexcept override {
    const std::lock_guard lock(mutex_);
    phases_.erase(name);
  }

  std::string Doing() {
    const std::lock_guard lock(mutex_);
    std::string text;
    for (const auto& [name, steps] : phases_) {
      text += "; " + name + ", step " + std::to_string(steps.first) + " of " +
              std::to_string(steps.second);
    }
    return text;
  }

 private:
  const sdk::Host& host_;
  std::mutex mutex_;
  std::map<std::string, std::pair<int32_t, int32_t>> phases_;
};

#else

class BuildProgress::Monitor {
 public:
  Monitor(nvinfer1::IBuilderConfig&, const sdk::Host&) {}
  std::string Doing() { return {}; }
};

#endif

BuildProgress::BuildProgress(nvinfer1::IBuilderConfig& config, const sdk::Host& host)
    : host_(host),
      monitor_(std::make_unique<Monitor>(config, host)),
      thread_([this] { Report(); }) {}

BuildProgress::~BuildProgress() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  over_.notify_one();
  thread_.join();
}

void BuildProgress::Report() {
  std::unique_lock lock(mutex_);
  for (auto elapsed = kBetweenLines;; elapsed += kBetweenLines) {
    if (over_.wait_for(lock, kBetweenLines, [this] { return is_over_; })) return;
    host_.Info("Still building the engine, " + std::to_string(elapsed.count()) + " s so far" +
               monitor_->Doing());
  }
}

}  // namespace vernier::trt
