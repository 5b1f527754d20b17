#include "kernels/classes/logits.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include "kernels/classes/largest.h"
#include "kernels/classes/logit_blocks.h"
#include "kernels/classes/logit_noise.h"
#include "kernels/measures/compensated_sum.h"
#include "kernels/measures/pair_source.h"
#include "kernels/measures/quantile_rule.h"
#include "util/threads/thread_pool.h"

namespace vernier {
namespace {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();
constexpr int64_t kElementsOfTask = 65536;

size_t LogitBytes(DType dtype) { return static_cast<size_t>(BitsOf(dtype)) / 8; }

// By how much the sum of a softmax may miss 1 once its elements were rounded.
double SumSlack(DType dtype) { return LogitBytes(dtype) <= 2 ? 1e-2 : 1e-3; }

// Whether the rows of a side are what a softmax gives; those of zeros are padding.
struct RowSums {
  bool exact = true;  // all sum to 1 but for rounding
  bool near = true;   // or nearly so, as those that were quantised
  int64_t rows = 0;   // that are not 0

  bool possible() const { return exact || near; }
  void Refuse() { exact = near = false; }
  void Add(double sum, double most, double slack) {
    constexpr double kNear = 0.05;
    if (sum == 0) return;
    ++rows;
    exact = exact && std::fabs(sum - 1) <= slack;
    near = near && std::fabs(sum - 1) <= kNear && most <= 1 + kNear;
  }
  void Add(const RowSums& more) {
    exact = exact && more.exact;
    near = near && more.near;
    rows += more.rows;
  }
  bool is_softmax(int64_t classes) const {
    // Fewer rows of few logits may sum to nearly 1 by chance.
    constexpr int64_t kLeastRows = 8, kLeastClasses = 16;
    const bool many = rows >= kLeastRows || classes >= kLeastClasses;
    return rows > 0 && (exact || (near && many));
  }
};

enum class RowKind : uint8_t { kCompared, kMasked, kTorn, kNan, kInfinite };

// What a few rows add up to.
struct LogitTally {
  LogitMeasures counts;
  double squared_change = 0;  // of the probability of the top-1
  double margins = 0;
  RowSums a_sums;
  RowSums b_sums;

  void AddFlip(int64_t row, double margin, double other, double noise) {
    ++counts.flips;
    if (margin == 0 || std::max(margin, other) < kMostLogitNoise * noise) ++counts.close_flips;
    margins += margin;
    if (counts.flip_row >= 0 && !(margin > counts.flip_margin_most)) return;
    counts.flip_margin_most = margin;
    counts.flip_row = row;
  }
};

// A row of one side; gathered where its elements are scattered.
class LogitRow {
 public:
  ElementSpan Take(const ElementSpan& all, const LogitRows& rows, int64_t row) {
    const size_t size = LogitBytes(all.dtype);
    const auto classes = static_cast<size_t>(rows.classes), inner = static_cast<size_t>(rows.inner);
    const auto outer_place = static_cast<size_t>(row / rows.inner);
    const auto inner_place = static_cast<size_t>(row % rows.inner);
    const std::span<const std::byte> block =
        all.bytes.subspan(outer_place * classes * inner * size, classes * inner * size);
    if (inner == 1) return {all.dtype, block, rows.classes};
    gathered_.resize(classes * size);
    for (size_t c = 0; c < classes; ++c) {
      std::memcpy(gathered_.data() + c * size, block.data() + (c * inner + inner_place) * size,
                  size);
    }
    return {all.dtype, gathered_, rows.classes};
  }

 private:
  std::vector<std::byte> gathered_;
};

/// One thread's rows, one after the other.
template <typename T>
class LogitRowMeter {
 public:
  LogitRowMeter(const ElementSpan& a, const ElementSpan& b, const LogitRows& rows, size_t top_k)
      : a_(a), b_(b), rows_(rows), a_largest_(top_k), b_largest_(top_k) {}

  // The divergence; NaN of a row that has none.
  double Measure(int64_t row, LogitTally& tally) {
    if (NextToken(row) == kExcludedRow) {
      ++tally.counts.excluded;
      return kNoNumber;
    }
    source_.emplace(a_row_.Take(a_, rows_, row), b_row_.Take(b_, rows_, row), PairRules());
    extent_ = {};
    a_largest_.Clear();
    b_largest_.Clear();
    const RowKind kind = Survey() ? RowKind::kCompared : Examine();
    NoteSums(kind, tally);
    switch (kind) {
      case RowKind::kCompared:
        return Compare(row, tally);
      case RowKind::kTorn:
        ++tally.counts.torn;
        return std::numeric_limits<double>::infinity();
      case RowKind::kMasked:
        ++tally.counts.masked;
        break;
      case RowKind::kNan:
        ++tally.counts.nan;
        break;
      case RowKind::kInfinite:
        ++tally.counts.infinite;
        break;
    }
    return kNoNumber;
  }

 private:
  // Calls `look(block, start)` for each block of the row, until it gives false.
  template <typename Look>
  bool EachBlock(Look look) {
    constexpr auto kBlock = static_cast<int64_t>(kBlockSize);
    for (int64_t start = 0; start < rows_.classes; start += kBlock) {
      const auto n = static_cast<size_t>(std::min(kBlock, rows_.classes - start));
      const BlockPair<T> block = {source_->LoadA(start, n, a_scratch_),
                                  source_->LoadB(start, n, b_scratch_), n};
      if (!look(block, start)) return false;
    }
    return true;
  }

  // Extrema and largest elements; false where an element is not finite, or the difference of two.
  bool Survey() {
    return EachBlock([&](const BlockPair<T>& block, int64_t start) {
      LogitExtent found;
      kernels_.extend(block, found);
      if (!std::isfinite(found.difference)) return false;
      a_largest_.Offer(block.a, block.count, start, found.a_most);
      b_largest_.Offer(block.b, block.count, start, found.b_most);
      extent_.a_least = std::min(extent_.a_least, found.a_least);
      extent_.a_most = std::max(extent_.a_most, found.a_most);
      extent_.b_least = std::min(extent_.b_least, found.b_least);
      extent_.b_most = std::max(extent_.b_most, found.b_most);
      extent_.difference = std::max(extent_.difference, found.difference);
      return true;
    });
  }

  // The same element by element, of classes that are not masked.
  RowKind Examine() {
    constexpr double kMost = std::numeric_limits<double>::infinity();
    extent_ = {};
    a_largest_.Clear();
    b_largest_.Clear();
    bool nan = false, infinite = false, torn = false;
    EachBlock([&](const BlockPair<T>& block, int64_t start) {
      for (size_t i = 0; i < block.count; ++i) {
        const auto a = static_cast<double>(block.a[i]), b = static_cast<double>(block.b[i]);
        nan = nan || a != a || b != b;
        infinite = infinite || a == kMost || b == kMost;
        torn = torn || (a == -kMost) != (b == -kMost);
        extent_.a_most = std::max(extent_.a_most, a);
        extent_.b_most = std::max(extent_.b_most, b);
        if (a != b) extent_.difference = std::max(extent_.difference, std::fabs(a - b));
      }
      if (nan || infinite || torn) return true;
      a_largest_.Offer(block.a, block.count, start, kMost);
      b_largest_.Offer(block.b, block.count, start, kMost);
      return true;
    });
    if (nan) return RowKind::kNan;
    if (infinite) return RowKind::kInfinite;
    if (torn) return RowKind::kTorn;
    extent_.a_least = extent_.b_least = -kMost;
    return extent_.a_most == -kMost ? RowKind::kMasked : RowKind::kCompared;
  }

  void NoteSums(RowKind kind, LogitTally& tally) {
    const bool finite = kind == RowKind::kCompared;
    const bool a = tally.a_sums.possible() && finite && extent_.a_least >= 0;
    const bool b = tally.b_sums.possible() && finite && extent_.b_least >= 0;
    if (!a) tally.a_sums.Refuse();
    if (!b) tally.b_sums.Refuse();
    if (!a && !b) return;
    double a_sum = 0, b_sum = 0;
    EachBlock([&](const BlockPair<T>& block, int64_t) {
      a_sum = std::accumulate(block.a, block.a + block.count, a_sum);
      b_sum = std::accumulate(block.b, block.b + block.count, b_sum);
      return true;
    });
    if (a) tally.a_sums.Add(a_sum, extent_.a_most, SumSlack(a_.dtype));
    if (b) tally.b_sums.Add(b_sum, extent_.b_most, SumSlack(b_.dtype));
  }

  int64_t NextToken(int64_t row) const {
    return rows_.next.empty() ? kNoToken : rows_.next[static_cast<size_t>(row)];
  }

  // `log_ratio`: see Compare().
  void AddToken(int64_t token, double weight, double log_ratio, TokenLosses& tokens) {
    if (token < 0) return;
    const double a = A(token) - extent_.a_most, b = B(token) - extent_.b_most;
    // Where it is compared, -inf is on both sides.
    if (std::isinf(a)) {
      tokens.AddImpossible();
    } else {
      tokens.Add(std::log(weight) - a, a - b + log_ratio);
    }
  }

  double A(int64_t place) { return static_cast<double>(*source_->LoadA(place, 1, a_scratch_)); }
  double B(int64_t place) { return static_cast<double>(*source_->LoadB(place, 1, b_scratch_)); }

  double NoiseWithout(int64_t one, int64_t other) {
    LogitNoise noise(std::exp2(std::ilogb(extent_.difference)), extent_.a_most);
    EachBlock([&](const BlockPair<T>& block, int64_t start) {
      for (size_t i = 0; i < block.count; ++i) {
        const int64_t place = start + static_cast<int64_t>(i);
        const auto a = static_cast<double>(block.a[i]), b = static_cast<double>(block.b[i]);
        if (std::isfinite(a)) noise.Add(a, b, place == one || place == other);
      }
      return true;
    });
    return noise.rms();
  }

  double Compare(int64_t row, LogitTally& tally) {
    LogitSums sums;
    const auto add = extent_.difference <= kNearLogits ? kernels_.add_near : kernels_.add;
    EachBlock([&](const BlockPair<T>& block, int64_t) {
      add(block, extent_.a_most, extent_.b_most, sums);
      return true;
    });
    const double weight = TotalOfLanes(sums.weight);
    const double excess = TotalOfLanes(sums.excess);
    const int64_t a_top = a_largest_.place(), b_top = b_largest_.place();
    // ln(sum e^y / sum e^x)
    const double log_ratio = std::log1p(excess / weight);
    const double change = std::expm1(B(a_top) - extent_.b_most - log_ratio) / weight;
    tally.squared_change += change * change;
    ++tally.counts.compared;
    if (extent_.a_least == extent_.a_most && extent_.b_least == extent_.b_most) ++tally.counts.flat;
    AddToken(NextToken(row), weight, log_ratio, tally.counts.tokens);
    if (a_top == b_top) {
      ++tally.counts.equal_top1;
    } else {
      tally.AddFlip(row, A(a_top) - A(b_top), B(b_top) - B(a_top), NoiseWithout(a_top, b_top));
    }
    if (a_largest_.HasPlacesOf(b_largest_)) ++tally.counts.equal_sets;
    // Rounding may make less than nothing of what is 0.
    return std::max(0.0, TotalOfLanes(sums.tilt) / weight + log_ratio);
  }

  const ElementSpan& a_;
  const ElementSpan& b_;
  const LogitRows& rows_;
  const LogitKernels<T>& kernels_ = VectorLogitKernels<T>();
  LogitRow a_row_, b_row_;
  std::optional<PairSource<T>> source_;
  LogitExtent extent_;
  Largest a_largest_, b_largest_;
  alignas(64) T a_scratch_[kBlockSize] = {};
  alignas(64) T b_scratch_[kBlockSize] = {};
};

// In the order of the rows, so that the bits do not depend on who counted them.
void MergeTally(const LogitTally& more, LogitTally& into) {
  LogitMeasures& counts = into.counts;
  counts.tokens.Append(more.counts.tokens);
  counts.excluded += more.counts.excluded;
  counts.masked += more.counts.masked;
  counts.nan += more.counts.nan;
  counts.infinite += more.counts.infinite;
  counts.torn += more.counts.torn;
  counts.compared += more.counts.compared;
  counts.flat += more.counts.flat;
  counts.equal_top1 += more.counts.equal_top1;
  counts.equal_sets += more.counts.equal_sets;
  counts.flips += more.counts.flips;
  counts.close_flips += more.counts.close_flips;
  into.squared_change += more.squared_change;
  into.margins += more.margins;
  into.a_sums.Add(more.a_sums);
  into.b_sums.Add(more.b_sums);
  const bool farther =
      more.counts.flip_row >= 0 &&
      (counts.flip_row < 0 || more.counts.flip_margin_most > counts.flip_margin_most);
  if (!farther) return;
  counts.flip_margin_most = more.counts.flip_margin_most;
  counts.flip_row = more.counts.flip_row;
}

double LogitQuantile(const std::vector<double>& sorted, double quantile) {
  const RankPosition at = Locate(static_cast<int64_t>(sorted.size()), quantile);
  const double previous = sorted[static_cast<size_t>(at.previous)];
  const double next = sorted[static_cast<size_t>(at.next)];
  if (previous == next || at.fraction == 0) return previous;
  return std::isinf(next) ? next : Interpolate(previous, next, at.fraction);
}

// Of each row, NaN where it has none.
void SummarizeDivergences(std::vector<double> divergences, LogitMeasures& out) {
  for (size_t row = 0; row < divergences.size(); ++row) {
    if (divergences[row] != divergences[row]) continue;
    if (out.worst_row >= 0 && !(divergences[row] > out.divergence_most)) continue;
    out.divergence_most = divergences[row];
    out.worst_row = static_cast<int64_t>(row);
  }
  std::erase_if(divergences, [](double value) { return value != value; });
  out.divergence_quantiles.fill(kNoNumber);
  if (divergences.empty()) return;
  const auto count = static_cast<double>(divergences.size());
  CompensatedSum sum, squares;
  for (const double value : divergences) sum.Add(value);
  out.divergence_mean = sum.value() / count;
  for (const double value : divergences) {
    const double apart = value - out.divergence_mean;
    squares.Add(apart * apart);
  }
  if (divergences.size() > 1 && std::isfinite(out.divergence_mean)) {
    out.divergence_error = std::sqrt(squares.value() / (count - 1) / count);
  }
  std::sort(divergences.begin(), divergences.end());
  for (size_t i = 0; i < kLogitQuantiles.size(); ++i) {
    out.divergence_quantiles[i] = LogitQuantile(divergences, kLogitQuantiles[i]);
  }
}

LogitMeasures Summarize(LogitTally total, std::vector<double> divergences, int64_t classes) {
  LogitMeasures out = total.counts;
  const bool any = out.compared > 0;
  if (any) {
    out.top_probability_rms = std::sqrt(total.squared_change / static_cast<double>(out.compared));
  }
  if (out.flips > 0) out.flip_margin_mean = total.margins / static_cast<double>(out.flips);
  out.positions = static_cast<int64_t>(divergences.size());
  out.a_is_softmax = any && total.a_sums.is_softmax(classes);
  out.b_is_softmax = any && total.b_sums.is_softmax(classes);
  SummarizeDivergences(std::move(divergences), out);
  return out;
}

template <typename T>
LogitMeasures MeasureRows(const ElementSpan& a, const ElementSpan& b, const LogitRows& rows,
                          size_t top_k, ThreadPool* pool) {
  const int64_t at_once = std::max<int64_t>(1, kElementsOfTask / rows.classes);
  const auto tasks = static_cast<size_t>((rows.count() + at_once - 1) / at_once);
  std::vector<double> divergences(static_cast<size_t>(rows.count()));
  std::vector<LogitTally> tallies(tasks);
  std::vector<LogitRowMeter<T>> meters(pool == nullptr ? 1 : pool->thread_count(),
                                       LogitRowMeter<T>(a, b, rows, top_k));
  const auto measure = [&](size_t task, size_t thread) {
    const int64_t first = static_cast<int64_t>(task) * at_once;
    const int64_t end = std::min(first + at_once, rows.count());
    for (int64_t row = first; row < end; ++row) {
      divergences[static_cast<size_t>(row)] = meters[thread].Measure(row, tallies[task]);
    }
  };
  if (pool != nullptr) {
    pool->Run(tasks, measure);
  } else {
    for (size_t task = 0; task < tasks; ++task) measure(task, 0);
  }
  LogitTally total;
  for (const LogitTally& tally : tallies) MergeTally(tally, total);
  total.counts.top_k = static_cast<int64_t>(top_k);
  return Summarize(std::move(total), std::move(divergences), rows.classes);
}

}  // namespace

LogitMeasures MeasureLogits(const ElementSpan& a, const ElementSpan& b, const LogitRows& rows,
                            int64_t top_k, ThreadPool* pool) {
  const auto k = static_cast<size_t>(std::min(top_k, rows.classes));
  const bool wide = a.dtype == DType::kFloat64 || b.dtype == DType::kFloat64;
  return wide ? MeasureRows<double>(a, b, rows, k, pool) : MeasureRows<float>(a, b, rows, k, pool);
}

}  // namespace vernier
