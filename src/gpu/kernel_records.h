// What the host hands to a kernel and gets back: plain data with one layout on both sides, so that
// this header is read by the C++ compiler and by nvcc.
#pragma once

#include <cstdint>

namespace vernier::gpu {

/// Threads of a block, in every kernel.
inline constexpr unsigned kThreads = 256;
/// Most blocks of a pass that ends in records. The grid depends on the count alone, never on the
/// device, so that sums have the same bits on every GPU.
inline constexpr unsigned kMostBlocks = 2048;
/// The same where a thread keeps much, which costs at its start and end: twice what a GPU of 132
/// multiprocessors holds at once.
inline constexpr unsigned kMostMomentBlocks = 792;
/// Elements a thread should have before another block is started.
inline constexpr int64_t kElementsPerThread = 64;

/// Threads of a block that counts codes, which has a multiprocessor to itself.
inline constexpr unsigned kCodeThreads = 1024;
/// Shared memory of such a block beyond what is declared: a table of counters of 16 bits.
inline constexpr unsigned kCodeTableBytes = 65536 * 2;

/// Bits of the first digit of a rank selection, and most bits of a later one.
inline constexpr unsigned kFirstDigitBits = 12;
inline constexpr unsigned kDigitBits = 10;
/// Most buckets that one launch counts: their counters fit the shared memory of every device.
inline constexpr unsigned kMostBuckets = 9;

enum PairFlags : uint32_t {
  kReplaceZero = 1,      ///< a zero in B counts as 2^-52
  kInfinitiesEqual = 2,  ///< equal infinities differ by 0
  kAUnsigned = 4,        ///< A holds uint64
  kBUnsigned = 8,
};

struct PairArgs {
  const void* a;
  const void* b;
  int64_t count;
  int32_t a_type;  ///< vernier::DType
  int32_t b_type;
  uint32_t flags;
  uint32_t always_fails;  ///< integers: the absolute tolerance is negative
  /// A difference is outside when it is not <= its limit; in the type of the differences.
  double absolute_limit;
  double relative_limit;
  uint64_t whole_limit;  ///< absolute_limit of integers
  double atol;
  double rtol;
  float inverse_atol;
  float inverse_rtol;
};

/// Bytes [first, count) of two arrays, which begin at whole words of 16 bytes, as does `first`.
struct CodeArgs {
  const void* a;
  const void* b;
  int64_t first;
  int64_t count;
  uint32_t wanted;  ///< flags whose first places are searched
  uint32_t unused;
};

struct ValueArgs {
  const void* values;
  int64_t count;
  int32_t type;
  int32_t unused;
};

/// A sum as an unevaluated pair. Where `high` is not finite, `low` means nothing.
struct WideSum {
  double high;
  double low;
};

/// What a block found in one stream of values. Extrema are raw: a double, int64 or uint64.
struct StreamRecord {
  WideSum sum;
  WideSum magnitudes;  ///< of values that may be negative; else zero
  WideSum squares;     ///< of the deviations from the stream's pilot, a number near its mean
  uint64_t min;
  uint64_t max;
  int64_t argmin;  ///< -1 when no value was below what the type starts with: then all are that
  int64_t argmax;
  int64_t nan_count;
  int64_t infinite_count;
  int64_t first_nan;  ///< INT64_MAX when there is none, as the next
  int64_t first_infinite;
};

struct PairRecord {
  int64_t mismatches;
  int64_t first_mismatch;  ///< INT64_MAX when there is none
  int64_t zeros_in_b;
  double worst_ratio;
  StreamRecord absolute;
  StreamRecord relative;
};

struct ProductRecord {
  WideSum dot;
  WideSum a_squared;
  WideSum b_squared;
  WideSum difference_squared;
  double a_max;
  int64_t nan_count;  ///< of A
};

/// One digit of a rank selection: values whose key, shifted by `shift` + `bits`, equals a bucket's
/// prefix are counted by the digit below it. Buckets [0, split) are of the first stream (absolute
/// differences, or the values), the rest of the second (relative differences). The first digit is
/// counted of everything: it has one bucket for each stream that the kernel has.
struct DigitArgs {
  uint32_t shift;
  uint32_t bits;
  uint32_t split;
  uint32_t bucket_count;  ///< at most kMostBuckets
  uint32_t key_bits;      ///< of the longer key
  uint32_t unused;
  uint64_t prefix[kMostBuckets];
};

/// Where keys are gathered: those of each stream that match a bucket, in any order.
struct GatherArgs {
  unsigned long long* used;  ///< one count a stream; beyond `capacity` keys are only counted
  uint64_t* keys;            ///< `capacity` for each stream
  uint64_t capacity;
};

}  // namespace vernier::gpu
