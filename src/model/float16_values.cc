#include "model/float16_values.h"

#include <cmath>
#include <cstring>

#include "kernels/float_formats.h"

namespace vernier {
namespace {

float Clamp(float value, Float16Losses& losses) {
  const float magnitude = std::fabs(value);
  if (magnitude > kLargestFloat16Weight && std::isfinite(value)) {
    ++losses.too_large;
    return std::copysign(kLargestFloat16Weight, value);
  }
  if (magnitude > 0 && magnitude < kSmallestFloat16Weight) {
    ++losses.too_small;
    return std::copysign(kSmallestFloat16Weight, value);
  }
  return value;
}

}  // namespace

void NarrowToFloat16(std::span<const std::byte> floats, std::byte* halfs, Float16Losses& losses) {
  for (size_t i = 0; i + sizeof(float) <= floats.size(); i += sizeof(float)) {
    float value = 0;
    std::memcpy(&value, floats.data() + i, sizeof(value));
    const uint16_t half = DoubleToHalf(static_cast<double>(Clamp(value, losses)));
    std::memcpy(halfs + i / 2, &half, sizeof(half));
  }
}

}  // namespace vernier
