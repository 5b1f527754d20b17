// How the differences of two elements are computed: one policy per arithmetic, as in
// kernels/difference_readers.h. Compiled without fused multiply-adds.
//
// What every policy has:
//   Value                what operands are loaded as
//   Absolute, Relative   types of the differences
//   kWidth               elements loaded at once
//   Load, One            operands
//   AbsoluteOf, RelativeOf   the differences, the second from the first
//   Replaces             is B a zero that counts as 2^-52?
//   Outside              is an absolute difference outside its tolerance?
//   kProducts            are sums of products of these operands asked for? (Integers: as doubles.)
#pragma once

#include <cstdint>

#include "gpu/element_loads.cuh"
#include "gpu/kernel_records.h"

namespace vernier::gpu {

template <typename T>
__device__ inline T ZeroReplacement() {
  return static_cast<T>(2.220446049250313e-16);  // 2^-52
}

// Clears the sign, of zero and NaN too.
__device__ inline float Magnitude(float value) { return fabsf(value); }
__device__ inline double Magnitude(double value) { return fabs(value); }

__device__ inline float Quotient(float a, float b) { return __fdiv_rn(a, b); }
__device__ inline double Quotient(double a, double b) { return __ddiv_rn(a, b); }

template <typename Loader, typename T>
struct Operands {
  using Value = T;
  static constexpr int kWidth = Loader::kWidth;
  static __device__ void Load(const PairArgs& args, int64_t i, T* a, T* b) {
    Loader::Load(args.a, args.a_type, i, a);
    Loader::Load(args.b, args.b_type, i, b);
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

// Real numbers in operations of their own type. kPlain: B is a float, and infinities are not
// special, which need not be asked for each element.
template <typename Loader, typename T, bool kPlain>
struct RealPolicy : Operands<Loader, T> {
  using Absolute = T;
  using Relative = T;
  static constexpr bool kProducts = true;

  static __device__ bool Replaces(const PairArgs& args, T b) {
    return b == 0 && (kPlain || (args.flags & kReplaceZero) != 0);
  }
  static __device__ T AbsoluteOf(const PairArgs& args, T a, T b) {
    if constexpr (!kPlain) {
      if ((args.flags & kInfinitiesEqual) != 0 && IsInfinite(a) && a == b) return 0;
    }
    return Magnitude(a - b);
  }
  static __device__ T RelativeOf(const PairArgs& args, T absolute, T b) {
    const T divisor = Replaces(args, b) ? ZeroReplacement<T>() : Magnitude(b);
    if constexpr (!kPlain) return Quotient(absolute, divisor);
    // The quotient is 0, as the divisor is neither 0 nor NaN; dividing a zero takes a detour that
    // is many times as long as dividing anything else.
    const bool is_zero = absolute == 0;
    const T quotient = Quotient(is_zero ? T{1} : absolute, is_zero ? T{1} : divisor);
    return is_zero ? T{0} : quotient;
  }
  static __device__ bool Outside(const PairArgs& args, T absolute) {
    return !(absolute <= static_cast<T>(args.absolute_limit));
  }
};

// Float32 operands whose equal infinities match: differences and quotients are float64.
template <typename Loader>
struct WidenedPolicy : Operands<Loader, float> {
  using Absolute = double;
  using Relative = double;
  static constexpr bool kProducts = false;

  static __device__ bool Replaces(const PairArgs& args, float b) {
    return b == 0 && (args.flags & kReplaceZero) != 0;
  }
  static __device__ double AbsoluteOf(const PairArgs&, float a, float b) {
    const bool same_infinity = IsInfinite(a) && a == b;
    return same_infinity ? 0.0 : Magnitude(static_cast<double>(a - b));
  }
  static __device__ double RelativeOf(const PairArgs& args, double absolute, float b) {
    return Quotient(absolute, Replaces(args, b) ? ZeroReplacement<double>()
                                                : Magnitude(static_cast<double>(b)));
  }
  static __device__ bool Outside(const PairArgs& args, double absolute) {
    return !(absolute <= args.absolute_limit);
  }
};

// Integers, exactly. What lies more than 2^64 - 1 apart saturates.
struct IntegerPolicy : Operands<AnyLoader<int64_t>, int64_t> {
  using Absolute = uint64_t;
  using Relative = double;
  static constexpr bool kProducts = false;

  static __device__ bool Replaces(const PairArgs&, int64_t) { return false; }
  static __device__ uint64_t AbsoluteOf(const PairArgs& args, int64_t a, int64_t b) {
    const bool a_negative = a < 0 && (args.flags & kAUnsigned) == 0;
    const bool b_negative = b < 0 && (args.flags & kBUnsigned) == 0;
    const uint64_t x = Unsigned(a, a_negative);
    const uint64_t y = Unsigned(b, b_negative);
    const uint64_t together = x + y < x ? UINT64_MAX : x + y;
    return a_negative != b_negative ? together : x > y ? x - y : y - x;
  }
  static __device__ double RelativeOf(const PairArgs& args, uint64_t absolute, int64_t b) {
    const bool negative = b < 0 && (args.flags & kBUnsigned) == 0;
    return Quotient(static_cast<double>(absolute), static_cast<double>(Unsigned(b, negative)));
  }
  static __device__ bool Outside(const PairArgs& args, uint64_t absolute) {
    return args.always_fails != 0 || absolute > args.whole_limit;
  }

 private:
  static __device__ uint64_t Unsigned(int64_t bits, bool negative) {
    return negative ? uint64_t{0} - static_cast<uint64_t>(bits) : static_cast<uint64_t>(bits);
  }
};

// The variants that CMakeLists.txt compiles pair.cu for.
using Float32Pair = RealPolicy<Float32Loader, float, true>;
using Float16Pair = RealPolicy<Float16Loader, float, true>;
using BFloat16Pair = RealPolicy<BFloat16Loader, float, true>;
using SmallPair = RealPolicy<AnyLoader<float>, float, false>;
using WidenedPair = WidenedPolicy<AnyLoader<float>>;
using Float64Pair = RealPolicy<Float64Loader, double, true>;
using RealPair = RealPolicy<AnyLoader<double>, double, false>;
using IntegerPair = IntegerPolicy;

}  // namespace vernier::gpu
