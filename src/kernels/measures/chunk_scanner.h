// One thread's way through the chunks of a pair. Internal to kernels.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/measures/compensated_sum.h"
#include "kernels/measures/pair_measures.h"
#include "kernels/measures/pair_source.h"
#include "kernels/measures/rank_brackets.h"
#include "kernels/measures/series_totals.h"

namespace vernier {

/// The series of numbers for statistics.
enum Series : size_t { kSideA, kSideB, kAbsolute, kRelative, kSeriesCount };

/// What a chunk adds up to. Chunks merge in order, so that sums do not depend on threads.
template <typename T>
struct ChunkTotals {
  std::array<SeriesTotals<T>, kSeriesCount> series;
  int64_t mismatches = 0;
  int64_t mismatch_block = -1;  ///< where the first block with one begins
  int64_t zeros_in_b = 0;
  double worst_ratio = 0;
  double max_absolute = 0;  ///< where differences are not summed up: a bound
  CompensatedSum dot;
  CompensatedSum a_squared;
  CompensatedSum b_squared;
  CompensatedSum difference_squared;
  UlpDistances ulp;  ///< place_of_max: where its block begins

  void Merge(const ChunkTotals& later);
};

/// What is measured, worked out once for all chunks.
struct ScanPlan {
  std::array<StatisticsLevel, kSeriesCount> levels{};
  DifferenceRule rule;
  bool judges = true;  ///< false: B is not read
  bool products = false;
  bool ulp = false;
  uint64_t ulp_largest = 0;
  size_t worst = 0;  ///< needs differences

  bool needs_differences() const { return levels[kAbsolute] != StatisticsLevel::kNone; }
};

/// Orders elements, worst first: see PairMeasures::worst.
bool IsWorse(const WorstElement& x, const WorstElement& y);

template <typename T>
class ChunkScanner {
 public:
  using RankPlans = std::array<RankPlan<RankKey<T>>, kSeriesCount>;

  /// All arguments must outlive this. `capacity`: how many keys each series may keep.
  ChunkScanner(const PairSource<T>& source, const ScanPlan& plan, const RankPlans& ranks,
               size_t capacity);

  /// Chunks must come in ascending order. False: 64-bit integers are too large.
  bool Scan(int64_t start, int64_t end, ChunkTotals<T>& totals);

  RankTally<T>& ranks(size_t series) { return ranks_[series]; }
  const std::vector<WorstElement>& worst() const { return worst_; }

 private:
  void ScanBlock(const BlockPair<T>& pair, int64_t start, ChunkTotals<T>& totals);
  void AddSeries(size_t series, const T* values, const BlockPair<T>& pair, int64_t start,
                 ChunkTotals<T>& totals);
  void AddSame(size_t n, int64_t start, ChunkTotals<T>& totals);
  void Judge(const BlockPair<T>& differences, int64_t start, ChunkTotals<T>& totals);
  void AddWorst(const BlockPair<T>& differences, int64_t start, const ChunkTotals<T>& totals);
  double RatioBound(const ChunkTotals<T>& totals) const;
  void AddUlps(size_t n, int64_t start, ChunkTotals<T>& totals);

  const PairSource<T>& source_;
  const ScanPlan& plan_;
  OutsideBounds<T> bounds_;
  std::array<RankTally<T>, kSeriesCount> ranks_;
  std::vector<WorstElement> worst_;  ///< a heap with the least bad in front
  PairScratch<T> scratch_;
};

}  // namespace vernier
