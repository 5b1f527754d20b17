#include "kernels/measures/code_scan.h"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <memory>

#include "kernels/measures/chunk_scanner.h"
#include "kernels/measures/code_blocks.h"
#include "kernels/measures/rank_sample.h"
#include "kernels/measures/tolerance_limit.h"
#include "kernels/measures/weighted_series.h"
#include "util/threads/thread_pool.h"

namespace vernier {
namespace {

// Fewer are not worth a second thread's tables.
constexpr int64_t kCodeChunksAlone = 3;

// What is looked for in the arrays once the counts are known: bits of a set for each pair.
enum Target : size_t { kFirstNan, kFirstInfinite, kArgmin, kArgmax, kSeriesTargets };
constexpr size_t kMismatch = size_t{kSeriesTargets} * size_t{kSeriesCount};
constexpr size_t kTargets = kMismatch + 1;

template <typename T>
class CodeScan {
 public:
  CodeScan(const PairSource<T>& source, const MeasureRequest& request, ThreadPool* pool)
      : source_(source), request_(request), pool_(pool), flags_(kCodePairs) {
    places_.fill(-1);
  }

  PairMeasures Run() {
    CountPairs();
    PairMeasures out = Describe();
    FindPlaces();
    Complete(out);
    if (request_.worst > 0) out.worst = Worst();
    return out;
  }

  Result<PairMeasures> RunElsewhere(CodeArrays& arrays) {
    VERNIER_ASSIGN_OR_RETURN(const std::vector<int64_t> counts, arrays.CountPairs());
    for (size_t pair = 0; pair < kCodePairs; ++pair) KeepPair(pair, counts[pair]);
    PairMeasures out = Describe();
    if (wanted_ != 0) {
      VERNIER_ASSIGN_OR_RETURN(const auto places, arrays.FindFirst(flags_, wanted_));
      std::copy_n(places.begin(), kTargets, places_.begin());
    }
    Complete(out);
    return out;
  }

 private:
  // What follows from the counts.
  PairMeasures Describe() {
    ValuePairs();
    PairMeasures out;
    out.difference.count = source_.count();
    ValueStatistics* const statistics[] = {&out.a, &out.b, &out.difference.absolute,
                                           &out.difference.relative};
    for (size_t i = 0; i < kSeriesCount; ++i) *statistics[i] = Describe(i);
    Judge(out.difference);
    return out;
  }

  void Complete(PairMeasures& out) const {
    ValueStatistics* const statistics[] = {&out.a, &out.b, &out.difference.absolute,
                                           &out.difference.relative};
    for (size_t i = 0; i < kSeriesCount; ++i) Place(i, *statistics[i]);
    out.difference.first_mismatch = places_[kMismatch];
    if (request_.products) out.products = Products(out.a.max);
  }

  void KeepPair(size_t pair, int64_t weight) {
    if (weight == 0) return;
    codes_.push_back(static_cast<uint16_t>(pair));
    weights_.push_back(weight);
  }

  StatisticsLevel LevelOf(size_t series) const {
    if (series >= kAbsolute) return std::max(request_.differences, StatisticsLevel::kMoments);
    const bool for_products = series == kSideA && request_.products;
    return for_products ? std::max(request_.sides, StatisticsLevel::kMoments) : request_.sides;
  }

  void CountPairs();
  void TakeGroup(const std::vector<CodeCounts>& counts, size_t first);
  void ValuePairs();
  ValueStatistics Describe(size_t series);
  void Judge(DifferenceSummary& out);
  void FindPlaces();
  void Place(size_t series, ValueStatistics& out) const;
  ProductSums Products(double a_max) const;
  std::vector<WorstElement> RankPairs() const;
  std::vector<WorstElement> Worst() const;
  std::vector<WorstElement> CollectWorst(const std::vector<WorstElement>& pairs,
                                         const std::vector<int32_t>& of_code, int64_t total) const;

  const PairSource<T>& source_;
  const MeasureRequest& request_;
  ThreadPool* pool_;
  // Of the pairs that occur:
  std::vector<uint16_t> codes_;
  std::vector<int64_t> weights_;
  std::array<std::vector<T>, kSeriesCount> values_;
  // Of all pairs:
  std::vector<uint32_t> flags_;
  uint32_t wanted_ = 0;
  std::array<int64_t, kTargets> places_;
};

template <typename T>
void CodeScan<T>::CountPairs() {
  const int64_t chunks = (source_.count() + kCodeChunk - 1) / kCodeChunk;
  if (chunks <= kCodeChunksAlone) pool_ = nullptr;
  const size_t threads = pool_ == nullptr ? 1 : pool_->thread_count();
  std::vector<CodeCounts> counts(threads);
  RunTasks(pool_, static_cast<size_t>(chunks), [&](size_t chunk, size_t thread) {
    ForEachCodeBlock(source_.a(), source_.b(), static_cast<int64_t>(chunk),
                     [&](int64_t, const uint8_t* a, const uint8_t* b, size_t n) {
                       counts[thread].Add(a, b, n);
                       return true;
                     });
  });
  for (size_t first = 0; first < kCodePairs; first += kPairGroup) {
    const bool any = std::any_of(counts.begin(), counts.end(),
                                 [first](const CodeCounts& some) { return some.AnyIn(first); });
    if (any) TakeGroup(counts, first);
  }
}

template <typename T>
void CodeScan<T>::TakeGroup(const std::vector<CodeCounts>& counts, size_t first) {
  for (size_t pair = first; pair < first + kPairGroup; ++pair) {
    int64_t weight = 0;
    for (const CodeCounts& some : counts) weight += some.CountOf(pair);
    KeepPair(pair, weight);
  }
}

// The bytes of one side of the pairs, stored as its dtype is.
std::vector<std::byte> PackCodes(DType dtype, const std::vector<uint16_t>& codes, int shift) {
  std::vector<std::byte> out(codes.size());
  for (size_t i = 0; i < codes.size(); ++i) {
    const auto code = static_cast<std::byte>(codes[i] >> shift);
    if (BitsOf(dtype) == 8) {
      out[i] = code;
    } else {
      out[i / 2] |= code << (4 * (i % 2));
    }
  }
  return out;
}

template <typename T>
void CodeScan<T>::ValuePairs() {
  const std::vector<std::byte> a_bytes = PackCodes(source_.a().dtype, codes_, 8);
  const std::vector<std::byte> b_bytes = PackCodes(source_.b().dtype, codes_, 0);
  const auto count = static_cast<int64_t>(codes_.size());
  const PairSource<T> pairs({source_.a().dtype, a_bytes, count},
                            {source_.b().dtype, b_bytes, count}, source_.rules());
  for (auto& values : values_) values.resize(codes_.size());
  for (size_t start = 0; start < codes_.size(); start += kBlockSize) {
    const size_t n = std::min(kBlockSize, codes_.size() - start);
    T* const a = values_[kSideA].data() + start;
    T* const b = values_[kSideB].data() + start;
    pairs.LoadA(static_cast<int64_t>(start), n, a);
    pairs.LoadB(static_cast<int64_t>(start), n, b);
    pairs.Differences({a, b, n}, values_[kAbsolute].data() + start,
                      values_[kRelative].data() + start);
  }
}

template <typename T>
ValueStatistics CodeScan<T>::Describe(size_t series) {
  const bool sides = series < kAbsolute;
  const ValueStatistics out =
      WeightedSeries<T>(values_[series], weights_)
          .Statistics(LevelOf(series),
                      sides ? request_.side_quantiles : request_.difference_quantiles);
  if (LevelOf(series) == StatisticsLevel::kNone) return out;
  const auto flag = [&](Target target, auto test) {
    const uint32_t bit = uint32_t{1} << (series * kSeriesTargets + target);
    for (size_t i = 0; i < codes_.size(); ++i) {
      if (!test(static_cast<double>(values_[series][i]))) continue;
      flags_[codes_[i]] |= bit;
      wanted_ |= bit;
    }
  };
  if (out.nan_count > 0) flag(kFirstNan, [](double v) { return v != v; });
  if (out.infinite_count > 0) flag(kFirstInfinite, [](double v) { return std::isinf(v); });
  if (out.nan_count == 0) {
    flag(kArgmin, [&](double v) { return v == out.min; });
    flag(kArgmax, [&](double v) { return v == out.max; });
  }
  return out;
}

template <typename T>
void CodeScan<T>::Judge(DifferenceSummary& out) {
  const OutsideBounds<T> bounds = MakeOutsideBounds<T>(request_.rule);
  const Limit<T> absolute_limit(request_.rule.atol);
  const Limit<T> relative_limit(request_.rule.rtol);
  const bool replaces = source_.rules().zeros == ZeroRule::kReplace;
  for (size_t i = 0; i < codes_.size(); ++i) {
    const T absolute = values_[kAbsolute][i];
    const T relative = values_[kRelative][i];
    if (replaces && values_[kSideB][i] == 0) out.zeros_in_b += weights_[i];
    if (absolute <= bounds.absolute || relative <= bounds.relative) continue;
    out.mismatches += weights_[i];
    out.worst_ratio = std::max(
        out.worst_ratio, std::min(absolute_limit.Ratio(absolute), relative_limit.Ratio(relative)));
    flags_[codes_[i]] |= uint32_t{1} << kMismatch;
    wanted_ |= uint32_t{1} << kMismatch;
  }
  if (out.mismatches == 0) {
    out.worst_ratio = PassingRatio(out.absolute.max, out.relative.max, request_.rule);
  }
}

// The first place of each flag. Chunks are searched in waves, so that one early place ends it.
template <typename T>
void CodeScan<T>::FindPlaces() {
  const int64_t chunks = (source_.count() + kCodeChunk - 1) / kCodeChunk;
  const int64_t wave = pool_ == nullptr ? 1 : 2 * static_cast<int64_t>(pool_->thread_count());
  std::vector<std::array<int64_t, kTargets>> found(static_cast<size_t>(wave));
  for (int64_t first = 0; first < chunks && wanted_ != 0; first += wave) {
    const auto size = static_cast<size_t>(std::min(wave, chunks - first));
    RunTasks(pool_, size, [&](size_t task, size_t) {
      std::array<int64_t, kTargets>& places = found[task];
      places.fill(-1);
      uint32_t open = wanted_;
      const auto search = [&](int64_t start, const uint8_t* a, const uint8_t* b, size_t n) {
        for (size_t i = 0; i < n; ++i) {
          uint32_t hits = flags_[PairOf(a[i], b[i])] & open;
          open &= ~hits;
          for (; hits != 0; hits &= hits - 1) {
            places[static_cast<size_t>(std::countr_zero(hits))] = start + static_cast<int64_t>(i);
          }
        }
        return open != 0;
      };
      ForEachCodeBlock(source_.a(), source_.b(), first + static_cast<int64_t>(task), search);
    });
    for (size_t task = 0; task < size; ++task) {
      for (size_t target = 0; target < kTargets; ++target) {
        if (places_[target] < 0) places_[target] = found[task][target];
        if (places_[target] >= 0) wanted_ &= ~(uint32_t{1} << target);
      }
    }
  }
}

template <typename T>
void CodeScan<T>::Place(size_t series, ValueStatistics& out) const {
  if (LevelOf(series) == StatisticsLevel::kNone) return;
  const int64_t* places = places_.data() + series * kSeriesTargets;
  out.first_nan = places[kFirstNan];
  out.first_infinite = places[kFirstInfinite];
  out.argmin = out.nan_count > 0 ? out.first_nan : places[kArgmin];
  out.argmax = out.nan_count > 0 ? out.first_nan : places[kArgmax];
}

template <typename T>
ProductSums CodeScan<T>::Products(double a_max) const {
  CompensatedSum dot;
  CompensatedSum a_squared;
  CompensatedSum b_squared;
  CompensatedSum difference_squared;
  for (size_t i = 0; i < codes_.size(); ++i) {
    const auto a = static_cast<double>(values_[kSideA][i]);
    const auto b = static_cast<double>(values_[kSideB][i]);
    const auto difference = static_cast<double>(values_[kSideA][i] - values_[kSideB][i]);
    const auto times = static_cast<double>(weights_[i]);
    dot.Add(a * b * times);
    a_squared.Add(a * a * times);
    b_squared.Add(b * b * times);
    difference_squared.Add(difference * difference * times);
  }
  return {dot.value(), a_squared.value(), b_squared.value(), difference_squared.value(), a_max};
}

// The pairs that differ, the worst first; `place`: index among the pairs.
template <typename T>
std::vector<WorstElement> CodeScan<T>::RankPairs() const {
  const Limit<T> absolute_limit(request_.rule.atol);
  const Limit<T> relative_limit(request_.rule.rtol);
  std::vector<WorstElement> pairs;
  for (size_t i = 0; i < codes_.size(); ++i) {
    if (values_[kAbsolute][i] == 0) continue;
    WorstElement element;
    element.place = static_cast<int64_t>(i);
    element.absolute = static_cast<double>(values_[kAbsolute][i]);
    element.relative = static_cast<double>(values_[kRelative][i]);
    element.ratio = std::min(absolute_limit.Ratio(values_[kAbsolute][i]),
                             relative_limit.Ratio(values_[kRelative][i]));
    pairs.push_back(element);
  }
  std::sort(pairs.begin(), pairs.end(), IsWorse);
  return pairs;
}

// Pairs in order of badness until enough elements are among them; then the elements, of which only
// the first are wanted from the last pairs taken, which are equally bad.
template <typename T>
std::vector<WorstElement> CodeScan<T>::Worst() const {
  const std::vector<WorstElement> pairs = RankPairs();
  std::vector<int32_t> of_code(kCodePairs, -1);
  int64_t total = 0;
  const auto equally_bad = [](WorstElement x, WorstElement y) {
    x.place = y.place = 0;
    return !IsWorse(x, y) && !IsWorse(y, x);
  };
  const auto limit = static_cast<int64_t>(request_.worst);
  for (size_t taken = 0; taken < pairs.size(); ++taken) {
    if (total >= limit && !equally_bad(pairs[taken], pairs[taken - 1])) break;
    const auto pair = static_cast<size_t>(pairs[taken].place);
    of_code[codes_[pair]] = static_cast<int32_t>(taken);
    total += weights_[pair];
  }
  return CollectWorst(pairs, of_code, total);
}

// The `total` elements whose pairs were taken, as far as they are wanted. `of_code`: which of
// `pairs` a code is; -1: not taken.
template <typename T>
std::vector<WorstElement> CodeScan<T>::CollectWorst(const std::vector<WorstElement>& pairs,
                                                    const std::vector<int32_t>& of_code,
                                                    int64_t total) const {
  std::vector<WorstElement> out;
  int64_t seen = 0;
  const size_t most = request_.worst * 2;
  const auto collect = [&](int64_t start, const uint8_t* a, const uint8_t* b, size_t n) {
    for (size_t i = 0; i < n; ++i) {
      const int32_t pair = of_code[PairOf(a[i], b[i])];
      if (pair < 0) continue;
      ++seen;
      out.push_back(pairs[static_cast<size_t>(pair)]);
      out.back().place = start + static_cast<int64_t>(i);
      if (out.size() <= most) continue;
      std::sort(out.begin(), out.end(), IsWorse);
      out.resize(request_.worst);
    }
    return seen < total;
  };
  for (int64_t chunk = 0; seen < total; ++chunk) {
    ForEachCodeBlock(source_.a(), source_.b(), chunk, collect);
  }
  std::sort(out.begin(), out.end(), IsWorse);
  out.resize(std::min(out.size(), request_.worst));
  return out;
}

}  // namespace

bool SuitsCodeScan(const ElementSpan& a, const ElementSpan& b) {
  const auto is_small = [](DType dtype) { return BitsOf(dtype) >= 4 && BitsOf(dtype) <= 8; };
  constexpr int64_t kWorthCounting = int64_t{1} << 13;
  return is_small(a.dtype) && is_small(b.dtype) && a.count >= kWorthCounting &&
         a.count < (int64_t{1} << 32);
}

template <typename T>
PairMeasures ScanCodes(const PairSource<T>& source, const MeasureRequest& request,
                       ThreadPool* pool) {
  return CodeScan<T>(source, request, pool).Run();
}

template <typename T>
Result<PairMeasures> ScanCodesElsewhere(CodeArrays& arrays, const PairSource<T>& source,
                                        const MeasureRequest& request) {
  return CodeScan<T>(source, request, nullptr).RunElsewhere(arrays);
}

template Result<PairMeasures> ScanCodesElsewhere(CodeArrays&, const PairSource<float>&,
                                                 const MeasureRequest&);
template Result<PairMeasures> ScanCodesElsewhere(CodeArrays&, const PairSource<double>&,
                                                 const MeasureRequest&);
template PairMeasures ScanCodes(const PairSource<float>&, const MeasureRequest&, ThreadPool*);
template PairMeasures ScanCodes(const PairSource<double>&, const MeasureRequest&, ThreadPool*);

}  // namespace vernier
