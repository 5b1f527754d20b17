// The perceptual distance of images, computed by torch and lpips in a Python worker.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "backend/worker/script_client.h"
#include "compare/functions/comparison.h"

namespace vernier {

class LpipsMeasure final : public PerceptualMeasure {
 public:
  using StartWorker = std::function<Result<std::shared_ptr<Worker>>()>;

  /// Nothing is started before the first measurement.
  explicit LpipsMeasure(StartWorker start) : start_(std::move(start)) {}

  Result<double> Measure(const Tensor& a, const Tensor& b) override;

 private:
  Result<std::unique_ptr<ScriptClient>> Open();

  StartWorker start_;
  std::optional<Result<std::unique_ptr<ScriptClient>>> client_;
};

}  // namespace vernier
