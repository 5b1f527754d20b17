#include "inputs/numpy_random.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <type_traits>

#include "kernels/elements/twister_words.h"

namespace vernier {
namespace {

// The smallest 2^n - 1 that is not below `range`.
uint64_t MaskFor(uint64_t range) {
  return range == 0 ? 0 : ~uint64_t{0} >> std::countl_zero(range);
}

// Types narrower than 32 bits take their draws from one 32-bit word, low end first. What is left of
// the word is dropped at the end of a fill.
template <int kBits, typename Draw>
class WordSplitter {
 public:
  explicit WordSplitter(Draw draw) : draw_(draw) {}

  uint32_t Next() {
    if (left_ == 0) {
      word_ = draw_();
      left_ = 32 / kBits;
    } else {
      word_ >>= kBits;
    }
    --left_;
    return word_ & ((1u << kBits) - 1);
  }

 private:
  Draw draw_;
  uint32_t word_ = 0;
  int left_ = 0;
};

// Draws are masked and drawn again while they exceed the range.
template <typename T, typename U, typename Draw>
void FillMasked(U low, U range, std::span<T> out, Draw draw) {
  const U mask = static_cast<U>(MaskFor(range));
  for (T& element : out) {
    U value;
    do {
      value = static_cast<U>(draw() & mask);
    } while (value > range);
    element = static_cast<T>(static_cast<U>(low + value));
  }
}

}  // namespace

NumpyRandom::NumpyRandom(uint32_t seed) {
  state_[0] = seed;
  for (uint32_t i = 1; i < kWords; ++i) {
    const uint32_t previous = state_[i - 1];
    state_[i] = 1812433253u * (previous ^ (previous >> 30)) + i;
  }
}

// std::mt19937 gives the same words at a third of the speed: its words are 64 bits wide in
// libstdc++.
void NumpyRandom::Twist() {
  TwistWords(state_);
  position_ = 0;
}

uint32_t NumpyRandom::Next32() {
  if (position_ == kWords) Twist();
  return TemperedWord(state_[position_++]);
}

// The order of two draws in one expression would be the compiler's choice; here the first is the
// upper half.
uint64_t NumpyRandom::Next64() {
  const uint64_t upper = Next32();
  return upper << 32 | Next32();
}

void NumpyRandom::FillDoubles(std::span<double> out) {
  while (!out.empty()) {
    if (position_ == kWords) Twist();
    const size_t count = std::min(out.size(), (kWords - position_) / 2);
    DoublesOfWords(state_.data() + position_, out.first(count));
    position_ += 2 * count;
    out = out.subspan(count);
    if (out.empty() || position_ == kWords) continue;
    const uint32_t upper = Next32();  // the last word of these; its partner is among the next
    out.front() = DoubleOf(upper, Next32());
    out = out.subspan(1);
  }
}

template <std::integral T>
void NumpyRandom::FillIntegers(T low, T high, std::span<T> out) {
  using U = std::make_unsigned_t<T>;
  const U offset = static_cast<U>(low);
  const U range = static_cast<U>(static_cast<U>(high) - offset);
  const auto next32 = [this] { return Next32(); };
  if (range == 0) {
    std::fill(out.begin(), out.end(), low);
  } else if constexpr (sizeof(T) < sizeof(uint32_t)) {
    WordSplitter<8 * sizeof(T), decltype(next32)> splitter(next32);
    FillMasked(offset, range, out, [&splitter] { return splitter.Next(); });
  } else if (range <= std::numeric_limits<uint32_t>::max()) {
    FillMasked(offset, range, out, next32);
  } else {
    FillMasked(offset, range, out, [this] { return static_cast<U>(Next64()); });
  }
}

void NumpyRandom::FillBools(bool low, bool high, std::span<uint8_t> out) {
  if (low == high) {
    std::fill(out.begin(), out.end(), low ? uint8_t{1} : uint8_t{0});
    return;
  }
  const auto next32 = [this] { return Next32(); };
  WordSplitter<1, decltype(next32)> bits(next32);
  for (uint8_t& element : out) element = static_cast<uint8_t>(bits.Next());
}

template void NumpyRandom::FillIntegers(int8_t, int8_t, std::span<int8_t>);
template void NumpyRandom::FillIntegers(uint8_t, uint8_t, std::span<uint8_t>);
template void NumpyRandom::FillIntegers(int16_t, int16_t, std::span<int16_t>);
template void NumpyRandom::FillIntegers(uint16_t, uint16_t, std::span<uint16_t>);
template void NumpyRandom::FillIntegers(int32_t, int32_t, std::span<int32_t>);
template void NumpyRandom::FillIntegers(uint32_t, uint32_t, std::span<uint32_t>);
template void NumpyRandom::FillIntegers(int64_t, int64_t, std::span<int64_t>);
template void NumpyRandom::FillIntegers(uint64_t, uint64_t, std::span<uint64_t>);

}  // namespace vernier
