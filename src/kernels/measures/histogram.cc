#include "kernels/measures/histogram.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/elements/float_formats.h"
#include "kernels/measures/block_kernels.h"
#include "kernels/measures/block_tasks.h"
#include "kernels/measures/pair_source.h"
#include "kernels/measures/rank_sample.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

double ToSingle(double value) {
  // A conversion out of range is undefined in C++; it rounds to infinity in IEEE 754.
  constexpr double kLimit = 0x1.ffffffp127;
  if (std::fabs(value) >= kLimit) {
    return std::copysign(std::numeric_limits<double>::infinity(), value);
  }
  return static_cast<double>(static_cast<float>(value));
}

std::string RangeError(const HistogramRange& range) {
  return std::string(range.given ? "supplied" : "autodetected") + " range of [" +
         FormatFloatRepr(range.first) + ", " + FormatFloatRepr(range.last) + "] is not finite";
}

}  // namespace

HistogramBuilder::HistogramBuilder(DType dtype, HistogramRange range) : given_(range.given) {
  const Arithmetic arithmetic = NaturalArithmetic(dtype);
  precision_ = dtype == DType::kFloat16             ? Precision::kHalf
               : arithmetic == Arithmetic::kFloat32 ? Precision::kSingle
                                                    : Precision::kDouble;
  if (range.first > range.last) {
    histogram_.error = "max must be larger than min in range parameter.";
    return;
  }
  if (!std::isfinite(range.first) || !std::isfinite(range.last)) {
    histogram_.error = RangeError(range);
    return;
  }
  first_ = range.first;
  last_ = range.last;
  if (first_ == last_) {
    first_ = given_ ? first_ - 0.5 : Round(first_ - 0.5);
    last_ = given_ ? last_ + 0.5 : Round(last_ + 0.5);
  }
  rounded_first_ = Round(first_);
  rounded_last_ = Round(last_);
  MakeEdges();
}

double HistogramBuilder::Round(double value) const {
  switch (precision_) {
    case Precision::kHalf:
      return static_cast<double>(HalfToFloat(DoubleToHalf(value)));
    case Precision::kSingle:
      return ToSingle(value);
    case Precision::kDouble:
      break;
  }
  return value;
}

// np.linspace: ends given as Python floats are interpolated in float64 and then rounded, ends of
// the array's type in that type.
void HistogramBuilder::MakeEdges() {
  const auto round = [this](double value) { return given_ ? value : Round(value); };
  constexpr auto kBins = static_cast<double>(kHistogramBins);
  const double width = round(last_ - first_);
  const double step = round(width / kBins);
  auto& edges = histogram_.edges;
  for (size_t i = 0; i < kHistogramBins; ++i) {
    const auto place = static_cast<double>(i);
    const double offset = step == 0 ? round(round(place / kBins) * width) : round(place * step);
    edges[i] = Round(offset + first_);
  }
  edges[kHistogramBins] = rounded_last_;
  for (size_t i = 0; i < kHistogramBins; ++i) {
    if (edges[i] >= edges[i + 1]) {
      histogram_.error = "Too many bins for data range. Cannot create 10 finite-sized bins.";
    }
  }
  // Where the width is beyond the type's range, NumPy's quotients are nonsense.
  edges_decide_ = std::isfinite(width) && std::all_of(edges.begin(), edges.end(),
                                                      [](double e) { return std::isfinite(e); });
}

size_t HistogramBuilder::BinOf(double value) const {
  constexpr auto kBins = static_cast<double>(kHistogramBins);
  const auto& edges = histogram_.edges;
  const double offset = Round(value - rounded_first_);
  // A given range divides in float64, since its width is a float64 scalar.
  const double place = given_ ? offset / (last_ - first_) * kBins
                              : Round(Round(offset / Round(last_ - first_)) * kBins);
  size_t bin = place > 0 ? static_cast<size_t>(std::min(place, kBins - 1)) : 0;
  // The quotient may be off by one unit in the last place; the edges decide.
  if (value < edges[bin] && bin > 0) --bin;
  if (bin + 1 < kHistogramBins && value >= edges[bin + 1]) ++bin;
  return bin;
}

template <typename T>
void HistogramBuilder::Count(const T* values, size_t n) {
  if (edges_decide_) return CountByEdges(values, n);
  for (size_t i = 0; i < n; ++i) {
    const auto value = static_cast<double>(values[i]);
    if (value >= rounded_first_ && value <= rounded_last_) ++histogram_.counts[BinOf(value)];
  }
}

// The quotient is wrong by less than a bin, and then the edges decide: a value is in the bin whose
// edges it lies between. So it is enough to count what lies below each edge. NaN lies below all of
// them or none, and cancels out.
template <typename T>
void HistogramBuilder::CountByEdges(const T* values, size_t n) {
  using Key = RankKey<T>;
  const auto key_of = [this](size_t i) {
    if (i < kEnds) {
      // Both zeros are equal, and the lower key is that of -0.
      const double edge = histogram_.edges[i];
      return KeyOf(static_cast<T>(edge == 0 ? -0.0 : edge));
    }
    // The last bin is closed: what lies above it is above its end.
    return static_cast<Key>(KeyOf(static_cast<T>(rounded_last_ == 0 ? 0.0 : rounded_last_)) + 1);
  };
  for (size_t first = 0; first < below_.size(); first += kMostThresholds) {
    Thresholds<Key> thresholds;
    thresholds.count = std::min(kMostThresholds, below_.size() - first);
    for (size_t i = 0; i < thresholds.count; ++i) thresholds.keys[i] = key_of(first + i);
    VectorKernels<T>().count_below(values, n, thresholds, below_.data() + first);
  }
}

template void HistogramBuilder::Count(const float*, size_t);
template void HistogramBuilder::Count(const double*, size_t);

void HistogramBuilder::Merge(const HistogramBuilder& other) {
  for (size_t i = 0; i < below_.size(); ++i) below_[i] += other.below_[i];
  for (size_t i = 0; i < kHistogramBins; ++i) histogram_.counts[i] += other.histogram_.counts[i];
}

Histogram HistogramBuilder::histogram() const {
  Histogram out = histogram_;
  if (!ok()) return out;
  for (size_t i = 0; i < kHistogramBins; ++i) {
    const size_t end = i + 1 < kHistogramBins ? i + 1 : kEnds;
    out.counts[i] += below_[end] - below_[i];
  }
  return out;
}

namespace {

template <typename T>
Histogram CountAll(const ElementSpan& elements, const HistogramBuilder& empty, ThreadPool* pool) {
  const PairSource<T> source(elements, elements, {});
  const auto add = [&](HistogramBuilder& builder, int64_t start, size_t n) {
    T scratch[kBlockSize];
    builder.Add(source.LoadA(start, n, scratch), n);
  };
  return AddUpBlocks(elements.count, pool, empty, add).histogram();
}

}  // namespace

Histogram ComputeHistogram(const ElementSpan& elements, const HistogramRange& range,
                           ThreadPool* pool) {
  const DTypeKind kind = Kind(elements.dtype);
  if (kind == DTypeKind::kString || kind == DTypeKind::kComplex || kind == DTypeKind::kBool ||
      kind == DTypeKind::kNone) {
    return {};
  }
  const HistogramBuilder builder(elements.dtype, range);
  if (!builder.ok()) return builder.histogram();
  return NaturalArithmetic(elements.dtype) == Arithmetic::kFloat32
             ? CountAll<float>(elements, builder, pool)
             : CountAll<double>(elements, builder, pool);
}

}  // namespace vernier
