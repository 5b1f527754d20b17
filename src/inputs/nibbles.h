// 4-bit elements: two to a byte, the first in the low nibble.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace vernier {

/// Packs the low nibbles of `codes` into `packed`, which holds half as many bytes, rounded up. An
/// odd last byte gets a zero.
inline void PackNibbles(std::span<const uint8_t> codes, std::span<std::byte> packed) {
  for (size_t i = 0; i < packed.size(); ++i) {
    const unsigned low = codes[2 * i] & 0xfu;
    const unsigned high = 2 * i + 1 < codes.size() ? codes[2 * i + 1] & 0xfu : 0u;
    packed[i] = static_cast<std::byte>(low | high << 4);
  }
}

}  // namespace vernier
