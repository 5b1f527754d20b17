// NumPy's legacy generator, numpy.random.RandomState, bit for bit.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/elements/twister_words.h"

namespace vernier {

/// A stream of draws. The same seed and the same calls give the numbers that NumPy 2.4 gives.
class NumpyRandom {
 public:
  /// RandomState(seed) for an integer seed. (NumPy refuses seeds outside 32 bits.)
  explicit NumpyRandom(uint32_t seed);

  /// random_sample: doubles of 53 bits in [0, 1).
  void FillDoubles(std::span<double> out);

  /// randint(low, high + 1, dtype=T): integers in [low, high], both ends included. `low` must not
  /// exceed `high`. When they are equal no number is drawn.
  template <std::integral T>
  void FillIntegers(T low, T high, std::span<T> out);

  /// randint(low, high + 1, dtype=bool): 0 and 1, one byte each.
  void FillBools(bool low, bool high, std::span<uint8_t> out);

 private:
  static constexpr size_t kWords = kTwisterWords;

  uint32_t Next32();
  uint64_t Next64();
  void Twist();

  std::array<uint32_t, kWords> state_;
  size_t position_ = kWords;
};

}  // namespace vernier
