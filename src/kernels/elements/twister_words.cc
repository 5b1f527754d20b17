#include "kernels/elements/twister_words.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/elements/twister_words.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace vernier {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr size_t kAhead = 397;
constexpr size_t kBehind = kTwisterWords - kAhead;

HWY_INLINE uint32_t Mixed(uint32_t upper, uint32_t lower) {
  const uint32_t joined = (upper & 0x80000000u) | (lower & 0x7fffffffu);
  return (joined >> 1) ^ ((0u - (lower & 1u)) & 0x9908b0dfu);
}

// words[i] = from[i] ^ Mixed(words[i], words[i + 1]) for [begin, end). `from` is at least a vector
// away, and what is written was read.
void MixRange(uint32_t* words, ptrdiff_t from, size_t begin, size_t end) {
  const hn::CappedTag<uint32_t, 64> d;
  const size_t lanes = hn::Lanes(d);
  const auto top = hn::Set(d, 0x80000000u);
  const auto one = hn::Set(d, 1u);
  const auto matrix = hn::Set(d, 0x9908b0dfu);
  size_t i = begin;
  for (; i + lanes <= end; i += lanes) {
    const auto upper = hn::LoadU(d, words + i);
    const auto lower = hn::LoadU(d, words + i + 1);
    const auto joined = hn::Or(hn::And(upper, top), hn::AndNot(top, lower));
    const auto odd = hn::Sub(hn::Zero(d), hn::And(lower, one));
    const auto mixed = hn::Xor(hn::ShiftRight<1>(joined), hn::And(odd, matrix));
    hn::StoreU(hn::Xor(hn::LoadU(d, words + static_cast<ptrdiff_t>(i) + from), mixed), d,
               words + i);
  }
  for (; i < end; ++i)
    words[i] = words[static_cast<ptrdiff_t>(i) + from] ^ Mixed(words[i], words[i + 1]);
}

void Twist(uint32_t* state) {
  MixRange(state, static_cast<ptrdiff_t>(kAhead), 0, kBehind);
  MixRange(state, -static_cast<ptrdiff_t>(kBehind), kBehind, kTwisterWords - 1);
  state[kTwisterWords - 1] = state[kAhead - 1] ^ Mixed(state[kTwisterWords - 1], state[0]);
}

void Doubles(const uint32_t* words, double* out, size_t count) {
  size_t i = 0;
#if HWY_TARGET != HWY_SCALAR  // it has no pairs of words
  const hn::ScalableTag<double> d;
  const hn::RebindToUnsigned<decltype(d)> d64;
  const hn::Repartition<uint32_t, decltype(d)> d32;
  const size_t lanes = hn::Lanes(d);
  for (; i + lanes <= count; i += lanes) {
    auto word = hn::LoadU(d32, words + 2 * i);
    word = hn::Xor(word, hn::ShiftRight<11>(word));
    word = hn::Xor(word, hn::And(hn::ShiftLeft<7>(word), hn::Set(d32, 0x9d2c5680u)));
    word = hn::Xor(word, hn::And(hn::ShiftLeft<15>(word), hn::Set(d32, 0xefc60000u)));
    word = hn::Xor(word, hn::ShiftRight<18>(word));
    // The first word of each pair is the low half.
    const auto pair = hn::BitCast(d64, word);
    const auto high = hn::ShiftRight<5>(hn::And(pair, hn::Set(d64, 0xffffffffu)));
    const auto bits = hn::Or(hn::ShiftLeft<26>(high), hn::ShiftRight<38>(pair));
    hn::StoreU(hn::Mul(hn::ConvertTo(d, bits), hn::Set(d, 0x1p-53)), d, out + i);
  }
#endif
  for (; i < count; ++i) {
    out[i] = DoubleOf(TemperedWord(words[2 * i]), TemperedWord(words[2 * i + 1]));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace vernier
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vernier {

HWY_EXPORT(Twist);
HWY_EXPORT(Doubles);

void TwistWords(std::span<uint32_t, kTwisterWords> state) {
  HWY_DYNAMIC_DISPATCH(Twist)(state.data());
}

void DoublesOfWords(const uint32_t* words, std::span<double> out) {
  HWY_DYNAMIC_DISPATCH(Doubles)(words, out.data(), out.size());
}

}  // namespace vernier
#endif  // HWY_ONCE
