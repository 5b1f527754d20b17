// Counting one digit of order-preserving keys: the GPU's half of a rank selection, as
// kernels/rank_select.h does it on the CPU. The host walks down the counts.
#pragma once

#include <cstdint>

#include "gpu/kernel_records.h"

namespace vernier::gpu {

// Unsigned keys in the order of the values. -0.0 sorts below 0.0; NaN is at the ends. Values that
// are never negative need no sign: their bits are the key.
template <typename T, bool kSigned>
struct RankKey;
template <bool kSigned>
struct RankKey<float, kSigned> {
  using Key = uint32_t;
  static __device__ Key Of(float value) {
    const auto bits = static_cast<uint32_t>(__float_as_int(value));
    if (!kSigned) return bits;
    return (bits >> 31) != 0 ? ~bits : bits | 0x80000000u;
  }
};
template <bool kSigned>
struct RankKey<double, kSigned> {
  using Key = uint64_t;
  static __device__ Key Of(double value) {
    const auto bits = static_cast<uint64_t>(__double_as_longlong(value));
    if (!kSigned) return bits;
    return (bits >> 63) != 0 ? ~bits : bits | (uint64_t{1} << 63);
  }
};
template <bool kSigned>
struct RankKey<int64_t, kSigned> {
  using Key = uint64_t;
  static __device__ Key Of(int64_t value) {
    return static_cast<uint64_t>(value) ^ (uint64_t{1} << 63);
  }
};
template <bool kSigned>
struct RankKey<uint64_t, kSigned> {
  using Key = uint64_t;
  static __device__ Key Of(uint64_t value) { return value; }
};

// Keys that a pass looks for. Most keys match nothing, and one look at a bit of the table of their
// first bits says so.
struct DigitPlan {
  uint32_t shift;
  uint32_t bits;
  uint32_t top_shift;
};

inline constexpr unsigned kTopWords = (1u << kFirstDigitBits) / 32;

extern __shared__ uint32_t counters[];

struct SharedPrefixes {
  uint64_t prefix[kMostBuckets];
  uint32_t tops[2][kTopWords];  ///< of each stream
  uint32_t first[2];            ///< its buckets
  uint32_t last[2];
};

__device__ inline DigitPlan StartDigits(const DigitArgs& args, SharedPrefixes& shared) {
  for (uint32_t i = threadIdx.x; i < 2 * kTopWords; i += kThreads) shared.tops[0][i] = 0;
  __syncthreads();
  // The prefixes' first digit: what is above `top_shift` in the keys.
  const uint32_t top_shift = args.key_bits - kFirstDigitBits;
  if (threadIdx.x == 0) {
#pragma unroll
    for (unsigned i = 0; i < kMostBuckets; ++i) {
      shared.prefix[i] = args.prefix[i];
      const auto top =
          static_cast<uint32_t>(args.prefix[i] >> (top_shift - args.shift - args.bits));
      if (i < args.bucket_count) shared.tops[i < args.split ? 0 : 1][top / 32] |= 1u << top % 32;
    }
    shared.first[0] = 0;
    shared.last[0] = shared.first[1] = args.split;
    shared.last[1] = args.bucket_count;
  }
  __syncthreads();
  return {args.shift, args.bits, top_shift};
}

__device__ inline void ClearCounters(const DigitArgs& args) {
  const uint32_t size = args.bucket_count << args.bits;
  for (uint32_t i = threadIdx.x; i < size; i += kThreads) counters[i] = 0;
  __syncthreads();
}

__device__ inline void StoreCounters(const DigitArgs& args, unsigned long long* out) {
  __syncthreads();
  const uint32_t size = args.bucket_count << args.bits;
  for (uint32_t i = threadIdx.x; i < size; i += kThreads) {
    const uint32_t n = counters[i];
    if (n != 0) atomicAdd(out + i, static_cast<unsigned long long>(n));
  }
}

// One thread's way of adding to the block's counters. Equal neighbours are added at once: constant
// arrays would otherwise make every thread wait for one counter.
struct CounterRun {
  uint32_t counter = 0;
  uint32_t length = 0;

  __device__ void Add(uint32_t next) {
    if (next == counter) {
      ++length;
      return;
    }
    Flush();
    counter = next;
    length = 1;
  }
  __device__ void Flush() const {
    if (length > 0) atomicAdd(&counters[counter], length);
  }
};

// The first digit of every value of a stream, whose counters start at `base`.
template <typename T, bool kSigned>
struct FirstDigitCounter {
  uint32_t shift;
  uint32_t base;
  CounterRun run{};

  __device__ void Add(T value) {
    const auto digit = static_cast<uint32_t>(RankKey<T, kSigned>::Of(value) >> shift);
    run.Add(base + (digit & ((1u << kFirstDigitBits) - 1)));
  }
};

// Calls `hit(key, bucket)` for a key that matches a bucket of the stream.
template <int kStream, typename Key, typename Hit>
__device__ void Match(const DigitPlan& plan, const SharedPrefixes& shared, Key key, Hit hit) {
  const auto top = static_cast<uint32_t>(key >> plan.top_shift);
  if ((shared.tops[kStream][top / 32] >> top % 32 & 1u) == 0) return;
  // Two shifts, because one by the key's whole width is undefined.
  const auto prefix = static_cast<uint64_t>(key >> plan.shift >> plan.bits);
#pragma unroll 1
  for (uint32_t bucket = shared.first[kStream]; bucket < shared.last[kStream]; ++bucket) {
    if (shared.prefix[bucket] == prefix) hit(key, bucket);
  }
}

// A later digit of the values that have one of the prefixes.
template <typename T, bool kSigned, int kStream>
struct DigitCounter {
  const DigitPlan& plan;
  const SharedPrefixes& shared;
  CounterRun run{};

  __device__ void Add(T value) {
    using Key = typename RankKey<T, kSigned>::Key;
    Match<kStream>(plan, shared, RankKey<T, kSigned>::Of(value), [&](Key key, uint32_t bucket) {
      const auto digit = static_cast<uint32_t>(key >> plan.shift) & ((1u << plan.bits) - 1);
      run.Add((bucket << plan.bits) + digit);
    });
  }
};

// The keys themselves.
template <typename T, bool kSigned, int kStream>
struct KeyGatherer {
  const DigitPlan& plan;
  const SharedPrefixes& shared;
  const GatherArgs& out;

  __device__ void Add(T value) {
    using Key = typename RankKey<T, kSigned>::Key;
    Match<kStream>(plan, shared, RankKey<T, kSigned>::Of(value), [&](Key key, uint32_t) {
      const unsigned long long place = atomicAdd(out.used + kStream, 1ull);
      if (place < out.capacity) out.keys[kStream * out.capacity + place] = key;
    });
  }
};

}  // namespace vernier::gpu
