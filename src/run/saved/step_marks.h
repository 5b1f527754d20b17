// What the words of steps change in MarkFeed(): all bits but the upper 12, which are then those of
// the feed's names and types alone.
#pragma once

#include <cstdint>

namespace vernier {

inline constexpr uint64_t kNameBits = uint64_t{0xfff} << 52;
inline constexpr uint64_t kStepBits = uint64_t{0xfff} << 40;  // of names and types, and of steps

/// Whether two marks are of feeds with the same names and types, and of other words of steps.
constexpr bool AreOfOtherSteps(uint64_t a, uint64_t b) {
  return ((a ^ b) & kNameBits) == 0 && ((a ^ b) & kStepBits) != 0;
}

/// A mark for runs that do not know the words of steps: those of other steps have other names then.
constexpr uint64_t WithUnknownSteps(uint64_t mark) { return mark ^ ((mark & kStepBits) << 12); }

}  // namespace vernier
