// What is done to one block of elements at a time: the loops that memory speed depends on, for
// every vector width, and a scalar twin that says what they mean. Internal to kernels.
//
// All of a table's functions take at most kBlockSize elements. Sums run in sixteen float64 lanes,
// element i in lane i mod 16, and the lanes are added by halves: so every table gives the same
// bits.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/measures/difference.h"

namespace vernier {

inline constexpr size_t kSumLanes = 16;

/// Which zeros of B count as 2^-52 in a quotient.
enum class ZeroRule : uint8_t { kDivide, kReplace };

/// Two blocks of numbers. T is float or double.
template <typename T>
struct BlockPair {
  const T* a;
  const T* b;
  size_t count;
};

struct DifferenceNotes {
  int64_t zeros_in_b = 0;  ///< replaced ones
  bool same = true;        ///< every absolute and relative difference is 0
};

/// When a difference is outside a tolerance: not `value <= bound`. The bounds are those of the
/// float64 tolerances, rounded down to T, which decides the same.
template <typename T>
struct OutsideBounds {
  T absolute;
  T relative;
};
template <typename T>
T OutsideBound(double tolerance);
template <typename T>
OutsideBounds<T> MakeOutsideBounds(const DifferenceRule& rule) {
  return {OutsideBound<T>(rule.atol), OutsideBound<T>(rule.rtol)};
}

struct BlockVerdict {
  int64_t zeros_in_b = 0;
  double max_absolute = 0;      ///< unset when `may_be_outside`
  bool may_be_outside = false;  ///< an absolute difference is outside its tolerance
};

/// The sums are those of all elements. With a NaN or an infinity among them magnitude_sum is not
/// finite, and min and max are unset.
template <typename T>
struct BlockMoments {
  double sum = 0;
  double magnitude_sum = 0;
  double shifted_squares = 0;  ///< of the elements less a shift
  T min{};
  T max{};
};

/// Of a block that holds NaN or infinities. Without another element min is inf and max -inf.
template <typename T>
struct BlockSpecials {
  int64_t nan_count = 0;
  int64_t infinite_count = 0;
  T min{};
  T max{};
};

struct BlockProducts {
  double dot = 0;
  double a_squared = 0;
  double b_squared = 0;
  double difference_squared = 0;  ///< of a - b in T
};

/// Integers in the order of the numbers. -0 is below 0.
template <typename T>
using RankKey = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;

template <typename T>
RankKey<T> KeyOf(T value) {
  const auto bits = std::bit_cast<RankKey<T>>(value);
  constexpr auto kFlip = std::numeric_limits<RankKey<T>>::max();
  return bits < 0 ? static_cast<RankKey<T>>(bits ^ kFlip) : bits;
}
template <typename T>
T ValueOf(RankKey<T> key) {
  constexpr auto kFlip = std::numeric_limits<RankKey<T>>::max();
  return std::bit_cast<T>(key < 0 ? static_cast<RankKey<T>>(key ^ kFlip) : key);
}

inline constexpr size_t kMostBrackets = 4;

/// Open intervals of keys, each narrow and around a wanted rank.
template <typename Key>
struct Brackets {
  size_t count = 0;
  Key low[kMostBrackets];
  Key high[kMostBrackets];
};

/// Where the values go whose keys are inside any of the brackets. `values` needs room for
/// kBlockSize more than `used`, and for a vector after that.
template <typename T>
struct BracketHits {
  int64_t above_low[kMostBrackets] = {};  ///< how many keys exceeded each bracket's lower end
  T* values = nullptr;
  size_t used = 0;
};
inline constexpr size_t kHitPadding = 64;

/// Keys that values are counted against.
inline constexpr size_t kMostThresholds = 4;
template <typename Key>
struct Thresholds {
  size_t count = 0;
  Key keys[kMostThresholds];
};

/// Distances in units in the last place of one block.
struct BlockUlps {
  uint64_t max = 0;
  int64_t measured = 0;
  int64_t different = 0;
};

template <typename T>
struct BlockKernels {
  /// |a - b|, and that divided by |b|.
  DifferenceNotes (*difference)(const BlockPair<T>& pair, ZeroRule zeros, T* absolute, T* relative);
  /// Just enough to see that nothing is outside.
  BlockVerdict (*verdict)(const BlockPair<T>& pair, T absolute_bound);
  /// How many elements are outside both bounds.
  int64_t (*count_outside)(const BlockPair<T>& differences, const OutsideBounds<T>& bounds);
  /// The largest min(absolute / atol, relative / rtol) of those elements; a quotient that is NaN
  /// counts as infinite. 0 when there are none.
  double (*worst_ratio)(const BlockPair<T>& differences, const DifferenceRule& rule);
  BlockMoments<T> (*moments)(const T* values, size_t count, double shift);
  /// As moments, of values of which none is negative.
  BlockMoments<T> (*magnitude_moments)(const T* values, size_t count, double shift);
  BlockSpecials<T> (*specials)(const T* values, size_t count);
  BlockProducts (*products)(const BlockPair<T>& pair);
  /// Without NaN.
  void (*rank)(const T* values, size_t count, const Brackets<RankKey<T>>& brackets,
               BracketHits<T>& hits);
  /// Adds to below[i] how many of the values' keys are below thresholds.keys[i]. NaN lie below all
  /// numbers or above, by their sign.
  void (*count_below)(const T* values, size_t count, const Thresholds<RankKey<T>>& thresholds,
                      int64_t* below);
};

/// Raw elements of 1, 2, 4 or 8 bytes. No alignment is needed.
struct RawPair {
  const std::byte* a;
  const std::byte* b;
  size_t count;
};

/// What depends on how elements are stored.
struct StorageKernels {
  using ToFloat = void (*)(const std::byte* from, size_t count, float* to);
  using ToDouble = void (*)(const std::byte* from, size_t count, double* to);
  using Ulps = BlockUlps (*)(const RawPair& pair, uint64_t largest_magnitude);
  /// By dtype; null where LoadBlock has to do.
  ToFloat to_float[kDTypeCount] = {};
  ToDouble to_double[kDTypeCount] = {};
  /// By the logarithm of the bytes of an element: distances of sign-and-magnitude numbers, of which
  /// those with a magnitude (as bits) beyond the given one are NaN.
  Ulps ulps[4] = {};
};

/// For the best vectors that this machine has.
template <typename T>
const BlockKernels<T>& VectorKernels();
const StorageKernels& VectorStorageKernels();

/// The specification.
template <typename T>
const BlockKernels<T>& ScalarKernels();
const StorageKernels& ScalarStorageKernels();

}  // namespace vernier
