// The inputs of --save-flips and --on-flips: those of the iterations with the worst flips.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// Inputs in memory of their own, with the iterations that they are of.
struct FlipInputs {
  std::vector<int64_t> iterations;
  std::vector<TensorMap> feeds;
};

class FlipFeeds {
 public:
  /// Keeps the feed of an iteration if it is among the worst so far, and lets go of what no longer
  /// is. The tensors share their bytes.
  void Keep(int64_t iteration, const TensorMap& feed, std::span<const int64_t> worst);

  bool empty() const { return feeds_.empty(); }

  /// Writes them in their order, as --load-inputs reads them. kIo: what was at `path` is as before.
  Status Save(const std::string& path) const;

  /// Those of these iterations that are kept, in this order; they outlive the workers of the run.
  /// Errors as Tensor::Copy.
  Result<FlipInputs> Copy(std::span<const int64_t> iterations) const;

 private:
  std::map<int64_t, TensorMap> feeds_;  // by their iterations
};

}  // namespace vernier
