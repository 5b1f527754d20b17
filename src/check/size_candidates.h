// Sizes that free dimensions of inputs may have, for models that do not run with the default ones.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "vernier/tensor.h"

namespace vernier {

class SizeCandidates {
 public:
  /// `free` says of which inputs dynamic dimensions may be chosen.
  SizeCandidates(std::span<const TensorInfo> inputs,
                 const std::function<bool(const TensorInfo&)>& free);

  /// The inputs with fixed sizes, small ones first: all free dimensions but the leading ones, which
  /// are batches as a rule, at one size; then one of them alone, the others 1. Dimensions of one
  /// name have one size.
  const std::vector<std::vector<TensorInfo>>& list() const { return list_; }

 private:
  std::vector<std::vector<TensorInfo>> list_;
};

}  // namespace vernier
