// The two steps of MT19937 that take time, in vectors: the words that follow, and doubles made of
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace vernier {

inline constexpr size_t kTwisterWords = 624;

/// The next 624 words of the recurrence (Matsumoto and Nishimura, 1998), in place.
void TwistWords(std::span<uint32_t, kTwisterWords> state);

/// One double of 53 bits in [0, 1) of two words of the state each, as NumPy's random_sample makes
/// them. `words` has twice as many as `out`.
void DoublesOfWords(const uint32_t* words, std::span<double> out);

/// What the output function of MT19937 makes of a word of the state.
inline uint32_t TemperedWord(uint32_t word) {
  word ^= word >> 11;
  word ^= (word << 7) & 0x9d2c5680u;
  word ^= (word << 15) & 0xefc60000u;
  return word ^ (word >> 18);
}

/// The double of two tempered words.
inline double DoubleOf(uint32_t upper, uint32_t lower) {
  const auto high = static_cast<double>(upper >> 5);
  const auto low = static_cast<double>(lower >> 6);
  return (high * 0x1p26 + low) * 0x1p-53;  // exact, whatever the contraction
}

}  // namespace vernier
