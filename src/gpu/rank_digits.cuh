// Counting one digit of order-preserving keys: the GPU's half of a rank selection, as
// kernels/measures/rank_select.h does it on the CPU. The host walks down the counts.
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
  static constexpr Key kZero = kSigned ? 0x80000000u : 0;
  static __device__ Key Of(float value) {
    const auto bits = static_cast<uint32_t>(__float_as_int(value));
    if (!kSigned) return bits;
    return (bits >> 31) != 0 ? ~bits : bits | 0x80000000u;
  }
};
template <bool kSigned>
struct RankKey<double, kSigned> {
  using Key = uint64_t;
  static constexpr Key kZero = kSigned ? uint64_t{1} << 63 : 0;
  static __device__ Key Of(double value) {
    const auto bits = static_cast<uint64_t>(__double_as_longlong(value));
    if (!kSigned) return bits;
    return (bits >> 63) != 0 ? ~bits : bits | (uint64_t{1} << 63);
  }
};
template <bool kSigned>
struct RankKey<int64_t, kSigned> {
  using Key = uint64_t;
  static constexpr Key kZero = uint64_t{1} << 63;
  static __device__ Key Of(int64_t value) {
    return static_cast<uint64_t>(value) ^ (uint64_t{1} << 63);
  }
};
template <bool kSigned>
struct RankKey<uint32_t, kSigned> {
  using Key = uint64_t;  // shifted by what is meant for 64 bits
  static constexpr Key kZero = 0;
  static __device__ Key Of(uint32_t value) { return value; }
};
template <bool kSigned>
struct RankKey<uint64_t, kSigned> {
  using Key = uint64_t;
  static constexpr Key kZero = 0;
  static __device__ Key Of(uint64_t value) { return value; }
};

// Keys that a pass looks for. Most keys match nothing, and one look at the table of their first
// bits says so.
struct DigitPlan {
  uint32_t shift;
  uint32_t bits;
  uint32_t top_shift;
  uint32_t ends[2];  ///< behind the last bucket of each stream
};

inline constexpr unsigned kTops = 1u << kFirstDigitBits;

extern __shared__ uint32_t counters[];

struct SharedPrefixes {
  uint64_t prefix[kMostBuckets];
  /// For each stream: 1 + the first bucket whose prefix begins with these bits, or 0.
  uint8_t bucket_of_top[2][kTops];
};

__device__ inline DigitPlan StartDigits(const DigitArgs& args, SharedPrefixes& shared) {
  auto* const words = reinterpret_cast<uint32_t*>(shared.bucket_of_top);
  for (uint32_t i = threadIdx.x; i < 2 * kTops / 4; i += kThreads) words[i] = 0;
  __syncthreads();
  // The prefixes' first digit: what is above `top_shift` in the keys.
  const uint32_t top_shift = args.key_bits - kFirstDigitBits;
  if (threadIdx.x == 0) {
#pragma unroll
    for (int i = kMostBuckets - 1; i >= 0; --i) {
      shared.prefix[i] = args.prefix[i];
      const auto top =
          static_cast<uint32_t>(args.prefix[i] >> (top_shift - args.shift - args.bits));
      if (i < static_cast<int>(args.bucket_count)) {
        shared.bucket_of_top[i < static_cast<int>(args.split) ? 0 : 1][top % kTops] =
            static_cast<uint8_t>(i + 1);
      }
    }
  }
  __syncthreads();
  return {args.shift, args.bits, top_shift, {args.split, args.bucket_count}};
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

  __device__ void Add(uint32_t next, uint32_t times = 1) {
    if (next == counter) {
      length += times;
      return;
    }
    Flush();
    counter = next;
    length = times;
  }
  __device__ void Flush() const {
    if (length > 0) atomicAdd(&counters[counter], length);
  }
};

// The first digit of every value of a stream, whose counters start at `base`. Zeros, which are the
// most common difference, are counted aside.
template <typename T, bool kSigned>
struct FirstDigitCounter {
  using Keys = RankKey<T, kSigned>;
  uint32_t shift;
  uint32_t base;
  uint32_t zeros = 0;
  CounterRun run{};

  __device__ void Add(T value) {
    const auto key = Keys::Of(value);
    if (key == Keys::kZero) {
      ++zeros;
    } else {
      run.Add(CounterOf(key));
    }
  }
  __device__ void Flush() {
    if (zeros > 0) run.Add(CounterOf(Keys::kZero), zeros);
    run.Flush();
  }

 private:
  __device__ uint32_t CounterOf(typename Keys::Key key) const {
    return base + (static_cast<uint32_t>(key >> shift) & (kTops - 1));
  }
};

// Calls `hit(bucket)` if the key matches a bucket of the stream.
template <int kStream, typename Key, typename Hit>
__device__ void Match(const DigitPlan& plan, const SharedPrefixes& shared, Key key, Hit hit) {
  const auto top = static_cast<uint32_t>(key >> plan.top_shift) & (kTops - 1);
  uint32_t bucket = shared.bucket_of_top[kStream][top];
  if (bucket == 0) return;
  // Buckets rise with their prefixes, so those that share a top are neighbours. Two shifts, because
  // one by the key's whole width is undefined.
  const auto prefix = static_cast<uint64_t>(key >> plan.shift >> plan.bits);
#pragma unroll 1
  for (--bucket; bucket < plan.ends[kStream]; ++bucket) {
    if (shared.prefix[bucket] < prefix) continue;
    if (shared.prefix[bucket] == prefix) hit(bucket);
    return;
  }
}

// A later digit of the values that have one of the prefixes.
template <typename T, bool kSigned, int kStream>
struct DigitCounter {
  using Keys = RankKey<T, kSigned>;
  const DigitPlan& plan;
  const SharedPrefixes& shared;
  uint32_t zeros = 0;
  CounterRun run{};

  __device__ void Add(T value) {
    const auto key = Keys::Of(value);
    if (key == Keys::kZero) {
      ++zeros;
    } else {
      Count(key, 1);
    }
  }
  __device__ void Flush() {
    if (zeros > 0) Count(Keys::kZero, zeros);
    run.Flush();
  }

 private:
  __device__ void Count(typename Keys::Key key, uint32_t times) {
    Match<kStream>(plan, shared, key, [&](uint32_t bucket) {
      const auto digit = static_cast<uint32_t>(key >> plan.shift) & ((1u << plan.bits) - 1);
      run.Add((bucket << plan.bits) + digit, times);
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
    const auto key = RankKey<T, kSigned>::Of(value);
    Match<kStream>(plan, shared, key, [&](uint32_t) {
      const unsigned long long place = atomicAdd(out.used + kStream, 1ull);
      if (place < out.capacity) out.keys[kStream * out.capacity + place] = key;
    });
  }
};

}  // namespace vernier::gpu
