#include "kernels/measures/pair_scan.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>

#include "kernels/measures/chunk_scanner.h"
#include "kernels/measures/quantile_rule.h"
#include "kernels/measures/rank_sample.h"
#include "kernels/measures/rank_select.h"
#include "kernels/measures/tolerance_limit.h"
#include "util/threads/thread_pool.h"

namespace vernier {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Arrays of up to so many chunks are not worth waking threads for.
constexpr int64_t kChunk = 64 * static_cast<int64_t>(kBlockSize);
constexpr int64_t kChunksAlone = 3;
constexpr int64_t kMostChunks = 16384;
constexpr size_t kKeptBytes = size_t{40} << 20;

// A function of the count alone: sums depend on it.
int64_t ChunkSize(int64_t count) {
  const int64_t least = (count + kMostChunks - 1) / kMostChunks;
  return std::max(kChunk, (least + kChunk - 1) / kChunk * kChunk);
}

template <typename T>
class Scan {
 public:
  using Ranks = FoundRanks<T>;

  Scan(const PairSource<T>& source, const ScanPlan& plan, ThreadPool* pool)
      : source_(source), plan_(plan) {
    const int64_t size = ChunkSize(source.count());
    chunk_size_ = size;
    chunk_count_ = static_cast<size_t>((source.count() + size - 1) / size);
    const bool alone = pool == nullptr || chunk_count_ <= static_cast<size_t>(kChunksAlone);
    pool_ = alone ? nullptr : pool;
  }

  /// `quantiles` by series. False: 64-bit integers are too large.
  bool Run(const std::array<std::span<const double>, kSeriesCount>& quantiles) {
    for (size_t i = 0; i < kSeriesCount; ++i) {
      quantiles_[i] = quantiles[i];
      const bool ranked = plan_.levels[i] == StatisticsLevel::kRanks;
      if (ranked) wanted_[i] = NeededRanks(source_.count(), quantiles[i]);
    }
    rank_plans_ = MakeRankPlans(source_, plan_, wanted_, SampleSizesFor(source_.count()), pool_);
    if (!ScanChunks()) return false;
    for (const ChunkTotals<T>& chunk : chunks_) totals_.Merge(chunk);
    RunTasks(pool_, kSeriesCount, [this](size_t i, size_t) { FindRanksOf(i); });
    return true;
  }

  ValueStatistics Statistics(size_t series);
  /// The first place that `test(a, b, absolute, relative)` holds at, from a block on.
  template <typename Test>
  int64_t FirstPlace(int64_t start, Test test);
  std::vector<WorstElement> Worst() const;
  const ChunkTotals<T>& totals() const { return totals_; }

 private:
  struct Block {
    const T* series[kSeriesCount];
    size_t count;
  };

  bool ScanChunks();
  void FindRanksOf(size_t series);
  Ranks SearchRanks(size_t series) const;
  Block Load(int64_t start, PairScratch<T>& scratch, bool differences) const;
  int64_t PlaceIn(size_t series, int64_t start, const std::function<bool(T)>& test);
  void ScaleMoments(size_t series, ValueStatistics& out) const;
  void FillRanks(size_t series, ValueStatistics& out) const;
  double RankValue(size_t series, int64_t rank) const;

  const PairSource<T>& source_;
  const ScanPlan& plan_;
  ThreadPool* pool_ = nullptr;
  int64_t chunk_size_ = 0;
  size_t chunk_count_ = 0;
  std::array<std::span<const double>, kSeriesCount> quantiles_;
  std::array<std::vector<int64_t>, kSeriesCount> wanted_;
  typename ChunkScanner<T>::RankPlans rank_plans_;
  std::vector<std::unique_ptr<ChunkScanner<T>>> scanners_;
  std::vector<ChunkTotals<T>> chunks_;
  ChunkTotals<T> totals_;
  std::array<Ranks, kSeriesCount> ranks_;
  std::unique_ptr<PairScratch<T>> scratch_;  ///< of the block at loaded_
  Block block_{};
  int64_t loaded_ = -1;
};

template <typename T>
bool Scan<T>::ScanChunks() {
  const size_t threads = pool_ == nullptr ? 1 : pool_->thread_count();
  const size_t most = kKeptBytes / sizeof(T) / kSeriesCount / threads;
  const size_t capacity = std::min(most, static_cast<size_t>(source_.count()));
  for (size_t i = 0; i < threads; ++i) {
    scanners_.push_back(std::make_unique<ChunkScanner<T>>(source_, plan_, rank_plans_, capacity));
  }
  chunks_.resize(chunk_count_);
  std::atomic<bool> exact = true;
  RunTasks(pool_, chunk_count_, [&](size_t index, size_t thread) {
    if (!exact) return;
    const int64_t start = static_cast<int64_t>(index) * chunk_size_;
    const int64_t end = std::min(source_.count(), start + chunk_size_);
    if (!scanners_[thread]->Scan(start, end, chunks_[index])) exact = false;
  });
  return exact;
}

template <typename T>
void Scan<T>::FindRanksOf(size_t series) {
  // With a NaN the answer is NaN, whatever the order of the rest.
  if (wanted_[series].empty() || totals_.series[series].nan_count() > 0) return;
  std::vector<const RankTally<T>*> tallies;
  for (const auto& scanner : scanners_) tallies.push_back(&scanner->ranks(series));
  if (!rank_plans_[series].empty()) {
    if (auto found = FindRanks<T>(rank_plans_[series], tallies, source_.count())) {
      ranks_[series] = *std::move(found);
      return;
    }
  }
  ranks_[series] = SearchRanks(series);
}

// Reads the arrays again, as often as RankSelector needs.
template <typename T>
typename Scan<T>::Ranks Scan<T>::SearchRanks(size_t series) const {
  RankSelector<T> selector(source_.count(), wanted_[series]);
  const auto scratch = std::make_unique_for_overwrite<PairScratch<T>>();
  do {
    for (int64_t start = 0; start < source_.count(); start += static_cast<int64_t>(kBlockSize)) {
      const Block block = Load(start, *scratch, series >= kAbsolute);
      selector.Add(block.series[series], block.count);
    }
  } while (selector.NextPass());
  Ranks ranks;
  for (const int64_t rank : wanted_[series]) {
    ranks.push_back({rank, KeyOf(selector.Value(rank))});
  }
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

template <typename T>
typename Scan<T>::Block Scan<T>::Load(int64_t start, PairScratch<T>& scratch,
                                      bool differences) const {
  const auto n = static_cast<size_t>(std::min<int64_t>(kBlockSize, source_.count() - start));
  const T* a = source_.LoadA(start, n, scratch.a);
  const T* b = plan_.judges ? source_.LoadB(start, n, scratch.b) : a;
  if (differences) source_.Differences({a, b, n}, scratch.absolute, scratch.relative);
  return {{a, b, scratch.absolute, scratch.relative}, n};
}

template <typename T>
int64_t Scan<T>::PlaceIn(size_t series, int64_t start, const std::function<bool(T)>& test) {
  if (start < 0) return -1;
  return FirstPlace(start, [series, &test](const Block& block, size_t i) {
    return test(block.series[series][i]);
  });
}

template <typename T>
template <typename Test>
int64_t Scan<T>::FirstPlace(int64_t start, Test test) {
  if (scratch_ == nullptr) scratch_ = std::make_unique_for_overwrite<PairScratch<T>>();
  if (loaded_ != start) block_ = Load(start, *scratch_, plan_.judges);
  loaded_ = start;
  for (size_t i = 0; i < block_.count; ++i) {
    if (test(block_, i)) return start + static_cast<int64_t>(i);
  }
  return -1;
}

template <typename T>
ValueStatistics Scan<T>::Statistics(size_t series) {
  ValueStatistics out;
  out.count = source_.count();
  if (plan_.levels[series] == StatisticsLevel::kNone) return out;
  const SeriesTotals<T>& s = totals_.series[series];
  const bool ranked = plan_.levels[series] == StatisticsLevel::kRanks;
  if (out.count == 0) {
    out.mean = kNan;
    out.average_magnitude = kNan;
    if (ranked) {
      out.quantiles.assign(quantiles_[series].size(), std::numeric_limits<double>::infinity());
    }
    return out;
  }
  const auto count = static_cast<double>(out.count);
  out.nan_count = s.nan_count();
  out.infinite_count = s.infinite_count();
  out.mean = s.sum() / count;
  out.average_magnitude = s.magnitude_sum() / count;
  out.variance = s.squares() / count;
  out.std_dev = std::sqrt(out.variance);
  if constexpr (sizeof(T) == 8) {
    if (s.needs_scaling()) ScaleMoments(series, out);
  }
  out.first_nan = PlaceIn(series, s.nan_block(), [](T v) { return v != v; });
  out.first_infinite = PlaceIn(series, s.infinite_block(), [](T v) { return std::isinf(v); });
  out.min = out.max = kNan;
  out.argmin = out.argmax = out.first_nan;
  if (s.nan_count() == 0) {
    out.argmin = PlaceIn(series, s.min_block(), [&](T v) { return v == s.min(); });
    out.min = static_cast<double>(block_.series[series][out.argmin - loaded_]);
    out.argmax = PlaceIn(series, s.max_block(), [&](T v) { return v == s.max(); });
    out.max = static_cast<double>(block_.series[series][out.argmax - loaded_]);
  }
  out.median = kNan;
  if (ranked) FillRanks(series, out);
  return out;
}

// Reads the series again, scaled by a power of two.
template <typename T>
void Scan<T>::ScaleMoments(size_t series, ValueStatistics& out) const {
  const SeriesTotals<T>& s = totals_.series[series];
  const double largest =
      std::max(std::fabs(static_cast<double>(s.min())), std::fabs(static_cast<double>(s.max())));
  const int exponent = -std::ilogb(largest);
  const auto scratch = std::make_unique_for_overwrite<PairScratch<T>>();
  const auto scaled = std::make_unique_for_overwrite<T[]>(kBlockSize);
  SeriesTotals<T> totals;
  for (int64_t start = 0; start < source_.count(); start += static_cast<int64_t>(kBlockSize)) {
    const Block block = Load(start, *scratch, series >= kAbsolute);
    for (size_t i = 0; i < block.count; ++i) {
      scaled[i] = static_cast<T>(std::scalbn(block.series[series][i], exponent));
    }
    totals.Add(scaled.get(), block.count, start, SignRule::kAny);
  }
  const auto count = static_cast<double>(out.count);
  const double variance = totals.squares() / count;
  out.mean = std::scalbn(totals.sum() / count, -exponent);
  out.average_magnitude = std::scalbn(totals.magnitude_sum() / count, -exponent);
  out.variance = std::scalbn(variance, -2 * exponent);
  out.std_dev = std::scalbn(std::sqrt(variance), -exponent);
}

template <typename T>
double Scan<T>::RankValue(size_t series, int64_t rank) const {
  const auto place =
      std::lower_bound(ranks_[series].begin(), ranks_[series].end(), rank,
                       [](const auto& found, int64_t wanted) { return found.first < wanted; });
  return static_cast<double>(ValueOf<T>(place->second));
}

template <typename T>
void Scan<T>::FillRanks(size_t series, ValueStatistics& out) const {
  if (out.nan_count > 0) {
    out.quantiles.assign(quantiles_[series].size(), kNan);
    return;
  }
  out.median = MiddleOf(RankValue(series, (out.count - 1) / 2), RankValue(series, out.count / 2));
  for (const double quantile : quantiles_[series]) {
    const RankPosition at = Locate(out.count, quantile);
    out.quantiles.push_back(
        Interpolate(RankValue(series, at.previous), RankValue(series, at.next), at.fraction));
  }
}

template <typename T>
std::vector<WorstElement> Scan<T>::Worst() const {
  std::vector<WorstElement> all;
  for (const auto& scanner : scanners_) {
    all.insert(all.end(), scanner->worst().begin(), scanner->worst().end());
  }
  std::sort(all.begin(), all.end(), IsWorse);
  all.resize(std::min(all.size(), plan_.worst));
  return all;
}

// Outputs of a sound model are often the same to the last bit. Telling costs a tenth of what one
// side's statistics cost, and next to nothing where the arrays differ from the start.
bool HoldSameBytes(const ElementSpan& a, const ElementSpan& b, ThreadPool* pool) {
  constexpr size_t kPart = size_t{1} << 20;
  if (a.dtype != b.dtype || a.bytes.size() != b.bytes.size()) return false;
  std::atomic<bool> same = true;
  const auto compare = [&](size_t index, size_t) {
    const size_t start = index * kPart;
    const size_t size = std::min(kPart, a.bytes.size() - start);
    if (same && std::memcmp(a.bytes.data() + start, b.bytes.data() + start, size) != 0) {
      same = false;
    }
  };
  const size_t parts = (a.bytes.size() + kPart - 1) / kPart;
  RunTasks(parts > 1 ? pool : nullptr, parts, compare);
  return same;
}

// For floats of IEEE's layout, and those whose patterns end with NaN.
uint64_t LargestMagnitude(DType dtype) {
  switch (dtype) {
    case DType::kFloat8E4M3FN:
      return 0x7e;
    case DType::kFloat8E5M2:
      return 0x7c;
    case DType::kFloat16:
      return 0x7c00;
    case DType::kBFloat16:
      return 0x7f80;
    case DType::kFloat32:
      return 0x7f800000;
    case DType::kFloat64:
      return 0x7ff0000000000000;
    default:
      return 0;
  }
}

template <typename T>
ScanPlan MakePlan(const PairSource<T>& source, const MeasureRequest& request) {
  ScanPlan plan;
  const StatisticsLevel differences = request.worst > 0
                                          ? std::max(request.differences, StatisticsLevel::kMoments)
                                          : request.differences;
  const StatisticsLevel side_a =
      request.products ? std::max(request.sides, StatisticsLevel::kMoments) : request.sides;
  plan.levels = {side_a, request.sides, differences, differences};
  plan.rule = request.rule;
  plan.products = request.products;
  plan.ulp_largest = LargestMagnitude(source.a().dtype);
  plan.ulp = request.ulp && source.a().dtype == source.b().dtype && plan.ulp_largest != 0;
  plan.worst = request.worst;
  return plan;
}

template <typename T>
void FillVerdict(Scan<T>& scan, const DifferenceRule& rule, bool has_extrema,
                 DifferenceSummary& out) {
  const ChunkTotals<T>& totals = scan.totals();
  out.mismatches = totals.mismatches;
  out.zeros_in_b = totals.zeros_in_b;
  if (totals.mismatches > 0) {
    const OutsideBounds<T> bounds = MakeOutsideBounds<T>(rule);
    out.first_mismatch = scan.FirstPlace(totals.mismatch_block, [&](const auto& block, size_t i) {
      return !(block.series[kAbsolute][i] <= bounds.absolute) &&
             !(block.series[kRelative][i] <= bounds.relative);
    });
    out.worst_ratio = totals.worst_ratio;
  } else if (out.count > 0) {
    out.worst_ratio = has_extrema ? PassingRatio(out.absolute.max, out.relative.max, rule)
                                  : PassingRatio(totals.max_absolute,
                                                 std::numeric_limits<double>::infinity(), rule);
  }
}

template <typename T>
ProductSums MakeProducts(const ChunkTotals<T>& totals, double a_max) {
  ProductSums out;
  out.a_max = a_max;
  out.dot = totals.dot.value();
  out.a_squared = totals.a_squared.value();
  out.b_squared = totals.b_squared.value();
  out.difference_squared = totals.difference_squared.value();
  return out;
}

// What need not be measured of a pair.
struct Known {
  bool same = false;            ///< B is A, byte by byte
  bool no_differences = false;  ///< all differences are 0
};

ValueStatistics StatisticsOfZeros(int64_t count, StatisticsLevel level, size_t quantiles) {
  ValueStatistics out;
  out.count = count;
  out.argmin = out.argmax = 0;
  if (level == StatisticsLevel::kRanks) {
    out.quantiles.assign(quantiles, 0.0);
  } else {
    out.median = kNan;
  }
  return out;
}

template <typename T>
std::optional<PairMeasures> MeasureBy(const PairSource<T>& source, ScanPlan plan, Known known,
                                      const MeasureRequest& request, ThreadPool* pool) {
  const StatisticsLevel differences = plan.levels[kAbsolute];
  const bool needs_differences = plan.needs_differences();
  if (known.same) plan.levels[kSideB] = StatisticsLevel::kNone;
  if (known.no_differences) {
    plan.levels[kAbsolute] = plan.levels[kRelative] = StatisticsLevel::kNone;
    plan.worst = 0;
  }
  Scan<T> scan(source, plan, pool);
  const std::span<const double> sides = request.side_quantiles;
  const std::span<const double> quantiles = request.difference_quantiles;
  if (!scan.Run({sides, sides, quantiles, quantiles})) return std::nullopt;
  PairMeasures out;
  out.a = scan.Statistics(kSideA);
  out.b = known.same ? out.a : scan.Statistics(kSideB);
  out.difference.count = source.count();
  if (known.no_differences) {
    out.difference.absolute = StatisticsOfZeros(source.count(), differences, quantiles.size());
    out.difference.relative = out.difference.absolute;
  } else {
    out.difference.absolute = scan.Statistics(kAbsolute);
    out.difference.relative = scan.Statistics(kRelative);
  }
  FillVerdict(scan, request.rule, needs_differences, out.difference);
  if (plan.products && source.count() > 0) out.products = MakeProducts(scan.totals(), out.a.max);
  if (plan.ulp) {
    out.ulp = scan.totals().ulp;
    out.ulp.applies = true;
  }
  if (plan.worst > 0) out.worst = scan.Worst();
  return out;
}

}  // namespace

template <typename T>
std::optional<PairMeasures> ScanPair(const PairSource<T>& source, const MeasureRequest& request,
                                     ThreadPool* pool) {
  const ScanPlan plan = MakePlan(source, request);
  Known known;
  known.same = plan.levels[kSideB] != StatisticsLevel::kNone && source.count() > 0 &&
               HoldSameBytes(source.a(), source.b(), pool);
  // Unless something is not finite, which only shows on the way. Zeros of integers have quotients
  // that are no numbers.
  known.no_differences =
      known.same && plan.needs_differences() && Kind(source.a().dtype) == DTypeKind::kFloat;
  std::optional<PairMeasures> out = MeasureBy(source, plan, known, request, pool);
  if (!out || !known.no_differences || (out->a.nan_count == 0 && out->a.infinite_count == 0)) {
    return out;
  }
  known.no_differences = false;
  return MeasureBy(source, plan, known, request, pool);
}

template <typename T>
std::optional<ValueStatistics> ScanValues(const PairSource<T>& source, StatisticsLevel level,
                                          std::span<const double> quantiles, ThreadPool* pool) {
  ScanPlan plan;
  plan.levels[kSideA] = level;
  plan.judges = false;
  Scan<T> scan(source, plan, pool);
  if (!scan.Run({quantiles, {}, {}, {}})) return std::nullopt;
  return scan.Statistics(kSideA);
}

template std::optional<PairMeasures> ScanPair(const PairSource<float>&, const MeasureRequest&,
                                              ThreadPool*);
template std::optional<PairMeasures> ScanPair(const PairSource<double>&, const MeasureRequest&,
                                              ThreadPool*);
template std::optional<ValueStatistics> ScanValues(const PairSource<float>&, StatisticsLevel,
                                                   std::span<const double>, ThreadPool*);
template std::optional<ValueStatistics> ScanValues(const PairSource<double>&, StatisticsLevel,
                                                   std::span<const double>, ThreadPool*);

}  // namespace vernier
