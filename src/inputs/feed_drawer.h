// Random numbers for inputs from elsewhere than our own generator.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "inputs/value_ranges.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// One input to be drawn.
struct DrawRequest {
  std::string name;
  DType dtype = DType::kUndefined;
  Dims dims;
  ValueRange range;
};

class FeedDrawer {
 public:
  virtual ~FeedDrawer() = default;

  /// Tensors for all requests, drawn one after another by a generator with this seed.
  virtual Result<TensorMap> Draw(int64_t seed, std::span<const DrawRequest> requests) = 0;
};

}  // namespace vernier
