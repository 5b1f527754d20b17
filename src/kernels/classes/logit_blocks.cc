#include "kernels/classes/logit_blocks.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/classes/logit_blocks.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "hwy/highway.h"

// No fused multiply-add anywhere: it would make sums depend on the machine.
HWY_BEFORE_NAMESPACE();
namespace vernier {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using LogitTag = hn::CappedTag<double, kSumLanes>;
using LogitBits = hn::RebindToSigned<LogitTag>;
using LogitVec = hn::Vec<LogitTag>;
constexpr size_t kLogitWidth = hn::MaxLanes(LogitTag());
constexpr size_t kLogitVectors = kSumLanes / kLogitWidth;

HWY_INLINE LogitVec LoadLogits(const float* from) {
  return hn::PromoteTo(LogitTag(), hn::LoadU(hn::Rebind<float, LogitTag>(), from));
}
HWY_INLINE LogitVec LoadLogits(const double* from) { return hn::LoadU(LogitTag(), from); }

// Of a block's last elements, which do not fill the lanes: what is missing is `a` and `b`.
template <typename T>
struct PaddedLogits {
  T a[kSumLanes];
  T b[kSumLanes];

  HWY_INLINE PaddedLogits(const BlockPair<T>& pair, size_t done, T fill_a, T fill_b) {
    std::fill(a, a + kSumLanes, fill_a);
    std::fill(b, b + kSumLanes, fill_b);
    std::copy(pair.a + done, pair.a + pair.count, a);
    std::copy(pair.b + done, pair.b + pair.count, b);
  }
};

struct ExtentVectors {
  LogitVec a_least, a_most, b_least, b_most;
  // As integers, magnitudes keep their order and NaN is the largest.
  hn::Vec<LogitBits> difference;

  HWY_INLINE ExtentVectors() {
    a_least = b_least = hn::Set(LogitTag(), std::numeric_limits<double>::infinity());
    a_most = b_most = hn::Neg(a_least);
    difference = hn::Zero(LogitBits());
  }

  template <typename T>
  HWY_INLINE void Extend(const T* from_a, const T* from_b) {
    const LogitVec a = LoadLogits(from_a);
    const LogitVec b = LoadLogits(from_b);
    a_least = hn::Min(a_least, a);
    a_most = hn::Max(a_most, a);
    b_least = hn::Min(b_least, b);
    b_most = hn::Max(b_most, b);
    difference = hn::Max(difference, hn::BitCast(LogitBits(), hn::Abs(hn::Sub(a, b))));
  }
};

// Highway's own reductions start from the largest finite number in some of its targets.
HWY_INLINE double LeastOf(LogitVec v) {
  double lanes[kLogitWidth];
  hn::StoreU(v, LogitTag(), lanes);
  return *std::min_element(lanes, lanes + kLogitWidth);
}
HWY_INLINE double MostOf(LogitVec v) {
  double lanes[kLogitWidth];
  hn::StoreU(v, LogitTag(), lanes);
  return *std::max_element(lanes, lanes + kLogitWidth);
}

template <typename T>
void ExtendBlock(const BlockPair<T>& pair, LogitExtent& extent) {
  if (pair.count == 0) return;
  ExtentVectors found;
  size_t i = 0;
  for (; i + kLogitWidth <= pair.count; i += kLogitWidth) found.Extend(pair.a + i, pair.b + i);
  if (i < pair.count) {
    const PaddedLogits<T> rest(pair, i, pair.a[i], pair.b[i]);
    found.Extend(rest.a, rest.b);
  }
  const LogitBits bits;
  const double largest =
      hn::GetLane(hn::BitCast(LogitTag(), hn::MaxOfLanes(bits, found.difference)));
  extent.a_least = std::min(extent.a_least, LeastOf(found.a_least));
  extent.a_most = std::max(extent.a_most, MostOf(found.a_most));
  extent.b_least = std::min(extent.b_least, LeastOf(found.b_least));
  extent.b_most = std::max(extent.b_most, MostOf(found.b_most));
  // What is not finite stays.
  if (!(largest <= extent.difference) && extent.difference == extent.difference) {
    extent.difference = largest;
  }
}

// The coefficients of e^r: with |r| at most half the logarithm of 2, what is left out after r^13 is
// below 2^-57.
constexpr double kExpSeries[] = {1.0,
                                 1.0,
                                 1.0 / 2,
                                 1.0 / 6,
                                 1.0 / 24,
                                 1.0 / 120,
                                 1.0 / 720,
                                 1.0 / 5040,
                                 1.0 / 40320,
                                 1.0 / 362880,
                                 1.0 / 3628800,
                                 1.0 / 39916800,
                                 1.0 / 479001600,
                                 1.0 / 6227020800};
constexpr double kOverLog2 = 0x1.71547652b82fep0;
// The logarithm of 2 in two parts, of which the first has so few bits that its products are exact.
constexpr double kLog2High = 0x1.62e42feep-1;
constexpr double kLog2Low = 0x1.a39ef35793c76p-33;
constexpr double kLeastExponent = -708;  // of a normal number
constexpr double kRounding = 0x1.8p52;   // added, it leaves no room for a fraction

// x + y z
HWY_INLINE LogitVec PlusProduct(LogitVec x, LogitVec y, LogitVec z) {
  return hn::Add(x, hn::Mul(y, z));
}

// Two neighbours of the series.
template <size_t kFirst>
HWY_INLINE LogitVec SeriesPair(LogitVec r) {
  const LogitTag d;
  return PlusProduct(hn::Set(d, kExpSeries[kFirst]), hn::Set(d, kExpSeries[kFirst + 1]), r);
}

enum class ExpDigits : uint8_t { kAll, kEleven };

// The series, summed as a tree: the processor works on its branches side by side.
template <ExpDigits kDigits>
HWY_INLINE LogitVec ExpSeries(LogitVec r) {
  const LogitVec r2 = hn::Mul(r, r);
  const LogitVec r4 = hn::Mul(r2, r2);
  const LogitVec low = PlusProduct(SeriesPair<0>(r), SeriesPair<2>(r), r2);
  const LogitVec middle = PlusProduct(SeriesPair<4>(r), SeriesPair<6>(r), r2);
  LogitVec high = SeriesPair<8>(r);
  if constexpr (kDigits == ExpDigits::kAll) {
    high = PlusProduct(PlusProduct(high, SeriesPair<10>(r), r2), SeriesPair<12>(r), r4);
  }
  return PlusProduct(PlusProduct(low, middle, r4), high, hn::Mul(r4, r4));
}

// e^z - 1 for |z| <= 2 kNearLogits: what is left out is below 2^-42 of it.
HWY_INLINE LogitVec ExpLess1(LogitVec z) {
  const LogitVec z2 = hn::Mul(z, z);
  const LogitVec low = PlusProduct(SeriesPair<1>(z), SeriesPair<3>(z), z2);
  const LogitVec high = PlusProduct(SeriesPair<5>(z), SeriesPair<7>(z), z2);
  return hn::Mul(z, PlusProduct(low, high, hn::Mul(z2, z2)));
}

// e^x for x <= 0, with all digits within about an ulp; 0 below e^-708.
template <ExpDigits kDigits>
HWY_INLINE LogitVec ExpOfNegative(LogitVec x) {
  const LogitTag d;
  const LogitBits bits;
  const auto rounding = hn::Set(d, kRounding);
  const auto shifted = hn::Add(hn::Mul(x, hn::Set(d, kOverLog2)), rounding);
  const auto n = hn::Sub(shifted, rounding);
  const auto high = hn::Sub(x, hn::Mul(n, hn::Set(d, kLog2High)));
  const auto r = hn::Sub(high, hn::Mul(n, hn::Set(d, kLog2Low)));
  // n stands in the last bits of `shifted`, and goes to the exponent.
  const auto exponent = hn::ShiftLeft<52>(hn::BitCast(bits, shifted));
  const auto scaled = hn::BitCast(d, hn::Add(hn::BitCast(bits, ExpSeries<kDigits>(r)), exponent));
  return hn::IfThenElseZero(hn::Ge(x, hn::Set(d, kLeastExponent)), scaled);
}

struct SumVectors {
  LogitVec weight[kLogitVectors];
  LogitVec excess[kLogitVectors];
  LogitVec tilt[kLogitVectors];

  HWY_INLINE explicit SumVectors(const LogitSums& sums) {
    for (size_t i = 0; i < kLogitVectors; ++i) {
      weight[i] = hn::LoadU(LogitTag(), sums.weight + i * kLogitWidth);
      excess[i] = hn::LoadU(LogitTag(), sums.excess + i * kLogitWidth);
      tilt[i] = hn::LoadU(LogitTag(), sums.tilt + i * kLogitWidth);
    }
  }
  HWY_INLINE void Store(LogitSums& sums) const {
    for (size_t i = 0; i < kLogitVectors; ++i) {
      hn::StoreU(weight[i], LogitTag(), sums.weight + i * kLogitWidth);
      hn::StoreU(excess[i], LogitTag(), sums.excess + i * kLogitWidth);
      hn::StoreU(tilt[i], LogitTag(), sums.tilt + i * kLogitWidth);
    }
  }

  // Of kSumLanes elements.
  template <bool kNear, typename T>
  HWY_INLINE void Add(const T* a, const T* b, LogitVec a_most, LogitVec b_most) {
    constexpr ExpDigits kDigits = kNear ? ExpDigits::kEleven : ExpDigits::kAll;
    for (size_t i = 0; i < kLogitVectors; ++i) {
      const LogitVec x = hn::Sub(LoadLogits(a + i * kLogitWidth), a_most);
      const LogitVec y = hn::Sub(LoadLogits(b + i * kLogitWidth), b_most);
      const LogitVec of_a = ExpOfNegative<kDigits>(x);
      // Without the difference of two classes that are masked, which is NaN.
      const auto counts = hn::Gt(of_a, hn::Zero(LogitTag()));
      const LogitVec apart = hn::IfThenElseZero(counts, hn::Sub(x, y));
      LogitVec more;
      if constexpr (kNear) {
        more = hn::Mul(of_a, ExpLess1(hn::Neg(apart)));
      } else {
        more = hn::Sub(ExpOfNegative<ExpDigits::kAll>(y), of_a);
      }
      weight[i] = hn::Add(weight[i], of_a);
      excess[i] = hn::Add(excess[i], more);
      tilt[i] = hn::Add(tilt[i], hn::Mul(of_a, apart));
    }
  }
};

template <typename T, bool kNear>
void AddBlock(const BlockPair<T>& pair, double a_most, double b_most, LogitSums& sums) {
  const auto most_of_a = hn::Set(LogitTag(), a_most);
  const auto most_of_b = hn::Set(LogitTag(), b_most);
  SumVectors vectors(sums);
  size_t i = 0;
  for (; i + kSumLanes <= pair.count; i += kSumLanes) {
    vectors.template Add<kNear>(pair.a + i, pair.b + i, most_of_a, most_of_b);
  }
  if (i < pair.count) {
    constexpr T kNothing = -std::numeric_limits<T>::infinity();
    const PaddedLogits<T> rest(pair, i, kNothing, kNothing);
    vectors.template Add<kNear>(rest.a, rest.b, most_of_a, most_of_b);
  }
  vectors.Store(sums);
}

template <typename T>
constexpr LogitKernels<T> kLogitTable = {ExtendBlock<T>, AddBlock<T, false>, AddBlock<T, true>};
inline const LogitKernels<float>& FloatLogits() { return kLogitTable<float>; }
inline const LogitKernels<double>& DoubleLogits() { return kLogitTable<double>; }

}  // namespace HWY_NAMESPACE
}  // namespace vernier
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vernier {

HWY_EXPORT(FloatLogits);
HWY_EXPORT(DoubleLogits);

template <>
const LogitKernels<float>& VectorLogitKernels() {
  return HWY_DYNAMIC_DISPATCH(FloatLogits)();
}
template <>
const LogitKernels<double>& VectorLogitKernels() {
  return HWY_DYNAMIC_DISPATCH(DoubleLogits)();
}

double TotalOfLanes(double (&lanes)[kSumLanes]) {
  for (size_t width = kSumLanes / 2; width > 0; width /= 2) {
    for (size_t lane = 0; lane < width; ++lane) lanes[lane] += lanes[lane + width];
  }
  return lanes[0];
}

}  // namespace vernier
#endif  // HWY_ONCE
