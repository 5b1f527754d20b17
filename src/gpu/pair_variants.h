// Which compiled variant of the kernels serves which types, and what its results mean.
#pragma once

#include <cstdint>
#include <string_view>

#include "gpu/device_measures.h"
#include "gpu/stream_totals.h"

namespace vernier::gpu {

/// How keys of a rank selection turn into numbers.
enum class KeyType : uint8_t { kMagnitude32, kFloat32, kMagnitude64, kFloat64, kInt64, kUint64 };

/// A compiled variant of pair.cu.
struct PairVariant {
  std::string_view name;
  std::string_view products;  ///< the variant that multiplies
  StreamType absolute_type;
  KeyType absolute_key;
  KeyType relative_key;
  unsigned key_bits;
  DType absolute_dtype;
  DType relative_dtype;
};
PairVariant VariantOf(const DeviceElements& a, const DeviceElements& b, bool infinities_equal);

/// A variant of values.cu.
struct ValueVariant {
  std::string_view name;
  StreamType type;
  StreamTotals::Sign sign;
  KeyType key;
  unsigned key_bits;
};
ValueVariant ValueVariantOf(const DeviceElements& elements);

}  // namespace vernier::gpu
