#include "kernels/pair_measures.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <string>
#include <tuple>

#include "kernels/compensated_sum.h"
#include "kernels/difference_dispatch.h"
#include "kernels/tolerance_limit.h"

namespace vernier {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

void KeepLevel(ValueStatistics& statistics, StatisticsLevel level) {
  if (level == StatisticsLevel::kRanks) return;
  statistics.quantiles.clear();
  statistics.median = statistics.count == 0 ? 0 : kNan;
  if (level == StatisticsLevel::kMoments) return;
  ValueStatistics none;
  none.count = statistics.count;
  statistics = none;
}

// Integers that keep the order of the numbers: -0 and 0 are one, and neighbours differ by 1.
template <typename Bits>
auto LinearOrder(Bits bits) {
  using Signed = std::make_signed_t<Bits>;
  constexpr Bits kMagnitude = static_cast<Bits>(~Bits{0}) >> 1;
  const auto magnitude = static_cast<Signed>(bits & kMagnitude);
  return static_cast<Signed>(bits > kMagnitude ? -magnitude : magnitude);
}

void AddUlp(UlpDistances& out, int64_t place, uint64_t distance) {
  ++out.measured;
  if (distance != 0) ++out.different;
  if (out.place_of_max >= 0 && distance <= out.max) return;
  out.max = distance;
  out.place_of_max = place;
}

template <typename Bits>
Bits BitsAt(const ElementSpan& elements, int64_t place) {
  Bits bits;
  std::memcpy(&bits, elements.bytes.data() + static_cast<size_t>(place) * sizeof(Bits),
              sizeof(Bits));
  return bits;
}

bool IsNanAt(const ElementSpan& elements, int64_t place) {
  double scratch;
  return std::isnan(*LoadBlock(elements, place, 1, &scratch));
}

template <typename Bits>
UlpDistances UlpOf(const ElementSpan& a, const ElementSpan& b) {
  UlpDistances out;
  out.applies = true;
  for (int64_t place = 0; place < a.count; ++place) {
    if (IsNanAt(a, place) || IsNanAt(b, place)) continue;
    const auto x = static_cast<int64_t>(LinearOrder(BitsAt<Bits>(a, place)));
    const auto y = static_cast<int64_t>(LinearOrder(BitsAt<Bits>(b, place)));
    const auto high = static_cast<uint64_t>(std::max(x, y));
    AddUlp(out, place, high - static_cast<uint64_t>(std::min(x, y)));
  }
  return out;
}

UlpDistances UlpOfNibbles(const ElementSpan& a, const ElementSpan& b) {
  UlpDistances out;
  out.applies = true;
  const auto order = [](const ElementSpan& elements, int64_t place) {
    const auto byte = std::to_integer<int>(elements.bytes[static_cast<size_t>(place / 2)]);
    const int bits = (byte >> (4 * (place % 2))) & 0xf;
    return bits > 7 ? 8 - bits : bits;
  };
  for (int64_t place = 0; place < a.count; ++place) {
    AddUlp(out, place, static_cast<uint64_t>(std::abs(order(a, place) - order(b, place))));
  }
  return out;
}

UlpDistances MeasureUlp(const ElementSpan& a, const ElementSpan& b) {
  if (a.dtype != b.dtype || Kind(a.dtype) != DTypeKind::kFloat) return {};
  switch (BitsOf(a.dtype)) {
    case 4:
      return UlpOfNibbles(a, b);
    case 8:
      return UlpOf<uint8_t>(a, b);
    case 16:
      return UlpOf<uint16_t>(a, b);
    case 32:
      return UlpOf<uint32_t>(a, b);
    default:
      return UlpOf<uint64_t>(a, b);
  }
}

double NumberAt(const ElementSpan& elements, int64_t place) {
  if (Kind(elements.dtype) == DTypeKind::kString) return 0;
  if (Kind(elements.dtype) == DTypeKind::kComplex) {
    std::complex<double> scratch;
    return std::abs(*LoadBlock(elements, place, 1, &scratch));
  }
  double scratch;
  return *LoadBlock(elements, place, 1, &scratch);
}

// Smaller is worse.
auto BadnessKey(const WorstElement& element) {
  const bool is_nan = std::isnan(element.absolute);
  return std::make_tuple(!is_nan, -element.ratio, is_nan ? 0 : -element.absolute, element.place);
}

template <typename Reader>
std::vector<WorstElement> FindWorst(Reader& reader, int64_t count, const MeasureRequest& request) {
  const auto worse = [](const WorstElement& x, const WorstElement& y) {
    return BadnessKey(x) < BadnessKey(y);
  };
  const MismatchTest<Reader> test(request.rule);
  std::vector<WorstElement> heap;  // its front is the least bad
  ForEachBlock(reader, count,
               [&](int64_t start, size_t n, const auto* absolute, const auto* relative, int64_t) {
                 for (size_t i = 0; i < n; ++i) {
                   if (absolute[i] == 0) continue;
                   WorstElement element;
                   element.place = start + static_cast<int64_t>(i);
                   element.absolute = static_cast<double>(absolute[i]);
                   element.relative = static_cast<double>(relative[i]);
                   element.ratio = test.Ratio(absolute[i], relative[i]);
                   if (heap.size() == request.worst) {
                     if (!worse(element, heap.front())) continue;
                     std::pop_heap(heap.begin(), heap.end(), worse);
                     heap.pop_back();
                   }
                   heap.push_back(element);
                   std::push_heap(heap.begin(), heap.end(), worse);
                 }
               });
  std::sort_heap(heap.begin(), heap.end(), worse);
  return heap;
}

std::vector<WorstElement> MeasureWorst(const ElementSpan& a, const ElementSpan& b,
                                       const MeasureRequest& request) {
  std::vector<WorstElement> worst =
      WithReader(a, b, request.rule.infinities_equal,
                 [&](auto& reader) { return FindWorst(reader, a.count, request); });
  for (WorstElement& element : worst) {
    element.a = NumberAt(a, element.place);
    element.b = NumberAt(b, element.place);
  }
  return worst;
}

}  // namespace

Result<PairMeasures> MeasurePair(const ElementSpan& a, const ElementSpan& b,
                                 const MeasureRequest& request, ThreadPool*) {
  PairMeasures out;
  const bool ranks = request.differences == StatisticsLevel::kRanks;
  VERNIER_ASSIGN_OR_RETURN(out.difference,
                           SummariseDifferences(a, b, request.rule,
                                                ranks ? std::span(request.difference_quantiles)
                                                      : std::span<const double>()));
  KeepLevel(out.difference.absolute, request.differences);
  KeepLevel(out.difference.relative, request.differences);
  out.a = MeasureValues(a, request.sides, request.side_quantiles);
  out.b = MeasureValues(b, request.sides, request.side_quantiles);
  if (request.products) {
    VERNIER_ASSIGN_OR_RETURN(out.products, ComputeProductSums(a, b));
  }
  if (request.ulp) out.ulp = MeasureUlp(a, b);
  if (request.worst > 0) out.worst = MeasureWorst(a, b, request);
  return out;
}

ValueStatistics MeasureValues(const ElementSpan& elements, StatisticsLevel level,
                              std::span<const double> quantiles, ThreadPool*) {
  ValueStatistics out;
  out.count = elements.count;
  if (level == StatisticsLevel::kNone) return out;
  const bool ranks = level == StatisticsLevel::kRanks;
  out = ComputeStatistics(elements, ranks ? quantiles : std::span<const double>());
  KeepLevel(out, level);
  return out;
}

PairMetrics MakePairMetrics(const ProductSums& sums, int64_t count) {
  PairMetrics out;
  const auto n = static_cast<double>(count);
  const double noise = sums.difference_squared / n;
  const double signal = sums.a_squared / n;
  out.l2 = std::sqrt(sums.difference_squared);
  out.rmse = std::sqrt(noise);
  const double norm_a = std::sqrt(sums.a_squared);
  const double norm_b = std::sqrt(sums.b_squared);
  if (norm_a == 0 || norm_b == 0) {
    out.cosine = norm_a == norm_b ? 1 : 0;
  } else {
    const double cosine = sums.dot / (norm_a * norm_b);
    out.cosine = std::isnan(cosine) ? cosine : std::clamp(cosine, -1.0, 1.0);
  }
  const double peak = sums.a_max <= 0 ? 1.0 : sums.a_max;
  out.psnr = noise == 0 ? kInfinity : 20 * std::log10(peak) - 10 * std::log10(noise);
  out.snr = noise == 0 ? kInfinity : 10 * std::log10(signal / noise);
  return out;
}

Result<Divergence> MeasureDivergence(const ElementSpan& a, const ElementSpan& b) {
  VERNIER_TRY(CheckTypes(a, b));
  Divergence out;
  const auto is_real = [](DType dtype) {
    return Kind(dtype) != DTypeKind::kString && Kind(dtype) != DTypeKind::kComplex;
  };
  if (!is_real(a.dtype) || !is_real(b.dtype)) return out;
  CompensatedSum a_sum;
  CompensatedSum b_sum;
  CompensatedSum weighted;
  double a_block[kBlockSize];
  double b_block[kBlockSize];
  for (int64_t start = 0; start < a.count; start += static_cast<int64_t>(kBlockSize)) {
    const auto n = static_cast<size_t>(std::min<int64_t>(kBlockSize, a.count - start));
    const double* x = LoadBlock(a, start, n, a_block);
    const double* y = LoadBlock(b, start, n, b_block);
    for (size_t i = 0; i < n; ++i) {
      if (!(x[i] >= 0 && x[i] < kInfinity && y[i] >= 0 && y[i] < kInfinity)) return out;
      a_sum.Add(x[i]);
      b_sum.Add(y[i]);
      if (x[i] > 0) weighted.Add(x[i] * std::log(x[i] / y[i]));
    }
  }
  const double total_a = a_sum.value();
  const double total_b = b_sum.value();
  if (!(total_a > 0 && total_b > 0 && total_a < kInfinity && total_b < kInfinity)) return out;
  out.applies = true;
  // The sum of p log(p / q) with p = a / total_a and q = b / total_b; rounding may take it below 0.
  out.a_from_b = std::max(0.0, weighted.value() / total_a + std::log(total_b / total_a));
  return out;
}

}  // namespace vernier
