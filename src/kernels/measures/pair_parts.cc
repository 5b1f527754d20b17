#include "kernels/measures/pair_parts.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>

#include "kernels/measures/chunk_scanner.h"
#include "kernels/measures/difference_dispatch.h"
#include "kernels/measures/tolerance_limit.h"

namespace vernier {
namespace {

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

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

}  // namespace

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

namespace {

double NumberAt(const ElementSpan& elements, int64_t place) {
  if (Kind(elements.dtype) == DTypeKind::kString) return 0;
  if (Kind(elements.dtype) == DTypeKind::kComplex) {
    std::complex<double> scratch;
    return std::abs(*LoadBlock(elements, place, 1, &scratch));
  }
  double scratch;
  return *LoadBlock(elements, place, 1, &scratch);
}

template <typename Reader>
std::vector<WorstElement> FindWorst(Reader& reader, int64_t count, const MeasureRequest& request) {
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
                     if (!IsWorse(element, heap.front())) continue;
                     std::pop_heap(heap.begin(), heap.end(), IsWorse);
                     heap.pop_back();
                   }
                   heap.push_back(element);
                   std::push_heap(heap.begin(), heap.end(), IsWorse);
                 }
               });
  std::sort_heap(heap.begin(), heap.end(), IsWorse);
  return heap;
}

}  // namespace

void KeepLevel(ValueStatistics& statistics, StatisticsLevel level) {
  if (level == StatisticsLevel::kRanks) return;
  statistics.quantiles.clear();
  statistics.median = statistics.count == 0 ? 0 : kUndefined;
  if (level == StatisticsLevel::kMoments) return;
  ValueStatistics none;
  none.count = statistics.count;
  statistics = none;
}

void FillSides(std::span<WorstElement> elements, const ElementSpan& a, const ElementSpan& b) {
  for (WorstElement& element : elements) {
    element.a = NumberAt(a, element.place);
    element.b = NumberAt(b, element.place);
  }
}

namespace {

std::vector<WorstElement> MeasureWorst(const ElementSpan& a, const ElementSpan& b,
                                       const MeasureRequest& request) {
  std::vector<WorstElement> worst = WithReader(
      a, b, request.rule, [&](auto& reader) { return FindWorst(reader, a.count, request); });
  FillSides(worst, a, b);
  return worst;
}

}  // namespace

Result<PairMeasures> MeasurePairByParts(const ElementSpan& a, const ElementSpan& b,
                                        const MeasureRequest& request) {
  PairMeasures out;
  const bool ranks = request.differences == StatisticsLevel::kRanks;
  VERNIER_ASSIGN_OR_RETURN(out.difference,
                           SummariseDifferences(a, b, request.rule,
                                                ranks ? std::span(request.difference_quantiles)
                                                      : std::span<const double>()));
  KeepLevel(out.difference.absolute, request.differences);
  KeepLevel(out.difference.relative, request.differences);
  out.a = MeasureValuesByParts(a, request.sides, request.side_quantiles);
  out.b = MeasureValuesByParts(b, request.sides, request.side_quantiles);
  if (request.products) {
    VERNIER_ASSIGN_OR_RETURN(out.products, ComputeProductSums(a, b));
  }
  if (request.ulp) out.ulp = MeasureUlp(a, b);
  if (request.worst > 0) out.worst = MeasureWorst(a, b, request);
  return out;
}

ValueStatistics MeasureValuesByParts(const ElementSpan& elements, StatisticsLevel level,
                                     std::span<const double> quantiles) {
  ValueStatistics out;
  out.count = elements.count;
  if (level == StatisticsLevel::kNone) return out;
  const bool ranks = level == StatisticsLevel::kRanks;
  out = ComputeStatistics(elements, ranks ? quantiles : std::span<const double>());
  KeepLevel(out, level);
  return out;
}

}  // namespace vernier
