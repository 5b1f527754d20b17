#include "kernels/measures/pair_measures.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "kernels/measures/code_scan.h"
#include "kernels/measures/compensated_sum.h"
#include "kernels/measures/difference_dispatch.h"
#include "kernels/measures/pair_arithmetic.h"
#include "kernels/measures/pair_parts.h"
#include "kernels/measures/pair_scan.h"

namespace vernier {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool IsShortInteger(DType dtype) {
  return NaturalArithmetic(dtype) == Arithmetic::kInt64 && BitsOf(dtype) <= 16;
}

bool AsksForVerdictOnly(const MeasureRequest& request) {
  return request.differences == StatisticsLevel::kNone && request.sides == StatisticsLevel::kNone &&
         !request.products && !request.ulp && request.worst == 0;
}

ElementSpan First(const ElementSpan& elements, int64_t count) {
  return {elements.dtype, elements.bytes, std::min(count, elements.count)};
}

// Differences of short integers are exact in float, so that it can tell that no element is outside
// the absolute tolerance, which decides most comparisons. Otherwise nullopt: quotients need
// float64.
std::optional<PairMeasures> ScanShortIntegers(const ElementSpan& a, const ElementSpan& b,
                                              const PairRules& rules, const MeasureRequest& request,
                                              ThreadPool* pool) {
  if (!AsksForVerdictOnly(request) || !IsShortInteger(a.dtype) || !IsShortInteger(b.dtype)) {
    return std::nullopt;
  }
  MeasureRequest absolute_only;
  absolute_only.rule = {.atol = request.rule.atol, .rtol = -1};
  // A start that fails saves going through the rest.
  for (const int64_t count : {std::min<int64_t>(a.count, 65536), a.count}) {
    const auto out =
        ScanPair<float>({First(a, count), First(b, count), rules}, absolute_only, pool);
    if (!out || out->difference.mismatches > 0) return std::nullopt;
    if (count == a.count) return out;
  }
  return std::nullopt;
}

template <typename T>
std::optional<PairMeasures> ScanAs(const PairSource<T>& source, const MeasureRequest& request,
                                   ThreadPool* pool) {
  if (SuitsCodeScan(source.a(), source.b())) return ScanCodes(source, request, pool);
  return ScanPair(source, request, pool);
}

std::optional<PairMeasures> ScanInOnePass(const ElementSpan& a, const ElementSpan& b,
                                          const MeasureRequest& request, ThreadPool* pool) {
  if (!IsReal(a.dtype) || !IsReal(b.dtype)) return std::nullopt;
  const PairArithmetic arithmetic = ArithmeticOf(a.dtype, b.dtype, request.rule);
  const bool narrowed = arithmetic.rules.arithmetic == DifferenceArithmetic::kNarrowed;
  if (narrowed && request.products) return std::nullopt;
  std::optional<PairMeasures> out = ScanShortIntegers(a, b, arithmetic.rules, request, pool);
  if (!out && arithmetic.in_float) out = ScanAs<float>({a, b, arithmetic.rules}, request, pool);
  if (!out) out = ScanAs<double>({a, b, arithmetic.rules}, request, pool);
  if (!out) return out;
  out->difference.absolute_dtype = arithmetic.absolute;
  out->difference.relative_dtype = arithmetic.relative;
  return out;
}

// The element of the largest distance, in the block that the scan found it in.
void PlaceUlp(UlpDistances& ulp, const ElementSpan& a, const ElementSpan& b) {
  if (ulp.place_of_max < 0) return;
  const auto size = static_cast<size_t>(BitsOf(a.dtype)) / 8;
  const int64_t count = std::min<int64_t>(kBlockSize, a.count - ulp.place_of_max);
  const auto part = [&](const ElementSpan& from) {
    return ElementSpan{from.dtype,
                       from.bytes.subspan(static_cast<size_t>(ulp.place_of_max) * size,
                                          static_cast<size_t>(count) * size),
                       count};
  };
  ulp.place_of_max += MeasureUlp(part(a), part(b)).place_of_max;
}

// May finite numbers lie further apart than their type can say? Where no tolerance is relative,
// that decides nothing.
bool NeedsHalves(const PairMeasures& scanned, const MeasureRequest& request) {
  const DifferenceSummary& difference = scanned.difference;
  if (!request.rule.halves_where_needed || difference.mismatches == 0) return false;
  const bool measured = request.differences != StatisticsLevel::kNone || request.worst > 0;
  return measured ? difference.absolute.infinite_count > 0
                  : request.rule.rtol > 0 && std::isinf(difference.worst_ratio);
}

bool DiffersBeyondItsType(const ElementSpan& a, const ElementSpan& b) {
  const bool narrow = IsBoolOrSmallFloat(a.dtype) && IsBoolOrSmallFloat(b.dtype);
  const double largest = narrow ? static_cast<double>(std::numeric_limits<float>::max())
                                : std::numeric_limits<double>::max();
  std::vector<double> a_block(kBlockSize), b_block(kBlockSize);
  for (int64_t start = 0; start < a.count; start += static_cast<int64_t>(kBlockSize)) {
    const auto n = static_cast<size_t>(std::min<int64_t>(kBlockSize, a.count - start));
    const double* x = LoadBlock(a, start, n, a_block.data());
    const double* y = LoadBlock(b, start, n, b_block.data());
    for (size_t i = 0; i < n; ++i) {
      if (!std::isfinite(x[i]) || !std::isfinite(y[i])) continue;
      if (std::fabs(x[i] / 2 - y[i] / 2) > largest / 2) return true;
    }
  }
  return false;
}

}  // namespace

Result<PairMeasures> MeasurePair(const ElementSpan& a, const ElementSpan& b,
                                 const MeasureRequest& request, ThreadPool* pool) {
  VERNIER_TRY(CheckTypes(a, b));
  std::optional<PairMeasures> scanned = ScanInOnePass(a, b, request, pool);
  if (!scanned) return MeasurePairByParts(a, b, request);
  PairMeasures& out = *scanned;
  if (NeedsHalves(out, request) && DiffersBeyondItsType(a, b)) {
    return MeasurePairByParts(a, b, request);
  }
  KeepLevel(out.a, request.sides);
  KeepLevel(out.difference.absolute, request.differences);
  KeepLevel(out.difference.relative, request.differences);
  if (request.ulp && !out.ulp.applies) {
    out.ulp = MeasureUlp(a, b);
  } else if (request.ulp) {
    PlaceUlp(out.ulp, a, b);
  }
  if (request.products && NeedScale(a.dtype, b.dtype, out.products)) {
    out.products = ScaledProductSums(a, b).value_or(out.products);
  }
  FillSides(out.worst, a, b);
  return std::move(out);
}

Result<PairMeasures> MeasureCodeArrays(CodeArrays& arrays, DType a, DType b, int64_t count,
                                       const MeasureRequest& request) {
  const auto is_small = [](DType dtype) { return BitsOf(dtype) >= 4 && BitsOf(dtype) <= 8; };
  const PairArithmetic arithmetic = ArithmeticOf(a, b, request.rule);
  const bool narrowed = arithmetic.rules.arithmetic == DifferenceArithmetic::kNarrowed;
  if (!is_small(a) || !is_small(b) || request.ulp || request.worst > 0 ||
      (narrowed && request.products)) {
    return Unimplemented("this is not measured by counting pairs");
  }
  const ElementSpan a_side{a, {}, count};
  const ElementSpan b_side{b, {}, count};
  VERNIER_ASSIGN_OR_RETURN(
      PairMeasures out,
      arithmetic.in_float
          ? ScanCodesElsewhere<float>(arrays, {a_side, b_side, arithmetic.rules}, request)
          : ScanCodesElsewhere<double>(arrays, {a_side, b_side, arithmetic.rules}, request));
  out.difference.absolute_dtype = arithmetic.absolute;
  out.difference.relative_dtype = arithmetic.relative;
  KeepLevel(out.a, request.sides);
  KeepLevel(out.b, request.sides);
  KeepLevel(out.difference.absolute, request.differences);
  KeepLevel(out.difference.relative, request.differences);
  return out;
}

ValueStatistics MeasureValues(const ElementSpan& elements, StatisticsLevel level,
                              std::span<const double> quantiles, ThreadPool* pool) {
  std::optional<ValueStatistics> out;
  PairRules rules;
  rules.checks_a = IsLongInteger(elements.dtype);
  if (NaturalArithmetic(elements.dtype) == Arithmetic::kFloat32) {
    out = ScanValues<float>({elements, elements, rules}, level, quantiles, pool);
  } else if (IsReal(elements.dtype)) {
    out = ScanValues<double>({elements, elements, rules}, level, quantiles, pool);
  }
  return out ? *std::move(out) : MeasureValuesByParts(elements, level, quantiles);
}

PairMetrics MakePairMetrics(const ProductSums& sums, int64_t count) {
  PairMetrics out;
  const auto n = static_cast<double>(count);
  const double noise = sums.difference_squared / n;
  const double signal = sums.a_squared / n;
  out.l2 = std::scalbn(std::sqrt(sums.difference_squared), sums.exponent);
  out.rmse = std::scalbn(std::sqrt(noise), sums.exponent);
  const double norm_a = std::sqrt(sums.a_squared);
  const double norm_b = std::sqrt(sums.b_squared);
  if (norm_a == 0 || norm_b == 0) {
    out.cosine = norm_a == norm_b ? 1 : 0;
  } else {
    const double cosine = sums.dot / (norm_a * norm_b);
    out.cosine = std::isnan(cosine) ? cosine : std::clamp(cosine, -1.0, 1.0);
  }
  const double peak_log = sums.a_max <= 0 ? -sums.exponent * std::numbers::ln2 / std::numbers::ln10
                                          : std::log10(sums.a_max);
  out.psnr = noise == 0 ? kInfinity : 20 * peak_log - 10 * std::log10(noise);
  out.snr = noise == 0    ? kInfinity
            : signal == 0 ? -kInfinity  // even of noise that is NaN, as in Polygraphy
                          : 10 * std::log10(signal / noise);
  return out;
}

namespace {

// Of the elements divided by two to the power of their side's exponent.
struct DivergenceSums {
  double a = 0;
  double b = 0;
  double weighted = 0;
};

// nullopt where an element is below 0, or not finite.
std::optional<DivergenceSums> SumDivergence(const ElementSpan& a, const ElementSpan& b,
                                            int a_exponent, int b_exponent) {
  CompensatedSum a_sum;
  CompensatedSum b_sum;
  CompensatedSum weighted;
  double a_block[kBlockSize];
  double b_block[kBlockSize];
  for (int64_t start = 0; start < a.count; start += static_cast<int64_t>(kBlockSize)) {
    const auto n = static_cast<size_t>(std::min<int64_t>(kBlockSize, a.count - start));
    const double* x_values = LoadBlock(a, start, n, a_block);
    const double* y_values = LoadBlock(b, start, n, b_block);
    for (size_t i = 0; i < n; ++i) {
      double x = x_values[i], y = y_values[i];
      if (!(x >= 0 && x < kInfinity && y >= 0 && y < kInfinity)) return std::nullopt;
      if (a_exponent != 0) x = std::scalbn(x, -a_exponent);
      if (b_exponent != 0) y = std::scalbn(y, -b_exponent);
      a_sum.Add(x);
      b_sum.Add(y);
      if (x > 0) weighted.Add(x * std::log(x / y));
    }
  }
  return DivergenceSums{a_sum.value(), b_sum.value(), weighted.value()};
}

// 0 unless float64 cannot hold the sum of a side, or rounds away what is multiplied with its
// elements.
int ExponentFor(double sum) {
  constexpr int kRoomForSums = 200;
  if (!(sum < kInfinity)) return kRoomForSums;
  return sum > 0 && sum < 0x1p-900 ? std::ilogb(sum) : 0;
}

}  // namespace

Result<Divergence> MeasureDivergence(const ElementSpan& a, const ElementSpan& b) {
  VERNIER_TRY(CheckTypes(a, b));
  Divergence out;
  const auto is_real = [](DType dtype) {
    return Kind(dtype) != DTypeKind::kString && Kind(dtype) != DTypeKind::kComplex;
  };
  if (!is_real(a.dtype) || !is_real(b.dtype)) return out;
  std::optional<DivergenceSums> sums = SumDivergence(a, b, 0, 0);
  if (!sums) return out;
  const int a_exponent = ExponentFor(sums->a), b_exponent = ExponentFor(sums->b);
  if (a_exponent != 0 || b_exponent != 0) sums = SumDivergence(a, b, a_exponent, b_exponent);
  if (!sums || !(sums->a > 0 && sums->b > 0)) return out;
  out.applies = true;
  // The sum of p log(p / q) with p = a / sum of a and q = b / sum of b; rounding may take it below
  // 0.
  out.a_from_b = std::max(0.0, sums->weighted / sums->a + std::log(sums->b / sums->a));
  return out;
}

}  // namespace vernier
