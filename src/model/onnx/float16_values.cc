#include "model/onnx/float16_values.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "kernels/elements/float_formats.h"

namespace vernier {
namespace {

float Clamp(float value, Float16Losses& losses) {
  const float magnitude = std::fabs(value);
  if (magnitude > losses.largest && std::isfinite(value)) {
    ++losses.too_large;
    return std::copysign(losses.largest, value);
  }
  if (magnitude > 0 && magnitude < kSmallestFloat16Weight) {
    ++losses.too_small;
    return std::copysign(kSmallestFloat16Weight, value);
  }
  return value;
}

// One value, whatever it is.
uint16_t Narrow(uint32_t bits, Float16Losses& losses) {
  return DoubleToHalf(static_cast<double>(Clamp(std::bit_cast<float>(bits), losses)));
}

constexpr size_t kBlock = 512;
constexpr uint32_t kInfinity = 0x7f800000;
constexpr uint32_t kSmallest = std::bit_cast<uint32_t>(kSmallestFloat16Weight);
constexpr uint32_t kFirstNormal = 0x38800000;  // 2^-14
constexpr uint32_t kRebias = 0u - (112u << 23);

// The same for finite values, without branches: compilers make vectors of it. False, and nothing
// counted, when there are others.
bool NarrowFinite(std::span<const uint32_t, kBlock> floats, std::span<uint16_t, kBlock> halfs,
                  Float16Losses& losses) {
  const auto largest = std::bit_cast<uint32_t>(losses.largest);
  uint32_t too_large = 0, too_small = 0, others = 0;
  for (size_t i = 0; i < kBlock; ++i) {
    const uint32_t given = floats[i] & 0x7fffffffu;
    const uint32_t large = given > largest ? 1 : 0;
    const uint32_t small = given - 1 < kSmallest - 1 ? 1 : 0;  // zero is not: it wraps around
    too_large += large;
    too_small += small;
    others |= given >= kInfinity ? 1 : 0;
    const uint32_t bits = large != 0 ? largest : small != 0 ? kSmallest : given;
    const uint32_t normal = (bits + kRebias + 0xfff + ((bits >> 13) & 1)) >> 13;
    // In 0.5 + x the last bit is worth what the last bit of a subnormal float16 is.
    const uint32_t subnormal =
        std::bit_cast<uint32_t>(std::bit_cast<float>(bits) + 0.5F) - std::bit_cast<uint32_t>(0.5F);
    const uint32_t half = bits < kFirstNormal ? subnormal : normal;
    halfs[i] = static_cast<uint16_t>(((floats[i] >> 16) & 0x8000u) | half);
  }
  if (others != 0) return false;
  losses.too_large += too_large;
  losses.too_small += too_small;
  return true;
}

}  // namespace

void NarrowToFloat16(std::span<const std::byte> floats, std::byte* halfs, Float16Losses& losses) {
  std::array<uint32_t, kBlock> in{};
  std::array<uint16_t, kBlock> out{};
  size_t count = floats.size() / sizeof(float);
  const std::byte* from = floats.data();
  while (count > 0) {
    const size_t size = std::min(count, kBlock);
    std::memcpy(in.data(), from, size * sizeof(float));
    if (size < kBlock || !NarrowFinite(in, out, losses)) {
      for (size_t i = 0; i < size; ++i) out[i] = Narrow(in[i], losses);
    }
    std::memcpy(halfs, out.data(), size * sizeof(uint16_t));
    from += size * sizeof(float);
    halfs += size * sizeof(uint16_t);
    count -= size;
  }
}

}  // namespace vernier
