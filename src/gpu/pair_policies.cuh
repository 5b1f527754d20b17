// How the differences of two elements are computed: one policy per arithmetic, as in
// kernels/measures/difference_readers.h. Compiled without fused multiply-adds.
//
// What every policy has:
//   Value                what operands are loaded as
//   Absolute, Relative   types of the differences
//   kWidth               elements loaded at once
//   Fetch, Decode, One   operands
//   AbsoluteOf, RelativeOf   the differences, the second from the first
//   Divisors             what a group's absolute differences are divided by; returns how many are
//                        zeros of B that count as 2^-52
//   Relatives            the relative differences of a group: RelativeOf
//   kAllAtOnce           AllRelatives does the work of Divisors and Relatives
//   kNear, NearRelatives     there are approximate ones, good enough to be added up
//   Outside              is an absolute difference outside its tolerance?
//   kWhole               whole numbers of at most 32 bits, with Numbers: see WholeTally
//   kProducts            are sums of products of these operands asked for? (Integers: as doubles.)
#pragma once

#include <cstdint>
#include <type_traits>

#include "gpu/element_loads.cuh"
#include "gpu/kernel_records.h"
#include "gpu/quotients.cuh"

namespace vernier::gpu {

template <typename T>
__device__ inline T ZeroReplacement() {
  return static_cast<T>(2.220446049250313e-16);  // 2^-52
}

// Clears the sign, of zero and NaN too.
__device__ inline float Magnitude(float value) { return fabsf(value); }
__device__ inline double Magnitude(double value) { return fabs(value); }

template <typename Loader, typename T>
struct Operands {
  using Value = T;
  static constexpr bool kWhole = false;
  static constexpr int kWidth = Loader::kWidth;
  struct Raw {
    typename Loader::Raw a;
    typename Loader::Raw b;
  };
  static __device__ Raw Fetch(const PairArgs& args, int64_t i) {
    return {Loader::Fetch(args.a, args.a_type, i), Loader::Fetch(args.b, args.b_type, i)};
  }
  static __device__ void Decode(const Raw& raw, T* a, T* b) {
    Loader::Decode(raw.a, a);
    Loader::Decode(raw.b, b);
  }
  static __device__ void One(const PairArgs& args, int64_t i, T& a, T& b) {
    a = Loader::One(args.a, args.a_type, i);
    b = Loader::One(args.b, args.b_type, i);
  }
};

template <typename T>
__device__ inline bool IsInfinite(T value) {
  return fabs(static_cast<double>(value)) == __longlong_as_double(0x7ff0000000000000ll);
}

struct ExactQuotients {
  static constexpr bool kNear = false;
  template <int kCount, typename... Arguments>
  static __device__ uint32_t AllRelatives(const Arguments&...) {
    return 0;
  }
  template <int kCount, typename Absolute, typename Relative>
  static __device__ bool NearRelatives(const Absolute*, DivisorGroup<Relative, kCount>&,
                                       Relative*) {
    return false;
  }
};

// Real numbers in operations of their own type. kPlain: B is a float, and infinities are not
// special, which need not be asked for each element.
template <typename Loader, typename T, bool kPlain>
struct RealPolicy : Operands<Loader, T>, ExactQuotients {
  static constexpr bool kAllAtOnce = kPlain;
  using Absolute = T;
  using Relative = T;
  static constexpr bool kProducts = true;

  static __device__ T AbsoluteOf(const PairArgs& args, T a, T b) {
    if constexpr (!kPlain) {
      if ((args.flags & kInfinitiesEqual) != 0 && IsInfinite(a) && a == b) return 0;
    }
    return Magnitude(a - b);
  }
  static __device__ T RelativeOf(const PairArgs& args, T absolute, T b) {
    DivisorGroup<T, 1> divisor;
    Divisors<1>(args, &b, divisor);
    return Quotient(absolute, divisor.values[0]);
  }
  template <int kCount>
  static __device__ uint32_t Divisors(const PairArgs& args, const T* b,
                                      DivisorGroup<T, kCount>& out) {
    T low = Magnitude(b[0]);
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      out.values[i] = Magnitude(b[i]);
      low = ::min(low, out.values[i]);
    }
    uint32_t zeros = 0;
    if (low == 0 && (kPlain || (args.flags & kReplaceZero) != 0)) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        if (out.values[i] != 0) continue;
        out.values[i] = ZeroReplacement<T>();
        ++zeros;
      }
    }
    return zeros;
  }
  // All at once, for a group of which everything is asked.
  template <int kCount>
  static __device__ uint32_t AllRelatives(const T* absolute, const Extent<T>& extent, const T* b,
                                          T* out) {
    T divisors[kCount];
#pragma unroll
    for (int i = 0; i < kCount; ++i) divisors[i] = Magnitude(b[i]);
    return QuotientsOrReplaced<kCount>(absolute, extent.high, divisors, out);
  }
  template <int kCount>
  static __device__ void Relatives(const T* absolute, const Extent<T>& extent,
                                   DivisorGroup<T, kCount>& divisors, T* out) {
    divisors.Measure();
    Quotients<kCount>(absolute, extent.high, divisors, out);
  }
  static __device__ bool Outside(const PairArgs& args, T absolute) {
    return !(absolute <= static_cast<T>(args.absolute_limit));
  }
};

// Float32 operands whose equal infinities match: differences and quotients are float64.
template <typename Loader>
struct WidenedPolicy : Operands<Loader, float>, ExactQuotients {
  static constexpr bool kAllAtOnce = false;
  using Absolute = double;
  using Relative = double;
  static constexpr bool kProducts = false;

  static __device__ double AbsoluteOf(const PairArgs&, float a, float b) {
    const bool same_infinity = IsInfinite(a) && a == b;
    return same_infinity ? 0.0 : Magnitude(static_cast<double>(a - b));
  }
  static __device__ double RelativeOf(const PairArgs& args, double absolute, float b) {
    DivisorGroup<double, 1> divisor;
    Divisors<1>(args, &b, divisor);
    return Quotient(absolute, divisor.values[0]);
  }
  template <int kCount>
  static __device__ uint32_t Divisors(const PairArgs& args, const float* b,
                                      DivisorGroup<double, kCount>& out) {
    uint32_t zeros = 0;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const bool replaced = b[i] == 0 && (args.flags & kReplaceZero) != 0;
      out.values[i] = replaced ? ZeroReplacement<double>() : Magnitude(static_cast<double>(b[i]));
      zeros += replaced ? 1 : 0;
    }
    return zeros;
  }
  template <int kCount>
  static __device__ void Relatives(const double* absolute, const Extent<double>&,
                                   DivisorGroup<double, kCount>& divisors, double* out) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) out[i] = Quotient(absolute[i], divisors.values[i]);
  }
  static __device__ bool Outside(const PairArgs& args, double absolute) {
    return !(absolute <= args.absolute_limit);
  }
};

// What integers have in common: their zeros are not replaced, and quotients are float64.
template <typename Absolute>
struct WholeQuotients {
  static constexpr bool kAllAtOnce = false;
  template <int kCount, typename... Arguments>
  static __device__ uint32_t AllRelatives(const Arguments&...) {
    return 0;
  }
  static constexpr bool kNear = true;

  static __device__ double Dividend(uint32_t value) { return static_cast<double>(value); }
  static __device__ double Dividend(uint64_t value) { return static_cast<double>(value); }

  template <int kCount>
  static __device__ void Relatives(const Absolute* absolute, const Extent<Absolute>&,
                                   DivisorGroup<double, kCount>& divisors, double* out) {
    uint32_t low = Order(divisors.values[0]);
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      low = ::min(low, Order(divisors.values[i]));
      out[i] = PlainQuotient(Dividend(absolute[i]), divisors.values[i]);
    }
    if (low != 0) return;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if (divisors.values[i] != 0) continue;
      const double infinite = __longlong_as_double(0x7ff0000000000000ll);
      out[i] = absolute[i] == 0 ? infinite - infinite : infinite;
    }
  }
  // False where a divisor is 0: then they are not.
  template <int kCount>
  static __device__ bool NearRelatives(const Absolute* absolute,
                                       DivisorGroup<double, kCount>& divisors, double* out) {
    uint32_t low = Order(divisors.values[0]);
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      low = ::min(low, Order(divisors.values[i]));
      out[i] = NearQuotient(Dividend(absolute[i]), divisors.values[i]);
    }
    return low != 0;
  }
};

// Integers, exactly. What lies more than 2^64 - 1 apart saturates.
template <typename Loader>
struct IntegerPolicy : Operands<Loader, int64_t>, WholeQuotients<uint64_t> {
  using Absolute = uint64_t;
  using Relative = double;
  static constexpr bool kProducts = false;

  static __device__ uint64_t AbsoluteOf(const PairArgs& args, int64_t a, int64_t b) {
    const bool a_negative = a < 0 && (args.flags & kAUnsigned) == 0;
    const bool b_negative = b < 0 && (args.flags & kBUnsigned) == 0;
    const uint64_t x = Unsigned(a, a_negative);
    const uint64_t y = Unsigned(b, b_negative);
    const uint64_t together = x + y < x ? UINT64_MAX : x + y;
    return a_negative != b_negative ? together : x > y ? x - y : y - x;
  }
  static __device__ double RelativeOf(const PairArgs& args, uint64_t absolute, int64_t b) {
    return Quotient(static_cast<double>(absolute), Divisor(args, b));
  }
  template <int kCount>
  static __device__ uint32_t Divisors(const PairArgs& args, const int64_t* b,
                                      DivisorGroup<double, kCount>& out) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) out.values[i] = Divisor(args, b[i]);
    return 0;
  }
  static __device__ bool Outside(const PairArgs& args, uint64_t absolute) {
    return args.always_fails != 0 || absolute > args.whole_limit;
  }

 private:
  static __device__ uint64_t Unsigned(int64_t bits, bool negative) {
    return negative ? uint64_t{0} - static_cast<uint64_t>(bits) : static_cast<uint64_t>(bits);
  }
  static __device__ double Divisor(const PairArgs& args, int64_t b) {
    const bool negative = b < 0 && (args.flags & kBUnsigned) == 0;
    return static_cast<double>(Unsigned(b, negative));
  }
};

// Whole numbers of at most 32 bits as a tally wants them: operands, and their differences and
// divisors as Numbers that are not negative.
template <typename Element>
struct WholeNumbers {
  using Operand = std::conditional_t<std::is_signed_v<Element>, int32_t, uint32_t>;
  using Number = uint32_t;

  static __device__ Number DifferenceOf(Operand a, Operand b) {
    const auto x = static_cast<uint32_t>(a);
    const auto y = static_cast<uint32_t>(b);
    return a > b ? x - y : y - x;
  }
  static __device__ Number DivisorOf(Operand b) {
    const auto bits = static_cast<uint32_t>(b);
    return b < 0 ? 0u - bits : bits;
  }
  static __device__ uint32_t WholeOf(Number number) { return number; }
  static __device__ int OrderOf(Number number) { return static_cast<int>(number >> 1); }
  static __device__ void Decode(const uint4& words, Operand* out) {
    memcpy(out, &words, sizeof(words));
  }
  static __device__ Operand OperandOf(Operand value) { return value; }
};
// Of 16 bits, in float32: two of them fill a word, and a byte permutation makes each the last
// digits of 2^23.
template <typename Element>
struct ShortNumbers {
  using Operand = float;  ///< 2^23 and what the number is above the least of its type
  using Number = float;
  static constexpr uint32_t kSigns = std::is_signed_v<Element> ? 0x80008000u : 0u;
  static constexpr float kZero = 8388608.0f + (std::is_signed_v<Element> ? 32768.0f : 0.0f);

  static __device__ Number DifferenceOf(Operand a, Operand b) { return fabsf(a - b); }
  static __device__ Number DivisorOf(Operand b) { return fabsf(b - kZero); }
  static __device__ uint32_t WholeOf(Number number) {
    return static_cast<uint32_t>(__float_as_int(number + 8388608.0f)) & 0x1ffffu;
  }
  static __device__ int OrderOf(Number number) { return __float_as_int(number); }
  static __device__ void Decode(const uint4& v, Operand* out) {
    const uint32_t words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const uint32_t word = words[i] ^ kSigns;
      out[2 * i] = __int_as_float(static_cast<int>(__byte_perm(word, 0x4b00u, 0x5410)));
      out[2 * i + 1] = __int_as_float(static_cast<int>(__byte_perm(word, 0x4b00u, 0x5432)));
    }
  }
  template <typename Value>
  static __device__ Operand OperandOf(Value value) {
    return kZero + static_cast<float>(value);
  }
};

// Both of one type of at most 32 bits, whose differences 32 bits hold.
template <typename ElementType>
struct ShortIntegerPolicy
    : Operands<WordLoader<ElementType,
                          std::conditional_t<std::is_signed_v<ElementType>, int32_t, uint32_t>>,
               std::conditional_t<std::is_signed_v<ElementType>, int32_t, uint32_t>>,
      WholeQuotients<uint32_t> {
  using Element = ElementType;
  using Value = std::conditional_t<std::is_signed_v<Element>, int32_t, uint32_t>;
  using Absolute = uint32_t;
  using Relative = double;
  using Numbers =
      std::conditional_t<sizeof(Element) == 2, ShortNumbers<Element>, WholeNumbers<Element>>;
  static constexpr bool kProducts = false;
  static constexpr bool kWhole = true;

  static __device__ uint32_t AbsoluteOf(const PairArgs&, Value a, Value b) {
    if constexpr (sizeof(Element) < 4) {
      return static_cast<uint32_t>(abs(static_cast<int>(a) - static_cast<int>(b)));
    }
    return WholeNumbers<Element>::DifferenceOf(a, b);
  }
  static __device__ double RelativeOf(const PairArgs&, uint32_t absolute, Value b) {
    return Quotient(Dividend(absolute), Divisor(b));
  }
  template <int kCount>
  static __device__ uint32_t Divisors(const PairArgs&, const Value* b,
                                      DivisorGroup<double, kCount>& out) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) out.values[i] = Divisor(b[i]);
    return 0;
  }
  static __device__ bool Outside(const PairArgs& args, uint32_t absolute) {
    const auto limit = static_cast<uint32_t>(::min(args.whole_limit, uint64_t{UINT32_MAX}));
    return args.always_fails != 0 || absolute > limit;
  }

 private:
  static __device__ double Divisor(Value b) { return fabs(static_cast<double>(b)); }
};

// The variants that CMakeLists.txt compiles pair.cu for.
using Float32Pair = RealPolicy<Float32Loader, float, true>;
using Float16Pair = RealPolicy<Float16Loader, float, true>;
using BFloat16Pair = RealPolicy<BFloat16Loader, float, true>;
using SmallPair = RealPolicy<AnyLoader<float>, float, false>;
using WidenedPair = WidenedPolicy<AnyLoader<float>>;
using Float64Pair = RealPolicy<Float64Loader, double, true>;
using RealPair = RealPolicy<AnyLoader<double>, double, false>;
using IntegerPair = IntegerPolicy<AnyLoader<int64_t>>;
using Int16Pair = ShortIntegerPolicy<int16_t>;
using Uint16Pair = ShortIntegerPolicy<uint16_t>;
using Int32Pair = ShortIntegerPolicy<int32_t>;
using Uint32Pair = ShortIntegerPolicy<uint32_t>;
using LongPair = IntegerPolicy<WordLoader<int64_t, int64_t>>;  // uint64 as its bits

}  // namespace vernier::gpu
