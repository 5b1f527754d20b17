// Tallies of whole numbers of at most 32 bits, both arrays of one type. Relative differences are
// added up from quotients in float32 and their remainders, which costs few of the float64
// operations that GPUs have few units for; where one may be an extremum or decides, IEEE division
// says it.
#pragma once

#include <cstdint>

#include "gpu/kernel_records.h"
#include "gpu/pair_policies.cuh"
#include "gpu/quotients.cuh"
#include "gpu/stream_state.cuh"
#include "gpu/verdict.cuh"

namespace vernier::gpu {

// What a thread keeps in shared memory: all that changes seldom, so that what does not fit its
// registers is nothing that every element needs.
struct WholePlaces {
  StreamPlaces relative;
  int64_t absolute_argmin;
  int64_t absolute_argmax;
  double relative_min;
  double relative_max;
  // Operands of these quotients.
  uint2 least;
  uint2 largest;
  uint32_t absolute_min;
  uint32_t absolute_max;
  // Near quotients whose bits are not between these may be extrema.
  int relative_low;
  int relative_high;
  Verdict verdict;

  __device__ void Clear() {
    relative.Clear();
    absolute_argmin = absolute_argmax = kNowhere;
    relative_min = Limits<double>::Highest();
    relative_max = Limits<double>::Lowest();
    least = {1, 0};
    largest = {0, 1};
    absolute_min = UINT32_MAX;
    absolute_max = 0;
    relative_low = INT32_MAX;
    relative_high = 0;
    verdict = {};
  }
};

// A quotient, within 2^-21 in float32 and within 2^-43 in float64. Dividend and divisor below 2^32,
// the divisor not 0. A quotient of 0 is 2^-127 in float64.
struct NearQuotients {
  float narrow;
  double wide;

  // The bits of a float64; of 0 those of 2^-127.
  static __device__ double Widen(float value) {
    const auto bits = static_cast<uint32_t>(__float_as_int(value));
    return __hiloint2double(static_cast<int>((bits >> 3) + (896u << 20)),
                            static_cast<int>(bits << 29));
  }
  // Infinite or NaN where the quotient is.
  static __device__ float Narrow(float dividend, float divisor) {
    return __fmul_rn(dividend, Reciprocal(divisor));
  }
  static __device__ float Reciprocal(float value) {
    float out;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(out) : "f"(value));
    return out;
  }
  // Of whole numbers up to 17 bits: the remainder is exact.
  static __device__ NearQuotients Of(float dividend, float divisor) {
    const float r = Reciprocal(divisor);
    const float q = __fmul_rn(dividend, r);
    const float rest = __fmul_rn(__fmaf_rn(-q, divisor, dividend), r);
    return {q, __dadd_rn(Widen(q), static_cast<double>(rest))};
  }
  static __device__ NearQuotients Of(uint32_t dividend, uint32_t divisor) {
    const float r = Reciprocal(static_cast<float>(divisor));
    const float q = __fmul_rn(static_cast<float>(dividend), r);
    const double wide = Widen(q);
    const double rest = __fma_rn(-wide, DoubleOf(divisor), DoubleOf(dividend));
    return {q, __fma_rn(rest, Widen(r), wide)};
  }
};

// Sums of differences: of 16 bits exact.
template <typename Number>
struct WholeSums;
template <>
struct WholeSums<uint32_t> {
  uint64_t sum = 0;
  double squares = 0;

  template <int kCount>
  __device__ void Add(const uint32_t* values, double pilot) {
    double square = 0;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      sum += values[i];
      const double deviation = Addition<uint32_t, false>::Deviation(values[i], pilot);
      square = __fma_rn(deviation, deviation, square);
    }
    squares = __dadd_rn(squares, square);
  }
  __device__ double Squares(double, uint64_t) const { return squares; }
};
template <>
struct WholeSums<float> {
  uint64_t sum = 0;
  uint64_t squares = 0;

  // A group's sum has less than 24 bits.
  template <int kCount>
  __device__ void Add(const float* values, double) {
    float total = 0;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      total += values[i];
      const uint32_t whole = ShortNumbers<uint16_t>::WholeOf(values[i]);
      squares += static_cast<uint64_t>(whole) * whole;
    }
    sum += static_cast<uint32_t>(total);
  }
  // About the pilot, a whole number of the type. All terms are below 2^32 a value.
  __device__ double Squares(double pilot, uint64_t count) const {
    const auto p = static_cast<uint64_t>(pilot);
    return static_cast<double>(squares + count * p * p - 2 * p * sum);
  }
};

template <typename Policy>
struct WholeTally {
  using Places = WholePlaces;
  using Numbers = typename Policy::Numbers;
  using Operand = typename Numbers::Operand;
  using Number = typename Numbers::Number;
  static constexpr bool kMoments = true;

  __device__ WholeTally(const PairArgs& given, WholePlaces* own, PairBounds* shared,
                        const double* pilots)
      : args(&given),
        places(own),
        bounds(shared),
        absolute_pilot(pilots[0]),
        relative_pilot(pilots[1]) {}

  const PairArgs* args;
  WholePlaces* places;
  PairBounds* bounds;
  double absolute_pilot;
  double relative_pilot;
  WholeSums<Number> absolute_sums;
  uint32_t count = 0;
  uint32_t equal = 0;  ///< elements whose relative difference of 0 was not added
  double relative_sum = 0;
  double relative_squares = 0;

  template <int kCount>
  __device__ void Visit(const Operand* a, const Operand* b, int64_t start) {
    Number x[kCount];
    Number divisors[kCount];
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      x[i] = Numbers::DifferenceOf(a[i], b[i]);
      divisors[i] = Numbers::DivisorOf(b[i]);
    }
    const NumberExtent extent = ExtentOf<kCount>(x);
    const uint32_t least = Bits(LeastOf<kCount>(divisors));
    const uint32_t largest = Numbers::WholeOf(extent.high);
    const bool any = Policy::Outside(*args, largest);
    count += kCount;
    AddAbsolute<kCount>(x, start, extent);
    if (least == 0) {
      AddExactly<kCount>(x, divisors, start);
      if (any) AddFailures<kCount>(x, divisors, start);
      return;
    }
    if (any) AddFailures<kCount>(x, divisors, start);
    if (largest == 0) {
      equal += kCount;
      if (places->relative_low >= 0) AddExtremum(0, 1, start, places, bounds);
      return;
    }
    AddRelative<kCount>(x, divisors, start);
  }

  __device__ const Verdict& FoundVerdict() const { return places->verdict; }
  __device__ MergedStream<uint32_t> AbsoluteStream() const {
    return {{static_cast<double>(absolute_sums.sum), 0},
            {0, 0},
            {absolute_sums.Squares(absolute_pilot, count), 0},
            places->absolute_min,
            places->absolute_max,
            places->absolute_argmin,
            places->absolute_argmax,
            0,
            0,
            kNowhere,
            kNowhere};
  }
  __device__ MergedStream<double> RelativeStream() const {
    const StreamPlaces& p = places->relative;
    const double zeros =
        __dmul_rn(static_cast<double>(equal), __dmul_rn(relative_pilot, relative_pilot));
    return {{relative_sum, 0},
            {0, 0},
            {__dadd_rn(relative_squares, zeros), 0},
            places->relative_min,
            places->relative_max,
            p.argmin,
            p.argmax,
            p.nan_count,
            p.infinite_count,
            p.first_nan,
            p.first_infinite};
  }

  static __device__ int OrderOf(uint32_t x) {
    if constexpr (sizeof(typename Policy::Element) == 2) {
      return Numbers::OrderOf(static_cast<float>(x));
    } else {
      return Numbers::OrderOf(x);
    }
  }
  // Numbers of which there is one.
  static __device__ void Widen(PairBounds& bounds, uint32_t x, double y) {
    bounds.absolute.Widen(OrderOf(x), INT32_MAX);
    bounds.relative.Widen(HighOf(y), LowOf(y));
  }

 private:
  struct NumberExtent {
    Number low;
    Number high;
  };

  // The order of numbers that are not negative is that of their bits.
  static __device__ uint32_t Bits(uint32_t number) { return number; }
  static __device__ uint32_t Bits(float number) { return Order(number); }
  static __device__ void Set(uint32_t bits, uint32_t& out) { out = bits; }
  static __device__ void Set(uint32_t bits, float& out) {
    out = __int_as_float(static_cast<int>(bits));
  }
  template <int kCount>
  static __device__ Number LeastOf(const Number* values) {
    uint32_t low = Bits(values[0]);
#pragma unroll
    for (int i = 1; i < kCount; ++i) low = ::min(low, Bits(values[i]));
    Number out;
    Set(low, out);
    return out;
  }
  template <int kCount>
  static __device__ NumberExtent ExtentOf(const Number* values) {
    uint32_t high = Bits(values[0]);
#pragma unroll
    for (int i = 1; i < kCount; ++i) high = ::max(high, Bits(values[i]));
    NumberExtent out{LeastOf<kCount>(values), {}};
    Set(high, out.high);
    return out;
  }

  template <int kCount>
  __device__ void AddAbsolute(const Number* x, int64_t start, const NumberExtent& extent) {
    absolute_sums.template Add<kCount>(x, absolute_pilot);
    const uint32_t high = Numbers::WholeOf(extent.high);
    const uint32_t low = Numbers::WholeOf(extent.low);
    if (Numbers::OrderOf(extent.high) >= bounds->absolute.High() && high > places->absolute_max) {
      places->absolute_max = high;
      places->absolute_argmax = start + FirstOf<kCount>(x, extent.high);
      bounds->absolute.Widen(Numbers::OrderOf(extent.high), INT32_MAX);
    }
    if (low < places->absolute_min) {
      places->absolute_min = low;
      places->absolute_argmin = start + FirstOf<kCount>(x, extent.low);
    }
  }

  // Where a number of the group is.
  template <int kCount>
  static __device__ int FirstOf(const Number* values, Number wanted) {
    int first = 0;
#pragma unroll
    for (int i = kCount - 1; i > 0; --i) first = values[i] == wanted ? i : first;
    return values[0] == wanted ? 0 : first;
  }

  template <int kCount>
  __device__ void AddRelative(const Number* x, const Number* divisors, int64_t start) {
    double total = 0;
    double square = 0;
    uint32_t low = UINT32_MAX;
    uint32_t high = 0;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const auto y = NearQuotients::Of(x[i], divisors[i]);
      low = ::min(low, Order(y.narrow));
      high = ::max(high, Order(y.narrow));
      const double deviation = __dadd_rn(y.wide, -relative_pilot);
      total = __dadd_rn(total, y.wide);
      square = __fma_rn(deviation, deviation, square);
    }
    relative_sum = __dadd_rn(relative_sum, total);
    relative_squares = __dadd_rn(relative_squares, square);
    const bool between =
        static_cast<int>(low) > ::min(places->relative_low, bounds->relative.Low()) &&
        static_cast<int>(high) < ::max(places->relative_high, bounds->relative.High());
    if (between) return;
    for (uint32_t some = Extremes<kCount>(x, divisors); some != 0; some &= some - 1) {
      const int i = __ffs(static_cast<int>(some)) - 1;
      AddExtremum(Numbers::WholeOf(Pick<kCount>(x, i)), Numbers::WholeOf(Pick<kCount>(divisors, i)),
                  start + i, places, bounds);
    }
  }

  // Bits for the elements whose quotients are beyond the thread's extrema; some that are equal when
  // rounded are among them.
  template <int kCount>
  __device__ uint32_t Extremes(const Number* x, const Number* divisors) const {
    if (places->relative_max < 0) return (1u << kCount) - 1;
    const auto product = [](uint32_t a, uint32_t b) { return static_cast<uint64_t>(a) * b; };
    const uint2 least = places->least;
    const uint2 largest = places->largest;
    uint32_t out = 0;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const uint32_t dividend = Numbers::WholeOf(x[i]);
      const uint32_t divisor = Numbers::WholeOf(divisors[i]);
      const bool less = product(dividend, least.y) < product(least.x, divisor);
      const bool more = product(dividend, largest.y) > product(largest.x, divisor);
      out |= less || more ? 1u << i : 0u;
    }
    return out;
  }

  static __device__ double Exact(uint32_t x, uint32_t divisor) {
    return AnyQuotient(DoubleOf(x), DoubleOf(divisor));
  }

  // Wide enough for what a near quotient may be off by.
  static __device__ int LowOf(double y) {
    return static_cast<int>(Order(static_cast<float>(y) * (1 + 0x1p-19f)));
  }
  static __device__ int HighOf(double y) {
    return static_cast<int>(Order(static_cast<float>(y) * (1 - 0x1p-19f)));
  }

  // Returns the quotient.
  static __device__ double AddExtremum(uint32_t x, uint32_t divisor, int64_t place,
                                       WholePlaces* places, PairBounds* bounds) {
    const double y = Exact(x, divisor);
    if (y != y) return y;
    if (y < places->relative_min) {
      places->relative_min = y;
      places->relative.argmin = place;
      places->least = {x, divisor};
      places->relative_low = y > 0 ? LowOf(y) : -1;
    }
    if (y > places->relative_max) {
      places->relative_max = y;
      places->relative.argmax = place;
      places->largest = {x, divisor};
      places->relative_high = HighOf(y);
    }
    bounds->relative.Widen(HighOf(y), LowOf(y));
    return y;
  }

  // A group with a zero among its divisors.
  template <int kCount>
  __device__ void AddExactly(const Number* x, const Number* divisors, int64_t start) {
    StreamPlaces& p = places->relative;
#pragma unroll 1
    for (int i = 0; i < kCount; ++i) {
      const uint32_t dividend = Numbers::WholeOf(Pick<kCount>(x, i));
      const uint32_t divisor = Numbers::WholeOf(Pick<kCount>(divisors, i));
      const double y = AddExtremum(dividend, divisor, start + i, places, bounds);
      const double deviation = __dadd_rn(y, -relative_pilot);
      relative_sum = __dadd_rn(relative_sum, y);
      relative_squares = __fma_rn(deviation, deviation, relative_squares);
      if (y != y && p.nan_count++ == 0) p.first_nan = start + i;
      if (y == Infinity() && p.infinite_count++ == 0) p.first_infinite = start + i;
    }
  }

  template <int kCount>
  __device__ void AddFailures(const Number* x, const Number* divisors, int64_t start) {
    uint32_t outside = 0;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      outside |= Policy::Outside(*args, Numbers::WholeOf(x[i])) ? 1u << i : 0u;
    }
    for (; outside != 0; outside &= outside - 1) {
      const int i = __ffs(static_cast<int>(outside)) - 1;
      AddFailure(Numbers::WholeOf(Pick<kCount>(x, i)), Numbers::WholeOf(Pick<kCount>(divisors, i)),
                 start + i, places, args);
    }
  }

  static __device__ float NearOf(uint32_t x, uint32_t divisor) {
    return NearQuotients::Narrow(static_cast<float>(x), static_cast<float>(divisor));
  }
  static __device__ bool FailsRelatively(uint32_t x, uint32_t divisor, double limit) {
    const float near = NearOf(x, divisor);
    if (static_cast<double>(near * (1 - 0x1p-19f)) > limit) return true;
    if (static_cast<double>(near * (1 + 0x1p-19f)) <= limit) return false;
    return !(Exact(x, divisor) <= limit);
  }
  static __device__ void AddFailure(uint32_t x, uint32_t divisor, int64_t place,
                                    WholePlaces* places, const PairArgs* args) {
    if (!FailsRelatively(x, divisor, args->relative_limit)) return;
    places->verdict.Add(*args, x, NearOf(x, divisor), place, [=] { return Exact(x, divisor); });
  }
};

}  // namespace vernier::gpu
