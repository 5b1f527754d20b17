// Weights from float32 to float16, by Polygraphy's rule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace vernier {

/// Beyond this magnitude finite weights become +-10000: far below float16's limit of 65504, so that
/// what is computed with them has room. (The rule of onnxconverter-common, which the peer uses.)
inline constexpr float kLargestFloat16Weight = 1e4F;
/// Nearer to zero, but not zero, they become +-1e-7, which float16 tells from zero.
inline constexpr float kSmallestFloat16Weight = 1e-7F;

/// What could not be kept.
struct Float16Losses {
  uint64_t too_large = 0;  ///< finite values that became +-kLargestFloat16Weight
  uint64_t too_small = 0;  ///< values that became +-kSmallestFloat16Weight
};

/// Rounds to nearest even; zeros keep their sign, infinities and NaN stay. `floats` are
/// little-endian float32 without alignment, four bytes each; `halfs` has room for half as many
/// bytes.
void NarrowToFloat16(std::span<const std::byte> floats, std::byte* halfs, Float16Losses& losses);

}  // namespace vernier
