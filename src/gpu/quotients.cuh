// Quotients as IEEE division rounds them, without a branch for every element: the compiler's own
// division asks each pair of operands whether they are special. Here a group is asked once.
#pragma once

#include <cstdint>

namespace vernier::gpu {

__device__ inline float Quotient(float a, float b) { return __fdiv_rn(a, b); }
__device__ inline double Quotient(double a, double b) { return __ddiv_rn(a, b); }

// A whole number of 32 bits, which lies in the low digits of 2^52: no conversion, which GPUs are
// slow at.
__device__ inline double DoubleOf(uint32_t value) {
  return __dadd_rn(__hiloint2double(0x43300000, static_cast<int>(value)), -4503599627370496.0);
}

// An approximate reciprocal, made exact but for its rounding; a quotient, corrected by its
// remainder. Right for divisors in [2^-56, 2^36] and dividends that are 0 or in [2^-90, 2^70]: then
// no remainder is too small to be exact, and no quotient too small or too large.
__device__ inline float PlainQuotient(float a, float b) {
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(b));
  r = __fmaf_rn(__fmaf_rn(-b, r, 1.0f), r, r);
  const float q = __fmul_rn(a, r);
  return __fmaf_rn(__fmaf_rn(-b, q, a), r, q);
}
// As above; both in [2^-400, 2^400].
__device__ inline double PlainQuotient(double a, double b) {
  double r;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(b));
  double e = __fma_rn(-b, r, 1.0);
  e = __fma_rn(e, e, e);
  r = __fma_rn(e, r, r);
  r = __fma_rn(__fma_rn(-b, r, 1.0), r, r);
  const double q = __dmul_rn(a, r);
  return __fma_rn(__fma_rn(-b, q, a), r, q);
}

// For divisors in [1, 2^64]: within 2^-44 of the quotient.
__device__ inline double NearQuotient(double a, double b) {
  double r;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(b));
  double e = __fma_rn(-b, r, 1.0);
  e = __fma_rn(e, e, e);
  r = __fma_rn(e, r, r);
  return __dmul_rn(a, r);
}

__device__ __noinline__ static float AnyQuotient(float a, float b) { return __fdiv_rn(a, b); }
__device__ __noinline__ static double AnyQuotient(double a, double b) { return __ddiv_rn(a, b); }

// The bits that order numbers that are not negative; of a float64 the upper half.
__device__ inline uint32_t Order(float value) {
  return static_cast<uint32_t>(__float_as_int(value));
}
__device__ inline uint32_t Order(double value) {
  return static_cast<uint32_t>(__double2hiint(value));
}

// What Order says of the ends of the plain ranges. A dividend of 0 is plain too: 1 less than its
// order is the largest number.
template <typename T>
struct PlainRange;
template <>
struct PlainRange<float> {
  static constexpr uint32_t kLowA = (127u - 90) << 23;
  static constexpr uint32_t kHighA = (127u + 70) << 23;
  static constexpr uint32_t kLowB = (127u - 56) << 23;
  static constexpr uint32_t kHighB = (127u + 36) << 23;
};
template <>
struct PlainRange<double> {
  static constexpr uint32_t kLowA = (1023u - 400) << 20;
  static constexpr uint32_t kHighA = (1023u + 400) << 20;
  static constexpr uint32_t kLowB = kLowA;
  static constexpr uint32_t kHighB = kHighA;
};

// Of operands that are not negative, or NaN. The order of a float64 below 2^-1042 is 0, too.
__device__ inline bool IsPlainDividend(float a) {
  return Order(a) - 1 >= PlainRange<float>::kLowA - 1 && Order(a) < PlainRange<float>::kHighA;
}
__device__ inline bool IsPlainDividend(double a) {
  const bool zero = Order(a) == 0 && __double2loint(a) == 0;
  return zero || (Order(a) >= PlainRange<double>::kLowA && Order(a) < PlainRange<double>::kHighA);
}
template <typename T>
__device__ bool IsPlainDivisor(T b) {
  return Order(b) >= PlainRange<T>::kLowB && Order(b) < PlainRange<T>::kHighB;
}

// What a group of numbers spans. Floating ones are not negative, or NaN, and their orders are what
// is kept: NaN is beyond everything. Integers are kept as they are.
template <typename T>
struct Extent {
  T low;
  T high;

  template <int kCount>
  static __device__ Extent Of(const T* values) {
    Extent out{values[0], values[0]};
#pragma unroll
    for (int i = 1; i < kCount; ++i) {
      out.low = ::min(out.low, values[i]);
      out.high = ::max(out.high, values[i]);
    }
    return out;
  }
  /// Not below any of the numbers.
  __device__ T Upper() const { return high; }
};
struct OrderExtent {
  uint32_t low;
  uint32_t high;

  template <int kCount, typename T>
  static __device__ OrderExtent Of(const T* values) {
    OrderExtent out{Order(values[0]), Order(values[0])};
#pragma unroll
    for (int i = 1; i < kCount; ++i) {
      out.low = ::min(out.low, Order(values[i]));
      out.high = ::max(out.high, Order(values[i]));
    }
    return out;
  }
};
template <>
struct Extent<float> : OrderExtent {
  template <int kCount>
  static __device__ Extent Of(const float* values) {
    return {OrderExtent::Of<kCount>(values)};
  }
  __device__ float Upper() const { return __int_as_float(static_cast<int>(high)); }
};
template <>
struct Extent<double> : OrderExtent {
  template <int kCount>
  static __device__ Extent Of(const double* values) {
    return {OrderExtent::Of<kCount>(values)};
  }
  __device__ double Upper() const { return __hiloint2double(static_cast<int>(high), -1); }
};

// Divisors of a group, none negative. `low` and `high` are their orders'; NaN is not among them.
template <typename T, int kCount>
struct DivisorGroup {
  T values[kCount];
  uint32_t low;
  uint32_t high;

  __device__ void Measure() {
    low = high = Order(values[0]);
#pragma unroll
    for (int i = 1; i < kCount; ++i) {
      low = ::min(low, Order(values[i]));
      high = ::max(high, Order(values[i]));
    }
  }
};

// One of the values of a group, which stay in registers.
template <int kCount, typename T>
__device__ T Pick(const T* values, int place) {
  T out = values[0];
#pragma unroll
  for (int i = 1; i < kCount; ++i) out = place == i ? values[i] : out;
  return out;
}

// The quotients that `odd` has bits for, by the compiler's division.
template <int kCount, typename T>
__device__ void DivideOdd(const T* a, const T* b, uint32_t odd, T* out) {
  for (; odd != 0; odd &= odd - 1) {
    const int place = __ffs(static_cast<int>(odd)) - 1;
    const T quotient = AnyQuotient(Pick<kCount>(a, place), Pick<kCount>(b, place));
#pragma unroll
    for (int i = 0; i < kCount; ++i) out[i] = place == i ? quotient : out[i];
  }
}

// Quotients by magnitudes of which zeros count as 2^-52: dividing by that is an exact product.
// Returns how many zeros there are. `high`: the largest order of the dividends.
template <int kCount, typename T>
__device__ uint32_t QuotientsOrReplaced(const T* a, uint32_t high, const T* b, T* out) {
  using Range = PlainRange<T>;
  uint32_t low = UINT32_MAX;
  uint32_t above = 0;  // of the divisors' orders, above the lowest plain one; zeros are far above
  bool tiny = false;
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    low = ::min(low, Order(a[i]) - 1);
    above = ::max(above, Order(b[i]) - Range::kLowB);
    if (sizeof(T) == 8) tiny = tiny || (Order(a[i]) == 0 && !IsPlainDividend(a[i]));
    out[i] = PlainQuotient(a[i], b[i]);
  }
  const bool plain = low >= Range::kLowA - 1 && high < Range::kHighA &&
                     above < Range::kHighB - Range::kLowB && !tiny;
  if (plain) return 0;
  // Zeros among the divisors are common, as behind rectifiers; other odd numbers are not.
  uint32_t zeros = 0;
  above = 0;
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    const bool zero = b[i] == 0;
    out[i] = zero ? a[i] * static_cast<T>(4503599627370496.0) : out[i];
    zeros += zero ? 1 : 0;
    above = ::max(above, zero ? 0 : Order(b[i]) - Range::kLowB);
  }
  if (low >= Range::kLowA - 1 && high < Range::kHighA && above < Range::kHighB - Range::kLowB &&
      !tiny) {
    return zeros;
  }
  uint32_t odd = 0;
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    const bool is_plain = b[i] == 0 || (IsPlainDividend(a[i]) && IsPlainDivisor(b[i]));
    odd |= is_plain ? 0u : 1u << i;
  }
  DivideOdd<kCount>(a, b, odd, out);
  return zeros;
}

// `high`: the largest order of the dividends.
template <int kCount, typename T>
__device__ void Quotients(const T* a, uint32_t high, const DivisorGroup<T, kCount>& b, T* out) {
  using Range = PlainRange<T>;
  uint32_t low = UINT32_MAX;
  bool tiny = false;
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    low = ::min(low, Order(a[i]) - 1);
    if (sizeof(T) == 8) tiny = tiny || (Order(a[i]) == 0 && !IsPlainDividend(a[i]));
    out[i] = PlainQuotient(a[i], b.values[i]);
  }
  const bool plain = low >= Range::kLowA - 1 && high < Range::kHighA && b.low >= Range::kLowB &&
                     b.high < Range::kHighB && !tiny;
  if (plain) return;
  uint32_t odd = 0;
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    odd |= IsPlainDividend(a[i]) && IsPlainDivisor(b.values[i]) ? 0u : 1u << i;
  }
  DivideOdd<kCount>(a, b.values, odd, out);
}

}  // namespace vernier::gpu
