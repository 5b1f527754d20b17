// The inputs of --save-flips: those of the iterations with the worst flips.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

class FlipFeeds {
 public:
  /// Keeps the feed of an iteration if it is among the worst so far, and lets go of what no longer
  /// is. The tensors share their bytes.
  void Keep(int64_t iteration, const TensorMap& feed, std::span<const int64_t> worst);

  bool empty() const { return feeds_.empty(); }

  /// Writes them in their order, as --load-inputs reads them. kIo: what was at `path` is as before.
  Status Save(const std::string& path) const;

 private:
  std::map<int64_t, TensorMap> feeds_;  // by their iterations
};

}  // namespace vernier
