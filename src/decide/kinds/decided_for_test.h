// Outputs, and what is decided about them, for tests of decisions.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "decide/kinds/decision.h"

namespace vernier {

inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

inline Tensor FloatTensor(Dims dims, const std::vector<float>& values) {
  return *Tensor::Copy(DType::kFloat32, std::move(dims), std::as_bytes(std::span(values)));
}

inline std::vector<DecisionSample> Decided(const std::string& words, const Tensor& a,
                                           const Tensor& b, std::optional<double> near_tie = {}) {
  Result<std::vector<DecisionSample>> samples = Decide(*ParseDecision(words), a, b, {}, near_tie);
  EXPECT_TRUE(samples.ok()) << samples.status().message();
  return samples.ok() ? *std::move(samples) : std::vector<DecisionSample>{};
}

// Softmax of logits, in float32.
inline Tensor Probabilities(const std::vector<double>& logits) {
  double sum = 0;
  for (const double logit : logits) sum += std::exp(logit);
  std::vector<float> values;
  for (const double logit : logits) values.push_back(static_cast<float>(std::exp(logit) / sum));
  return FloatTensor({1, static_cast<int64_t>(values.size())}, values);
}

}  // namespace vernier
