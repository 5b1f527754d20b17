// What a thread gathers about a stream of values, and how threads and blocks merge it.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "gpu/kernel_records.h"
#include "gpu/quotients.cuh"

namespace vernier::gpu {

inline constexpr int64_t kNowhere = INT64_MAX;

__device__ inline double Infinity() { return __longlong_as_double(0x7ff0000000000000ll); }

// Knuth's exact sum of two numbers, kept as a pair.
__device__ inline void Accumulate(WideSum& sum, double value) {
  const double next = __dadd_rn(sum.high, value);
  const double part = __dadd_rn(next, -sum.high);
  const double lost =
      __dadd_rn(__dadd_rn(sum.high, -__dadd_rn(next, -part)), __dadd_rn(value, -part));
  sum.high = next;
  sum.low = __dadd_rn(sum.low, lost);
}
__device__ inline void Merge(WideSum& sum, const WideSum& other) {
  Accumulate(sum, other.high);
  sum.low = __dadd_rn(sum.low, other.low);
}

// A struct of whole words from the lane `delta` above.
template <typename T>
__device__ T FromLaneAbove(const T& value, unsigned delta) {
  static_assert(sizeof(T) % 4 == 0);
  uint32_t words[sizeof(T) / 4];
  memcpy(words, &value, sizeof(T));
#pragma unroll
  for (uint32_t& word : words) word = __shfl_down_sync(0xffffffffu, word, delta);
  T out;
  memcpy(&out, words, sizeof(T));
  return out;
}

// The merged state of a block, in thread 0. The order of merges is fixed.
template <typename State>
__device__ void MergeBlock(State& state) {
  __shared__ alignas(16) unsigned char space[kThreads / 32 * sizeof(State)];
  State* shared = reinterpret_cast<State*>(space);
  __syncthreads();  // another merge of this type may have just ended
#pragma unroll 1
  for (unsigned delta = 16; delta > 0; delta /= 2) state.Merge(FromLaneAbove(state, delta));
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = state;
  __syncthreads();
  if (threadIdx.x != 0) return;
#pragma unroll 1
  for (unsigned warp = 1; warp < kThreads / 32; ++warp) state.Merge(shared[warp]);
}

template <typename T>
struct Limits;
template <>
struct Limits<float> {
  static constexpr bool kFloating = true;
  static __device__ float Lowest() { return __int_as_float(0xff800000); }
  static __device__ float Highest() { return __int_as_float(0x7f800000); }
  static __device__ uint64_t Raw(float v) {
    return static_cast<uint64_t>(__double_as_longlong(static_cast<double>(v)));
  }
  static __device__ float Value(uint64_t raw) {
    return static_cast<float>(__longlong_as_double(static_cast<long long>(raw)));
  }
};
template <>
struct Limits<double> {
  static constexpr bool kFloating = true;
  static __device__ double Lowest() { return -Infinity(); }
  static __device__ double Highest() { return Infinity(); }
  static __device__ uint64_t Raw(double v) {
    return static_cast<uint64_t>(__double_as_longlong(v));
  }
  static __device__ double Value(uint64_t raw) {
    return __longlong_as_double(static_cast<long long>(raw));
  }
};
template <>
struct Limits<int64_t> {
  static constexpr bool kFloating = false;
  static __device__ int64_t Lowest() { return INT64_MIN; }
  static __device__ int64_t Highest() { return INT64_MAX; }
  static __device__ uint64_t Raw(int64_t v) { return static_cast<uint64_t>(v); }
  static __device__ int64_t Value(uint64_t raw) { return static_cast<int64_t>(raw); }
};
template <>
struct Limits<int32_t> {
  static constexpr bool kFloating = false;
  static __device__ int32_t Lowest() { return INT32_MIN; }
};
template <>
struct Limits<uint32_t> {
  static constexpr bool kFloating = false;
  static __device__ uint32_t Lowest() { return 0; }
  static __device__ uint32_t Highest() { return UINT32_MAX; }
  static __device__ uint64_t Raw(uint32_t v) { return v; }
  static __device__ uint32_t Value(uint64_t raw) { return static_cast<uint32_t>(raw); }
};
template <>
struct Limits<uint64_t> {
  static constexpr bool kFloating = false;
  static __device__ uint64_t Lowest() { return 0; }
  static __device__ uint64_t Highest() { return UINT64_MAX; }
  static __device__ uint64_t Raw(uint64_t v) { return v; }
  static __device__ uint64_t Value(uint64_t raw) { return raw; }
};

// Places and counts, which change seldom: each thread keeps them in shared memory, so that its
// registers hold what every element needs.
struct StreamPlaces {
  int64_t argmin;
  int64_t argmax;
  int64_t first_nan;
  int64_t first_infinite;
  uint32_t nan_count;
  uint32_t infinite_count;

  __device__ void Clear() { *this = {kNowhere, kNowhere, kNowhere, kNowhere, 0, 0}; }
};

// What all threads of a block have found: orders below `high` and above `low` are no extrema. Read
// before every group, written seldom; a thread that reads an old one looks in vain, no more.
struct BlockBounds {
  int high;
  int low;

  __device__ void Clear() {
    high = 0;
    low = INT32_MAX;
  }
  __device__ int High() const { return *static_cast<const volatile int*>(&high); }
  __device__ int Low() const { return *static_cast<const volatile int*>(&low); }
  __device__ void Widen(int own_high, int own_low) {
    if (own_high > High()) atomicMax(&high, own_high);
    if (own_low < Low()) atomicMin(&low, own_low);
  }
};

struct PairBounds {
  BlockBounds absolute;
  BlockBounds relative;

  __device__ void Clear() {
    absolute.Clear();
    relative.Clear();
  }
};

// How values of a type are added up.
template <typename T, bool kSigned>
struct Addition {
  using Total = double;
  static __device__ double Add(double total, double more) { return __dadd_rn(total, more); }
  static __device__ double Term(T value) { return static_cast<double>(value); }
  static __device__ double Deviation(T value, double pilot) {
    return __dadd_rn(static_cast<double>(value), -pilot);
  }
  static __device__ double Number(double total) { return total; }
};
// Exactly; the pilot is a whole number.
template <>
struct Addition<uint32_t, false> {
  using Total = uint64_t;
  static __device__ uint64_t Add(uint64_t total, uint64_t more) { return total + more; }
  static __device__ uint64_t Term(uint32_t value) { return value; }
  // The value lies in the low digits of 2^52: no conversion, which GPUs are slow at.
  static __device__ double Deviation(uint32_t value, double pilot) {
    return __dadd_rn(__hiloint2double(0x43300000, static_cast<int>(value)),
                     -__dadd_rn(4503599627370496.0, pilot));
  }
  static __device__ double Number(uint64_t total) { return static_cast<double>(total); }
};

// Of one thread. kSigned: values may be negative, so that magnitudes are summed on their own.
template <typename T, bool kSigned>
struct StreamState {
  using Sum = Addition<T, kSigned>;
  StreamPlaces* places;
  double pilot;
  typename Sum::Total sum = 0;
  double magnitudes = 0;
  double squares = 0;
  T min = Limits<T>::Highest();
  T max = Limits<T>::Lowest();
  // The least order that may be a new maximum of the thread, and the greatest of a new minimum.
  BlockBounds* bounds = nullptr;
  int own_high = 0;
  int own_low = INT32_MAX;

  // kCount values from place `start`.
  template <int kCount>
  __device__ void Add(const T* values, int64_t start) {
    static_assert(kSigned || !Limits<T>::kFloating);
    const double total = static_cast<double>(AddSums<kCount>(values));
    T low = values[0];
    T high = values[0];
#pragma unroll
    for (int i = 1; i < kCount; ++i) {
      low = ::min(low, values[i]);
      high = ::max(high, values[i]);
    }
    if (Limits<T>::kFloating && !(fabs(total) < Infinity())) {
      AddSpecials<kCount>(values, start);
    } else if (low < min || high > max) {
      AddExtrema<kCount>(values, start, low, high);
    }
  }

  // Whole numbers that span `extent`.
  template <int kCount>
  __device__ void AddWhole(const T* values, int64_t start, const Extent<T>& extent) {
    AddSums<kCount>(values);
    if (extent.low < min || extent.high > max) {
      AddExtrema<kCount>(values, start, extent.low, extent.high);
    }
  }
  // Floating numbers that are not negative: their orders say in 32-bit operations that a group has
  // nothing to tell.
  template <int kCount>
  __device__ void AddOrdered(const T* values, int64_t start, const OrderExtent& extent) {
    AddSums<kCount>(values);
    if (extent.high >= Order(Limits<T>::Highest())) {
      AddSpecials<kCount>(values, start);
    } else if (MayImprove(extent, 0)) {
      AddExtremaOf<kCount>(values, start);
    }
  }
  // Finite numbers near those that `exact()` computes, of which there are extrema.
  template <int kCount, typename Exact>
  __device__ void AddNear(const T* near, int64_t start, const OrderExtent& extent, Exact exact) {
    AddSums<kCount>(near);
    if (!MayImprove(extent, 1)) return;
    T values[kCount];
    exact(values);
    AddExtremaOf<kCount>(values, start);
  }

 private:
  // Plain sums: a thread adds a few thousand groups at most. Returns the group's.
  template <int kCount>
  __device__ typename Sum::Total AddSums(const T* values) {
    typename Sum::Total total = Sum::Term(values[0]);
    double magnitude = 0;
    double square = 0;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if (i > 0) total = Sum::Add(total, Sum::Term(values[i]));
      if (kSigned) {
        const double size = fabs(static_cast<double>(values[i]));
        magnitude = i == 0 ? size : __dadd_rn(magnitude, size);
      }
      const double deviation = Sum::Deviation(values[i], pilot);
      square = __fma_rn(deviation, deviation, square);
    }
    sum = Sum::Add(sum, total);
    if (kSigned) magnitudes = __dadd_rn(magnitudes, magnitude);
    squares = __dadd_rn(squares, square);
    return total;
  }

  // `by`: how far the orders may be off.
  __device__ bool MayImprove(const OrderExtent& extent, int by) const {
    if (static_cast<int>(extent.high) + by >= ::max(own_high, bounds->High())) return true;
    return static_cast<int>(extent.low) - by <= ::min(own_low, bounds->Low());
  }

  template <int kCount>
  __device__ void AddExtremaOf(const T* values, int64_t start) {
    T low = values[0];
    T high = values[0];
#pragma unroll
    for (int i = 1; i < kCount; ++i) {
      low = ::min(low, values[i]);
      high = ::max(high, values[i]);
    }
    AddExtrema<kCount>(values, start, low, high);
    WidenBounds();
  }

  // Equal float32 numbers are no new extrema; of float64 the upper half does not say that.
  __device__ void WidenBounds() {
    if (max < 0) return;
    const int high = static_cast<int>(Order(max));
    const int low = static_cast<int>(Order(min));
    const int equal = sizeof(T) == 4 ? 1 : 0;
    own_high = high + equal;
    own_low = min == 0 ? -1 : low - equal;
    bounds->Widen(high, low);
  }

  // Finds the place only where a group improves on all before it, which soon is rare. Equal values
  // may differ in the sign of a zero; the first one counts.
  template <int kCount>
  __device__ void AddExtrema(const T* values, int64_t start, T low, T high) {
    if (low < min) {
#pragma unroll
      for (int i = kCount - 1; i >= 0; --i) {
        if (values[i] != low) continue;
        min = values[i];
        places->argmin = start + i;
      }
    }
    if (high > max) {
#pragma unroll
      for (int i = kCount - 1; i >= 0; --i) {
        if (values[i] != high) continue;
        max = values[i];
        places->argmax = start + i;
      }
    }
  }

  // A group with NaN or infinity in it, or whose sum overflows.
  template <int kCount>
  __device__ void AddSpecials(const T* values, int64_t start) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const double wide = static_cast<double>(values[i]);
      const int64_t place = start + i;
      if (wide != wide) {
        if (places->nan_count++ == 0) places->first_nan = place;
        continue;
      }
      if (fabs(wide) == Infinity() && places->infinite_count++ == 0) {
        places->first_infinite = place;
      }
      AddExtrema<1>(values + i, place, values[i], values[i]);
    }
  }
};

// Of several threads.
template <typename T>
struct MergedStream {
  WideSum sum;
  WideSum magnitudes;
  WideSum squares;
  T min;
  T max;
  int64_t argmin;
  int64_t argmax;
  int64_t nan_count;
  int64_t infinite_count;
  int64_t first_nan;
  int64_t first_infinite;

  template <bool kSigned>
  static __device__ MergedStream Of(const StreamState<T, kSigned>& state) {
    const StreamPlaces& p = *state.places;
    return {{StreamState<T, kSigned>::Sum::Number(state.sum), 0},
            {state.magnitudes, 0},
            {state.squares, 0},
            state.min,
            state.max,
            p.argmin,
            p.argmax,
            p.nan_count,
            p.infinite_count,
            p.first_nan,
            p.first_infinite};
  }

  static __device__ MergedStream Of(const StreamRecord& r) {
    const auto place = [](int64_t p) { return p < 0 ? kNowhere : p; };
    return {r.sum,
            r.magnitudes,
            r.squares,
            Limits<T>::Value(r.min),
            Limits<T>::Value(r.max),
            place(r.argmin),
            place(r.argmax),
            r.nan_count,
            r.infinite_count,
            r.first_nan,
            r.first_infinite};
  }

  __device__ void Merge(const MergedStream& other) {
    gpu::Merge(sum, other.sum);
    gpu::Merge(magnitudes, other.magnitudes);
    gpu::Merge(squares, other.squares);
    if (other.min < min || (other.min == min && other.argmin < argmin)) {
      min = other.min;
      argmin = other.argmin;
    }
    if (other.max > max || (other.max == max && other.argmax < argmax)) {
      max = other.max;
      argmax = other.argmax;
    }
    nan_count += other.nan_count;
    infinite_count += other.infinite_count;
    first_nan = ::min(first_nan, other.first_nan);
    first_infinite = ::min(first_infinite, other.first_infinite);
  }

  __device__ StreamRecord Record() const {
    StreamRecord out;
    out.sum = sum;
    out.magnitudes = magnitudes;
    out.squares = squares;
    out.min = Limits<T>::Raw(min);
    out.max = Limits<T>::Raw(max);
    out.argmin = argmin == kNowhere ? -1 : argmin;
    out.argmax = argmax == kNowhere ? -1 : argmax;
    out.nan_count = nan_count;
    out.infinite_count = infinite_count;
    out.first_nan = first_nan;
    out.first_infinite = first_infinite;
    return out;
  }
};

}  // namespace vernier::gpu
