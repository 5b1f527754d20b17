// Weights from float32 to float16.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace vernier {

/// The largest finite float16.
inline constexpr float kLargestFloat16 = 65504;
/// Polygraphy's limit, that of onnxconverter-common: far below, so that what is computed with such
/// weights has room.
inline constexpr float kPolygraphyLargestFloat16 = 1e4F;
/// Nearer to zero, but not zero, they become +-1e-7, which float16 distinguishes from zero.
inline constexpr float kSmallestFloat16Weight = 1e-7F;

/// The limit that weights are held to, and what could not be kept.
struct Float16Losses {
  float largest = kLargestFloat16;
  uint64_t too_large = 0;  ///< finite values that became +-largest
  uint64_t too_small = 0;  ///< values that became +-kSmallestFloat16Weight
};

/// Rounds to nearest even; zeros keep their sign, infinities and NaN stay. `floats` are
/// little-endian float32 without alignment, four bytes each; `halfs` has room for half as many
/// bytes.
void NarrowToFloat16(std::span<const std::byte> floats, std::byte* halfs, Float16Losses& losses);

}  // namespace vernier
