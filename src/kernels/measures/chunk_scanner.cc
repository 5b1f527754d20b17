#include "kernels/measures/chunk_scanner.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "kernels/measures/tolerance_limit.h"

namespace vernier {
namespace {

// Smaller is worse.
auto BadnessKey(const WorstElement& element) {
  const bool is_nan = std::isnan(element.absolute);
  return std::make_tuple(!is_nan, -element.ratio, is_nan ? 0 : -element.absolute, element.place);
}

void MergeUlps(UlpDistances& into, const UlpDistances& later) {
  into.measured += later.measured;
  into.different += later.different;
  if (later.measured == 0) return;
  if (into.place_of_max >= 0 && later.max <= into.max) return;
  into.max = later.max;
  into.place_of_max = later.place_of_max;
}

}  // namespace

bool IsWorse(const WorstElement& x, const WorstElement& y) { return BadnessKey(x) < BadnessKey(y); }

template <typename T>
void ChunkTotals<T>::Merge(const ChunkTotals& later) {
  for (size_t i = 0; i < kSeriesCount; ++i) series[i].Merge(later.series[i]);
  mismatches += later.mismatches;
  if (mismatch_block < 0) mismatch_block = later.mismatch_block;
  zeros_in_b += later.zeros_in_b;
  worst_ratio = std::max(worst_ratio, later.worst_ratio);
  max_absolute = std::max(max_absolute, later.max_absolute);
  dot.Merge(later.dot);
  a_squared.Merge(later.a_squared);
  b_squared.Merge(later.b_squared);
  difference_squared.Merge(later.difference_squared);
  MergeUlps(ulp, later.ulp);
}

template <typename T>
ChunkScanner<T>::ChunkScanner(const PairSource<T>& source, const ScanPlan& plan,
                              const RankPlans& ranks, size_t capacity)
    : source_(source), plan_(plan), bounds_(MakeOutsideBounds<T>(plan.rule)) {
  for (size_t i = 0; i < kSeriesCount; ++i) ranks_[i] = RankTally<T>(ranks[i], capacity);
}

template <typename T>
bool ChunkScanner<T>::Scan(int64_t start, int64_t end, ChunkTotals<T>& totals) {
  for (; start < end; start += static_cast<int64_t>(kBlockSize)) {
    const auto n = static_cast<size_t>(std::min<int64_t>(kBlockSize, end - start));
    BlockPair<T> pair{source_.LoadA(start, n, scratch_.a), nullptr, n};
    pair.b = plan_.judges ? source_.LoadB(start, n, scratch_.b) : pair.a;
    if (!source_.IsExact(pair)) return false;
    ScanBlock(pair, start, totals);
  }
  return true;
}

template <typename T>
void ChunkScanner<T>::ScanBlock(const BlockPair<T>& pair, int64_t start, ChunkTotals<T>& totals) {
  AddSeries(kSideA, pair.a, pair, start, totals);
  if (!plan_.judges) return;
  AddSeries(kSideB, pair.b, pair, start, totals);
  if (plan_.products) {
    const BlockProducts products = VectorKernels<T>().products(pair);
    totals.dot.Add(products.dot);
    totals.a_squared.Add(products.a_squared);
    totals.b_squared.Add(products.b_squared);
    totals.difference_squared.Add(products.difference_squared);
  }
  if (plan_.ulp) AddUlps(pair.count, start, totals);

  const PairRules& rules = source_.rules();
  const bool plain = rules.arithmetic == DifferenceArithmetic::kPlain && !rules.infinities_equal;
  if (!plan_.needs_differences() && plain) {
    const BlockVerdict verdict = VectorKernels<T>().verdict(pair, bounds_.absolute);
    totals.zeros_in_b += rules.zeros == ZeroRule::kReplace ? verdict.zeros_in_b : 0;
    totals.max_absolute = std::max(totals.max_absolute, verdict.max_absolute);
    if (!verdict.may_be_outside) return;
  }
  const DifferenceNotes notes = source_.Differences(pair, scratch_.absolute, scratch_.relative);
  if (plan_.needs_differences() || !plain) totals.zeros_in_b += notes.zeros_in_b;
  if (notes.same && bounds_.absolute >= 0) return AddSame(pair.count, start, totals);

  AddSeries(kAbsolute, scratch_.absolute, pair, start, totals);
  AddSeries(kRelative, scratch_.relative, pair, start, totals);
  const BlockPair<T> differences{scratch_.absolute, scratch_.relative, pair.count};
  Judge(differences, start, totals);
  if (plan_.worst > 0) AddWorst(differences, start, totals);
}

template <typename T>
void ChunkScanner<T>::AddSeries(size_t series, const T* values, const BlockPair<T>& pair,
                                int64_t start, ChunkTotals<T>& totals) {
  if (plan_.levels[series] == StatisticsLevel::kNone) return;
  const SignRule signs = series < kAbsolute ? SignRule::kAny : SignRule::kNonNegative;
  totals.series[series].Add(values, pair.count, start, signs);
  if (plan_.levels[series] != StatisticsLevel::kRanks) return;
  // With a NaN, every rank is NaN.
  if (!totals.series[series].block_has_nan()) ranks_[series].Add(values, pair.count);
}

// All differences of the block are 0.
template <typename T>
void ChunkScanner<T>::AddSame(size_t n, int64_t start, ChunkTotals<T>& totals) {
  for (const Series series : {kAbsolute, kRelative}) {
    if (plan_.levels[series] == StatisticsLevel::kNone) continue;
    totals.series[series].AddZeros(n, start);
    if (plan_.levels[series] != StatisticsLevel::kRanks) continue;
    const T* zeros = series == kAbsolute ? scratch_.absolute : scratch_.relative;
    if (!ranks_[series].AddZeros(n)) ranks_[series].Add(zeros, n);
  }
}

// No element of the last block is worse than this; infinite where that is not known.
template <typename T>
double ChunkScanner<T>::RatioBound(const ChunkTotals<T>& totals) const {
  const SeriesTotals<T>& absolute = totals.series[kAbsolute];
  const SeriesTotals<T>& relative = totals.series[kRelative];
  if (!plan_.needs_differences() || absolute.block_has_nan() || relative.block_has_nan()) {
    return std::numeric_limits<double>::infinity();
  }
  return std::min(Limit<T>(plan_.rule.atol).Ratio(absolute.block_max()),
                  Limit<T>(plan_.rule.rtol).Ratio(relative.block_max()));
}

template <typename T>
void ChunkScanner<T>::Judge(const BlockPair<T>& differences, int64_t start,
                            ChunkTotals<T>& totals) {
  const SeriesTotals<T>& absolute = totals.series[kAbsolute];
  if (plan_.needs_differences() && !absolute.block_has_nan() &&
      absolute.block_max() <= bounds_.absolute) {
    return;
  }
  const BlockKernels<T>& kernels = VectorKernels<T>();
  const int64_t outside = kernels.count_outside(differences, bounds_);
  if (outside == 0) {
    // Only the relative tolerance let some of these pass.
    totals.max_absolute = std::numeric_limits<double>::infinity();
    return;
  }
  totals.mismatches += outside;
  if (totals.mismatch_block < 0) totals.mismatch_block = start;
  if (RatioBound(totals) <= totals.worst_ratio) return;
  totals.worst_ratio = std::max(totals.worst_ratio, kernels.worst_ratio(differences, plan_.rule));
}

template <typename T>
void ChunkScanner<T>::AddWorst(const BlockPair<T>& differences, int64_t start,
                               const ChunkTotals<T>& totals) {
  if (worst_.size() == plan_.worst) {
    WorstElement best_case;
    best_case.place = start;
    best_case.ratio = RatioBound(totals);
    best_case.absolute = totals.series[kAbsolute].block_has_nan()
                             ? std::numeric_limits<double>::quiet_NaN()
                             : static_cast<double>(totals.series[kAbsolute].block_max());
    if (!IsWorse(best_case, worst_.front())) return;
  }
  const Limit<T> absolute_limit(plan_.rule.atol);
  const Limit<T> relative_limit(plan_.rule.rtol);
  for (size_t i = 0; i < differences.count; ++i) {
    if (differences.a[i] == 0) continue;
    WorstElement element;
    element.place = start + static_cast<int64_t>(i);
    element.absolute = static_cast<double>(differences.a[i]);
    element.relative = static_cast<double>(differences.b[i]);
    element.ratio =
        std::min(absolute_limit.Ratio(differences.a[i]), relative_limit.Ratio(differences.b[i]));
    if (worst_.size() == plan_.worst) {
      if (!IsWorse(element, worst_.front())) continue;
      std::pop_heap(worst_.begin(), worst_.end(), IsWorse);
      worst_.pop_back();
    }
    worst_.push_back(element);
    std::push_heap(worst_.begin(), worst_.end(), IsWorse);
  }
}

template <typename T>
void ChunkScanner<T>::AddUlps(size_t n, int64_t start, ChunkTotals<T>& totals) {
  const auto size = static_cast<size_t>(BitsOf(source_.a().dtype)) / 8;
  const size_t offset = static_cast<size_t>(start) * size;
  const size_t width = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
  const BlockUlps block = VectorStorageKernels().ulps[width](
      {source_.a().bytes.data() + offset, source_.b().bytes.data() + offset, n}, plan_.ulp_largest);
  UlpDistances later;
  later.max = block.max;
  later.place_of_max = start;
  later.measured = block.measured;
  later.different = block.different;
  MergeUlps(totals.ulp, later);
}

template struct ChunkTotals<float>;
template struct ChunkTotals<double>;
template class ChunkScanner<float>;
template class ChunkScanner<double>;

}  // namespace vernier
