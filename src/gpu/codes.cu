// Arrays of bytes, each a code of one number of 8 bits or of two of 4: pairs of codes are counted,
// which says everything but where they are; and the first places of some pairs are searched.
// Compiled to PTX as the variant Codes.
#include <cstdint>

#include "gpu/kernel_records.h"

namespace vernier::gpu {
namespace {

constexpr uint32_t kPairs = 65536;
constexpr uint32_t kHalfPairs = kPairs / 2;
constexpr int kGroup = 16;  // bytes loaded at once
// Pairs share a word of the table with the pair that differs in the first bit alone: the lower half
// counts both, the upper half those whose bit is set. Whoever takes the lower half to this moves
// what there is then to the totals: the bit above is for what all threads of the block may add
// meanwhile.
constexpr uint32_t kFull = 0x8000;

__device__ inline uint32_t PairOf(uint32_t a, uint32_t b) { return a << 8 | b; }

// Sixteen pairs as eight words, two each.
__device__ inline void Interleave(const uint4& a, const uint4& b, uint32_t* out) {
  const uint32_t as[4] = {a.x, a.y, a.z, a.w};
  const uint32_t bs[4] = {b.x, b.y, b.z, b.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    out[2 * i] = __byte_perm(bs[i], as[i], 0x5140);
    out[2 * i + 1] = __byte_perm(bs[i], as[i], 0x7362);
  }
}

// The pairs that a sample has most often are counted in registers: threads would wait for each
// other at their counters.
template <int kHot>
struct PairCounter {
  uint32_t* table;
  unsigned long long* totals;
  uint32_t hot[kHot + 1];
  uint32_t hot_counts[kHot + 1] = {};

  __device__ bool IsHot(uint32_t pair) {
    bool any = false;
#pragma unroll
    for (int i = 0; i < kHot; ++i) {
      const bool is = pair == hot[i];
      hot_counts[i] += is ? 1 : 0;
      any = any || is;
    }
    return any;
  }
  __device__ static bool IsFull(uint32_t old) { return (old & 0xffff) == kFull - 1; }
  __device__ void Spill(uint32_t slot) {
    const uint32_t counts = atomicExch(table + slot, 0);
    AddTotals(slot, counts & 0xffff, counts >> 16);
  }
  __device__ void AddTotals(uint32_t slot, uint32_t both, uint32_t upper) {
    if (both > upper) atomicAdd(totals + slot, static_cast<unsigned long long>(both - upper));
    if (upper > 0) atomicAdd(totals + slot + kHalfPairs, static_cast<unsigned long long>(upper));
  }

  // Two pairs in each word. Whether a counter is full is asked when all answers are there.
  template <int kWords>
  __device__ void Add(const uint32_t* words) {
    uint32_t old[2 * kWords];
    bool full = false;
#pragma unroll
    for (int i = 0; i < 2 * kWords; ++i) {
      const uint32_t word = words[i / 2];
      const uint32_t slot = i % 2 == 0 ? word & 0x7fff : word >> 16 & 0x7fff;
      const uint32_t more = ((i % 2 == 0 ? word << 1 : word >> 15) & 0x10000) | 1;
      old[i] = 0;
      if (kHot == 0 || !IsHot(i % 2 == 0 ? word & 0xffff : word >> 16)) {
        old[i] = atomicAdd(table + slot, more);
      }
    }
#pragma unroll
    for (int i = 0; i < 2 * kWords; ++i) full = full || IsFull(old[i]);
    if (!full) return;
#pragma unroll
    for (int i = 0; i < 2 * kWords; ++i) {
      if (IsFull(old[i])) Spill(words[i / 2] >> (16 * (i % 2)) & 0x7fff);
    }
  }
  __device__ void AddOne(uint32_t pair) {
    const uint32_t slot = pair & (kHalfPairs - 1);
    const uint32_t old = atomicAdd(table + slot, (pair << 1 & 0x10000) | 1);
    if (IsFull(old)) Spill(slot);
  }
  __device__ void Flush() {
#pragma unroll
    for (int i = 0; i < kHot; ++i) {
      const auto count = static_cast<unsigned long long>(hot_counts[i]);
      if (count > 0) atomicAdd(totals + hot[i], count);
    }
  }
};

constexpr int kMostHot = 4;
constexpr uint32_t kNoPair = UINT32_MAX;
struct HotPairs {
  uint32_t pairs[kMostHot];
  uint32_t sampled;  ///< how many of kCodeThreads are one of them
  bool all_bits;     ///< all of the sample's codes are 0 or 1
};

// From a sample. Uses the table, and leaves it empty.
__device__ inline void FindHotPairs(const CodeArgs& args, uint32_t* table, HotPairs& out) {
  __shared__ uint32_t best;
  const int64_t step = args.count / kCodeThreads + 1;
  const int64_t place = step * threadIdx.x;
  const bool sampled = place < args.count;
  const uint32_t pair = sampled ? PairOf(static_cast<const uint8_t*>(args.a)[place],
                                         static_cast<const uint8_t*>(args.b)[place])
                                : 0;
  const uint32_t slot = pair & (kHalfPairs - 1);
  if (sampled) atomicAdd(table + slot, 1u);
  out.sampled = 0;
  out.all_bits = __syncthreads_and((pair & 0xfefe) == 0) != 0;
  for (int i = 0; i < kMostHot; ++i) {
    if (threadIdx.x == 0) best = 0;
    __syncthreads();
    if (sampled) atomicMax(&best, table[slot] << 16 | pair);
    __syncthreads();
    const uint32_t found = best;
    out.pairs[i] = found >> 16 == 0 ? kNoPair : found & 0xffff;
    out.sampled += found >> 16;
    table[found & (kHalfPairs - 1)] = 0;
    __syncthreads();
  }
  table[slot] = 0;
  __syncthreads();
}

// Calls `visit(a, b)` with every 16 bytes of both arrays; the next ones are on their way meanwhile.
template <typename Visit>
__device__ void ForEachSixteen(const CodeArgs& args, Visit visit) {
  const auto* const a = static_cast<const uint4*>(args.a);
  const auto* const b = static_cast<const uint4*>(args.b);
  const int64_t groups = args.count / kGroup;
  const int64_t stride = static_cast<int64_t>(gridDim.x) * kCodeThreads;
  int64_t group = static_cast<int64_t>(blockIdx.x) * kCodeThreads + threadIdx.x;
  if (group >= groups) return;
  uint4 next_a = __ldcs(a + group);
  uint4 next_b = __ldcs(b + group);
  while (true) {
    const uint4 here_a = next_a;
    const uint4 here_b = next_b;
    group += stride;
    const bool more = group < groups;
    if (more) {
      next_a = __ldcs(a + group);
      next_b = __ldcs(b + group);
    }
    visit(here_a, here_b);
    if (!more) return;
  }
}

// What does not fill 16 bytes: at most one pair a thread.
template <typename Visit>
__device__ void ForTheRest(const CodeArgs& args, Visit visit) {
  const int64_t rest =
      args.count / kGroup * kGroup + static_cast<int64_t>(blockIdx.x) * kCodeThreads + threadIdx.x;
  if (rest < args.count) {
    visit(PairOf(static_cast<const uint8_t*>(args.a)[rest],
                 static_cast<const uint8_t*>(args.b)[rest]));
  }
}

template <int kHot>
__device__ void CountPairs(const CodeArgs& args, unsigned long long* totals, uint32_t* table,
                           const HotPairs& hot) {
  PairCounter<kHot> counter{table, totals, {}, {}};
#pragma unroll
  for (int i = 0; i < kHot; ++i) counter.hot[i] = hot.pairs[i];
  ForEachSixteen(args, [&](const uint4& a, const uint4& b) {
    uint32_t words[kGroup / 2];
    Interleave(a, b, words);
    counter.template Add<kGroup / 2>(words);
  });
  ForTheRest(args, [&](uint32_t pair) { counter.AddOne(pair); });
  counter.Flush();
}

// The lowest bits of 16 bytes, where no other bit is set.
__device__ inline uint32_t LowestBits(const uint4& v) { return v.x + 2 * v.y + 4 * v.z + 8 * v.w; }

// Bytes that mostly are 0 or 1, as those of bool: sixteen pairs of them in three counts of bits.
__device__ inline void CountBits(const CodeArgs& args, unsigned long long* totals,
                                 uint32_t* table) {
  PairCounter<0> counter{table, totals, {}, {}};
  uint32_t groups = 0, in_a = 0, in_b = 0, in_both = 0;
  ForEachSixteen(args, [&](const uint4& a, const uint4& b) {
    const uint32_t any = (a.x | a.y | a.z) | (a.w | b.x | b.y) | (b.z | b.w);
    if ((any & 0xfefefefeu) != 0) {
      uint32_t words[kGroup / 2];
      Interleave(a, b, words);
      counter.Add<kGroup / 2>(words);
      return;
    }
    const uint32_t bits_a = LowestBits(a);
    const uint32_t bits_b = LowestBits(b);
    ++groups;
    in_a += __popc(bits_a);
    in_b += __popc(bits_b);
    in_both += __popc(bits_a & bits_b);
  });
  ForTheRest(args, [&](uint32_t pair) { counter.AddOne(pair); });
  const auto add = [&](uint32_t pair, uint32_t count) {
#pragma unroll
    for (unsigned delta = 16; delta > 0; delta /= 2) {
      count += __shfl_down_sync(0xffffffffu, count, delta);
    }
    if (threadIdx.x % 32 == 0 && count > 0) {
      atomicAdd(totals + pair, static_cast<unsigned long long>(count));
    }
  };
  add(PairOf(1, 1), in_both);
  add(PairOf(1, 0), in_a - in_both);
  add(PairOf(0, 1), in_b - in_both);
  add(PairOf(0, 0), kGroup * groups - in_a - in_b + in_both);
}

}  // namespace

// Adds to totals[a << 8 | b]. Shared memory: a table of kHalfPairs words.
extern "C" __global__ void __launch_bounds__(kCodeThreads, 1)
    code_counts(CodeArgs args, unsigned long long* totals) {
  extern __shared__ uint32_t table[];
  for (uint32_t i = threadIdx.x; i < kHalfPairs; i += kCodeThreads) table[i] = 0;
  __syncthreads();
  HotPairs hot;
  FindHotPairs(args, table, hot);
  if (hot.all_bits) {
    CountBits(args, totals, table);
  } else if (hot.sampled > kCodeThreads / 16) {
    CountPairs<kMostHot>(args, totals, table, hot);
  } else {
    CountPairs<0>(args, totals, table, hot);
  }
  __syncthreads();
  // Each block from another place, so that they do not all wait for the same totals.
  for (uint32_t i = 0; i < kHalfPairs; i += kCodeThreads) {
    const uint32_t word = (i + threadIdx.x + blockIdx.x * kCodeThreads) % kHalfPairs;
    const uint32_t counts = table[word];
    PairCounter<0>{table, totals, {}, {}}.AddTotals(word, counts & 0xffff, counts >> 16);
  }
}

// For each bit of args.wanted the least place in [args.first, args.count) whose pair has it among
// its flags, by atomicMin: place << 16 | pair.
extern "C" __global__ void __launch_bounds__(kCodeThreads, 1)
    code_places(CodeArgs args, const uint32_t* flags, unsigned long long* places) {
  __shared__ uint32_t marked[kPairs / 32];
  for (uint32_t word = threadIdx.x; word < kPairs / 32; word += kCodeThreads) {
    uint32_t bits = 0;
    for (uint32_t i = 0; i < 32; ++i) {
      bits |= (flags[word * 32 + i] & args.wanted) != 0 ? 1u << i : 0u;
    }
    marked[word] = bits;
  }
  __syncthreads();
  const auto look = [&](uint32_t pair, int64_t place) {
    if ((marked[pair >> 5] >> (pair & 31) & 1u) == 0) return;
    const auto here = static_cast<unsigned long long>(place) << 16 | pair;
    for (uint32_t bits = flags[pair] & args.wanted; bits != 0; bits &= bits - 1) {
      unsigned long long* const slot = places + (__ffs(static_cast<int>(bits)) - 1);
      if (*const_cast<volatile unsigned long long*>(slot) > here) atomicMin(slot, here);
    }
  };
  const int64_t stride = static_cast<int64_t>(gridDim.x) * kCodeThreads;
  const int64_t own = static_cast<int64_t>(blockIdx.x) * kCodeThreads + threadIdx.x;
  const int64_t groups = args.count / kGroup;
  for (int64_t group = args.first / kGroup + own; group < groups; group += stride) {
    uint32_t pairs[kGroup / 2];
    Interleave(__ldcs(static_cast<const uint4*>(args.a) + group),
               __ldcs(static_cast<const uint4*>(args.b) + group), pairs);
#pragma unroll
    for (int i = 0; i < kGroup / 2; ++i) {
      look(pairs[i] & 0xffff, group * kGroup + 2 * i);
      look(pairs[i] >> 16, group * kGroup + 2 * i + 1);
    }
  }
  const int64_t rest = groups * kGroup + own;
  if (rest >= args.count) return;
  look(PairOf(static_cast<const uint8_t*>(args.a)[rest], static_cast<const uint8_t*>(args.b)[rest]),
       rest);
}

}  // namespace vernier::gpu
