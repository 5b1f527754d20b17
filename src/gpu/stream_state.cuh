// What a thread gathers about a stream of values, and how threads and blocks merge it.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "gpu/kernel_records.h"

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
};
template <>
struct Limits<double> {
  static constexpr bool kFloating = true;
  static __device__ double Lowest() { return -Infinity(); }
  static __device__ double Highest() { return Infinity(); }
  static __device__ uint64_t Raw(double v) {
    return static_cast<uint64_t>(__double_as_longlong(v));
  }
};
template <>
struct Limits<int64_t> {
  static constexpr bool kFloating = false;
  static __device__ int64_t Lowest() { return INT64_MIN; }
  static __device__ int64_t Highest() { return INT64_MAX; }
  static __device__ uint64_t Raw(int64_t v) { return static_cast<uint64_t>(v); }
};
template <>
struct Limits<uint64_t> {
  static constexpr bool kFloating = false;
  static __device__ uint64_t Lowest() { return 0; }
  static __device__ uint64_t Highest() { return UINT64_MAX; }
  static __device__ uint64_t Raw(uint64_t v) { return v; }
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

// Of one thread. kSigned: values may be negative, so that magnitudes are summed on their own.
template <typename T, bool kSigned>
struct StreamState {
  StreamPlaces* places;
  double pilot;
  double sum = 0;
  double magnitudes = 0;
  double squares = 0;
  T min = Limits<T>::Highest();
  T max = Limits<T>::Lowest();

  // kCount values from place `start`. Plain sums: a thread adds a few thousand groups at most.
  template <int kCount>
  __device__ void Add(const T* values, int64_t start) {
    double total = 0;
    double magnitude = 0;
    double square = 0;
    T low = values[0];
    T high = values[0];
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const double wide = static_cast<double>(values[i]);
      total = i == 0 ? wide : __dadd_rn(total, wide);
      if (kSigned) magnitude = i == 0 ? fabs(wide) : __dadd_rn(magnitude, fabs(wide));
      const double deviation = __dadd_rn(wide, -pilot);
      square = __fma_rn(deviation, deviation, square);
      low = ::min(low, values[i]);
      high = ::max(high, values[i]);
    }
    sum = __dadd_rn(sum, total);
    if (kSigned) magnitudes = __dadd_rn(magnitudes, magnitude);
    squares = __dadd_rn(squares, square);
    if (Limits<T>::kFloating && !(fabs(total) < Infinity())) {
      AddSpecials<kCount>(values, start);
    } else if (low < min || high > max) {
      AddExtrema<kCount>(values, start, low, high);
    }
  }

 private:
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
    return {{state.sum, 0},     {state.magnitudes, 0},
            {state.squares, 0}, state.min,
            state.max,          p.argmin,
            p.argmax,           p.nan_count,
            p.infinite_count,   p.first_nan,
            p.first_infinite};
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
