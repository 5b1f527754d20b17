#include "kernels/histogram.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/float_formats.h"
#include "util/number_text.h"

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

void HistogramBuilder::Add(const double* values, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    const bool inside = values[i] >= rounded_first_ && values[i] <= rounded_last_;
    if (inside) ++histogram_.counts[BinOf(values[i])];
  }
}

Histogram ComputeHistogram(const ElementSpan& elements, const HistogramRange& range) {
  const DTypeKind kind = Kind(elements.dtype);
  if (kind == DTypeKind::kString || kind == DTypeKind::kComplex || kind == DTypeKind::kBool ||
      kind == DTypeKind::kNone) {
    return {};
  }
  HistogramBuilder builder(elements.dtype, range);
  if (!builder.ok()) return builder.histogram();
  double scratch[kBlockSize];
  for (int64_t start = 0; start < elements.count; start += static_cast<int64_t>(kBlockSize)) {
    const auto n = static_cast<size_t>(std::min<int64_t>(kBlockSize, elements.count - start));
    builder.Add(LoadBlock(elements, start, n, scratch), n);
  }
  return builder.histogram();
}

}  // namespace vernier
