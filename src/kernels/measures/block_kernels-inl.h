// Compiled once for every vector width. Must be included after hwy/highway.h.
//
// No fused multiply-add anywhere: it would make sums and verdicts depend on the machine.

// clang-format off
#if defined(VERNIER_BLOCK_KERNELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef VERNIER_BLOCK_KERNELS_INL_H_
#undef VERNIER_BLOCK_KERNELS_INL_H_
#else
#define VERNIER_BLOCK_KERNELS_INL_H_
#endif
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace vernier {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using DoubleTag = hn::CappedTag<double, kSumLanes>;
inline constexpr size_t kLaneVectors = kSumLanes / hn::MaxLanes(DoubleTag());

template <typename T>
using HalfTag = hn::Rebind<T, DoubleTag>;  // as many lanes as a vector of doubles

HWY_INLINE hn::Vec<DoubleTag> Widen(hn::Vec<HalfTag<float>> v) {
  return hn::PromoteTo(DoubleTag(), v);
}
HWY_INLINE hn::Vec<DoubleTag> Widen(hn::Vec<DoubleTag> v) { return v; }

/// Sixteen lanes, as several vectors.
struct Lanes {
  hn::Vec<DoubleTag> v[kLaneVectors];

  HWY_INLINE Lanes() {
    for (auto& lane : v) lane = hn::Set(DoubleTag(), -0.0);  // the neutral element
  }
};

/// The lanes as an array, for the elements that do not fill all of them, and their total.
class LaneArray {
 public:
  HWY_INLINE explicit LaneArray(const Lanes& lanes) {
    for (size_t i = 0; i < kLaneVectors; ++i) {
      hn::Store(lanes.v[i], DoubleTag(), values_ + i * hn::MaxLanes(DoubleTag()));
    }
  }
  HWY_INLINE void Add(size_t lane, double value) { values_[lane] += value; }
  HWY_INLINE double Total() {
    for (size_t width = kSumLanes / 2; width > 0; width /= 2) {
      for (size_t lane = 0; lane < width; ++lane) values_[lane] += values_[lane + width];
    }
    return values_[0];
  }

 private:
  HWY_ALIGN double values_[kSumLanes];
};

template <typename T>
using IntTag = hn::RebindToSigned<hn::ScalableTag<T>>;

// Adds 1 to the lanes where the mask holds.
template <class D, class M>
HWY_INLINE hn::Vec<D> CountMask(D d, hn::Vec<D> counts, M mask) {
  return hn::Sub(counts, hn::VecFromMask(d, mask));
}

template <class D>
HWY_INLINE int64_t SumOfCounts(D d, hn::Vec<D> counts) {
  return static_cast<int64_t>(hn::GetLane(hn::SumOfLanes(d, counts)));
}

// What is left of a pair after the first `done` elements, for the scalar twin.
template <typename T>
HWY_INLINE BlockPair<T> Rest(const BlockPair<T>& pair, size_t done) {
  return {pair.a + done, pair.b + done, pair.count - done};
}

template <typename T>
DifferenceNotes Difference(const BlockPair<T>& pair, ZeroRule zeros, T* absolute, T* relative) {
  const hn::ScalableTag<T> d;
  const IntTag<T> di;
  const size_t lanes = hn::Lanes(d);
  const auto zero = hn::Zero(d);
  const bool replaces = zeros == ZeroRule::kReplace;
  const auto replacement = hn::Set(d, replaces ? static_cast<T>(0x1p-52) : T{0});
  auto any_bits = zero;
  auto zero_counts = hn::Zero(di);
  size_t i = 0;
  for (; i + lanes <= pair.count; i += lanes) {
    const auto b = hn::LoadU(d, pair.b + i);
    const auto difference = hn::Abs(hn::Sub(hn::LoadU(d, pair.a + i), b));
    const auto is_zero = hn::Eq(b, zero);
    zero_counts = CountMask(di, zero_counts, hn::RebindMask(di, is_zero));
    const auto divisor = hn::IfThenElse(is_zero, replacement, hn::Abs(b));
    const auto quotient = hn::Div(difference, divisor);
    // A quotient may be 0 because it is too small, or NaN although the difference is 0.
    any_bits = hn::Or(any_bits, hn::Or(difference, quotient));
    hn::StoreU(difference, d, absolute + i);
    hn::StoreU(quotient, d, relative + i);
  }
  DifferenceNotes notes;
  notes.zeros_in_b = replaces ? SumOfCounts(di, zero_counts) : 0;
  notes.same = hn::AllTrue(di, hn::Eq(hn::BitCast(di, any_bits), hn::Zero(di)));
  if (i == pair.count) return notes;
  const DifferenceNotes rest =
      ScalarKernels<T>().difference(Rest(pair, i), zeros, absolute + i, relative + i);
  return {notes.zeros_in_b + rest.zeros_in_b, notes.same && rest.same};
}

template <typename T>
BlockVerdict Verdict(const BlockPair<T>& pair, T absolute_bound) {
  const hn::ScalableTag<T> d;
  const IntTag<T> di;
  const size_t lanes = hn::Lanes(d);
  // As integers, magnitudes keep their order and NaN is the largest.
  auto largest = hn::Zero(di);
  auto zero_counts = hn::Zero(di);
  size_t i = 0;
  for (; i + lanes <= pair.count; i += lanes) {
    const auto b = hn::LoadU(d, pair.b + i);
    const auto difference = hn::Abs(hn::Sub(hn::LoadU(d, pair.a + i), b));
    largest = hn::Max(largest, hn::BitCast(di, difference));
    zero_counts = CountMask(di, zero_counts, hn::RebindMask(di, hn::Eq(b, hn::Zero(d))));
  }
  const auto worst = hn::BitCast(d, hn::MaxOfLanes(di, largest));
  const T max_absolute = hn::GetLane(worst);
  BlockVerdict out;
  out.zeros_in_b = SumOfCounts(di, zero_counts);
  out.may_be_outside = i > 0 && !(max_absolute <= absolute_bound);
  double largest_of_all = static_cast<double>(max_absolute);
  if (i < pair.count) {
    const BlockVerdict rest = ScalarKernels<T>().verdict(Rest(pair, i), absolute_bound);
    out.zeros_in_b += rest.zeros_in_b;
    out.may_be_outside = out.may_be_outside || rest.may_be_outside;
    largest_of_all = std::max(largest_of_all, rest.max_absolute);
  }
  if (!out.may_be_outside) out.max_absolute = largest_of_all;
  return out;
}

template <typename T>
int64_t CountOutside(const BlockPair<T>& differences, const OutsideBounds<T>& bounds) {
  const hn::ScalableTag<T> d;
  const IntTag<T> di;
  const size_t lanes = hn::Lanes(d);
  const auto absolute_bound = hn::Set(d, bounds.absolute);
  const auto relative_bound = hn::Set(d, bounds.relative);
  auto counts = hn::Zero(di);
  size_t i = 0;
  for (; i + lanes <= differences.count; i += lanes) {
    // NaN is not inside.
    const auto inside = hn::Or(hn::Le(hn::LoadU(d, differences.a + i), absolute_bound),
                               hn::Le(hn::LoadU(d, differences.b + i), relative_bound));
    counts = CountMask(di, counts, hn::RebindMask(di, inside));
  }
  const int64_t outside = static_cast<int64_t>(i) - SumOfCounts(di, counts);
  if (i == differences.count) return outside;
  return outside + ScalarKernels<T>().count_outside(Rest(differences, i), bounds);
}

// Not hn::Ne: on AVX-512 it is false for NaN.
template <class V>
HWY_INLINE auto IsNan(V v) {
  return hn::Not(hn::Eq(v, v));
}

template <typename T>
HWY_INLINE hn::Vec<DoubleTag> LoadWide(const T* from) {
  return Widen(hn::LoadU(HalfTag<T>(), from));
}

// The least and the greatest lane. Highway's own reductions start from the largest finite number in
// some of its targets, and call that the minimum of infinities.
template <class D>
hn::TFromD<D> LeastLane(D d, hn::Vec<D> v) {
  hn::TFromD<D> lanes[hn::MaxLanes(d)];
  hn::StoreU(v, d, lanes);
  return *std::min_element(lanes, lanes + hn::Lanes(d));
}

template <class D>
hn::TFromD<D> GreatestLane(D d, hn::Vec<D> v) {
  hn::TFromD<D> lanes[hn::MaxLanes(d)];
  hn::StoreU(v, d, lanes);
  return *std::max_element(lanes, lanes + hn::Lanes(d));
}

template <typename T>
double WorstRatio(const BlockPair<T>& differences, const DifferenceRule& rule) {
  const DoubleTag d;
  const size_t lanes = hn::Lanes(d);
  const auto atol = hn::Set(d, rule.atol);
  const auto rtol = hn::Set(d, rule.rtol);
  const auto infinity = hn::Set(d, std::numeric_limits<double>::infinity());
  auto worst = hn::Zero(d);
  size_t i = 0;
  for (; i + lanes <= differences.count; i += lanes) {
    const auto absolute = LoadWide(differences.a + i);
    const auto relative = LoadWide(differences.b + i);
    const auto absolute_outside = hn::Or(IsNan(absolute), hn::Gt(absolute, atol));
    const auto outside = hn::And(absolute_outside, hn::Or(IsNan(relative), hn::Gt(relative, rtol)));
    const auto of_absolute = hn::Div(absolute, atol);
    const auto of_relative = hn::Div(relative, rtol);
    const auto x = hn::IfThenElse(hn::Eq(of_absolute, of_absolute), of_absolute, infinity);
    const auto y = hn::IfThenElse(hn::Eq(of_relative, of_relative), of_relative, infinity);
    worst = hn::Max(worst, hn::IfThenElseZero(outside, hn::Min(x, y)));
  }
  // A negative tolerance makes negative zeros, which the addition removes.
  const double largest = GreatestLane(d, worst) + 0.0;
  if (i == differences.count) return largest;
  return std::max(largest, ScalarKernels<T>().worst_ratio(Rest(differences, i), rule));
}

template <typename T, bool kNonNegative>
BlockMoments<T> Moments(const T* values, size_t count, double shift) {
  const HalfTag<T> dt;
  constexpr size_t kWidth = hn::MaxLanes(DoubleTag());
  const auto center = hn::Set(DoubleTag(), shift);
  Lanes sums;
  Lanes magnitudes;
  Lanes squares;
  hn::Vec<HalfTag<T>> lows[kLaneVectors];
  hn::Vec<HalfTag<T>> highs[kLaneVectors];
  for (auto& low : lows) low = hn::Set(dt, std::numeric_limits<T>::infinity());
  for (auto& high : highs) high = hn::Set(dt, -std::numeric_limits<T>::infinity());
  size_t i = 0;
  for (; i + kSumLanes <= count; i += kSumLanes) {
    for (size_t v = 0; v < kLaneVectors; ++v) {
      const auto narrow = hn::LoadU(dt, values + i + v * kWidth);
      lows[v] = hn::Min(lows[v], narrow);
      highs[v] = hn::Max(highs[v], narrow);
      const auto value = Widen(narrow);
      sums.v[v] = hn::Add(sums.v[v], value);
      if constexpr (!kNonNegative) magnitudes.v[v] = hn::Add(magnitudes.v[v], hn::Abs(value));
      const auto deviation = hn::Sub(value, center);
      squares.v[v] = hn::Add(squares.v[v], hn::Mul(deviation, deviation));
    }
  }
  for (size_t v = 1; v < kLaneVectors; ++v) {
    lows[0] = hn::Min(lows[0], lows[v]);
    highs[0] = hn::Max(highs[0], highs[v]);
  }
  BlockMoments<T> out;
  out.min = LeastLane(dt, lows[0]);
  out.max = GreatestLane(dt, highs[0]);
  LaneArray sum(sums);
  LaneArray magnitude(magnitudes);
  LaneArray square(squares);
  for (size_t lane = 0; i < count; ++i, ++lane) {
    const auto value = static_cast<double>(values[i]);
    sum.Add(lane, value);
    magnitude.Add(lane, value < 0 ? -value : value);
    square.Add(lane, (value - shift) * (value - shift));
    out.min = values[i] < out.min ? values[i] : out.min;
    out.max = values[i] > out.max ? values[i] : out.max;
  }
  out.sum = sum.Total();
  out.magnitude_sum = kNonNegative ? out.sum : magnitude.Total();
  out.shifted_squares = square.Total();
  return out;
}

template <typename T>
BlockSpecials<T> Specials(const T* values, size_t count) {
  const hn::ScalableTag<T> d;
  const IntTag<T> di;
  const size_t lanes = hn::Lanes(d);
  const auto infinity = hn::Set(d, std::numeric_limits<T>::infinity());
  auto low = infinity;
  auto high = hn::Neg(infinity);
  auto nans = hn::Zero(di);
  auto infinities = hn::Zero(di);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto value = hn::LoadU(d, values + i);
    nans = CountMask(di, nans, hn::RebindMask(di, IsNan(value)));
    infinities = CountMask(di, infinities, hn::RebindMask(di, hn::Eq(hn::Abs(value), infinity)));
    low = hn::IfThenElse(hn::Lt(value, low), value, low);
    high = hn::IfThenElse(hn::Gt(value, high), value, high);
  }
  BlockSpecials<T> out = ScalarKernels<T>().specials(values + i, count - i);
  out.nan_count += SumOfCounts(di, nans);
  out.infinite_count += SumOfCounts(di, infinities);
  out.min = std::min(out.min, LeastLane(d, low));
  out.max = std::max(out.max, GreatestLane(d, high));
  return out;
}

template <typename T>
BlockProducts Products(const BlockPair<T>& pair) {
  const HalfTag<T> dt;
  constexpr size_t kWidth = hn::MaxLanes(DoubleTag());
  Lanes dots;
  Lanes a_squares;
  Lanes b_squares;
  Lanes difference_squares;
  size_t i = 0;
  for (; i + kSumLanes <= pair.count; i += kSumLanes) {
    for (size_t v = 0; v < kLaneVectors; ++v) {
      const auto narrow_a = hn::LoadU(dt, pair.a + i + v * kWidth);
      const auto narrow_b = hn::LoadU(dt, pair.b + i + v * kWidth);
      const auto a = Widen(narrow_a);
      const auto b = Widen(narrow_b);
      const auto difference = Widen(hn::Sub(narrow_a, narrow_b));
      dots.v[v] = hn::Add(dots.v[v], hn::Mul(a, b));
      a_squares.v[v] = hn::Add(a_squares.v[v], hn::Mul(a, a));
      b_squares.v[v] = hn::Add(b_squares.v[v], hn::Mul(b, b));
      difference_squares.v[v] = hn::Add(difference_squares.v[v], hn::Mul(difference, difference));
    }
  }
  LaneArray dot(dots);
  LaneArray a_square(a_squares);
  LaneArray b_square(b_squares);
  LaneArray difference_square(difference_squares);
  for (size_t lane = 0; i < pair.count; ++i, ++lane) {
    const auto a = static_cast<double>(pair.a[i]);
    const auto b = static_cast<double>(pair.b[i]);
    const auto difference = static_cast<double>(pair.a[i] - pair.b[i]);
    dot.Add(lane, a * b);
    a_square.Add(lane, a * a);
    b_square.Add(lane, b * b);
    difference_square.Add(lane, difference * difference);
  }
  return {dot.Total(), a_square.Total(), b_square.Total(), difference_square.Total()};
}

template <class V>
HWY_INLINE V KeysOf(V bits) {
  const hn::DFromV<V> di;
  const auto flip = hn::Set(di, std::numeric_limits<hn::TFromD<decltype(di)>>::max());
  return hn::Xor(bits, hn::And(hn::BroadcastSignBit(bits), flip));
}

template <typename T>
HWY_INLINE hn::Vec<IntTag<T>> LoadBits(const T* values) {
  return hn::BitCast(IntTag<T>(), hn::LoadU(hn::ScalableTag<T>(), values));
}

// Of the keys 3 % lie inside. Two in five vectors of 16 hold one: there a branch would be guessed
// wrong too often, and it takes one instruction to compress them.
template <typename T>
constexpr bool kFewVectorsHaveHits = HWY_MAX_BYTES < 64 || sizeof(T) != 4;

template <typename T, size_t kBrackets>
void RankIn(const T* values, size_t count, const Brackets<RankKey<T>>& brackets,
            BracketHits<T>& hits) {
  const IntTag<T> di;
  const size_t lanes = hn::Lanes(di);
  hn::Vec<IntTag<T>> low[kBrackets];
  hn::Vec<IntTag<T>> high[kBrackets];
  hn::Vec<IntTag<T>> above[kBrackets];
  for (size_t k = 0; k < kBrackets; ++k) {
    low[k] = hn::Set(di, brackets.low[k]);
    high[k] = hn::Set(di, brackets.high[k]);
    above[k] = hn::Zero(di);
  }
  T* out = hits.values + hits.used;
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto bits = LoadBits(values + i);
    const auto keys = KeysOf(bits);
    auto is_above = hn::Gt(keys, low[0]);
    above[0] = CountMask(di, above[0], is_above);
    auto inside = hn::And(is_above, hn::Lt(keys, high[0]));
    for (size_t k = 1; k < kBrackets; ++k) {
      is_above = hn::Gt(keys, low[k]);
      above[k] = CountMask(di, above[k], is_above);
      inside = hn::Or(inside, hn::And(is_above, hn::Lt(keys, high[k])));
    }
    if (kFewVectorsHaveHits<T> && HWY_LIKELY(hn::AllFalse(di, inside))) continue;
    // Compress and a plain store: compressing into memory is slow on some processors.
    hn::StoreU(hn::BitCast(hn::ScalableTag<T>(), hn::Compress(bits, inside)), hn::ScalableTag<T>(),
               out);
    out += hn::CountTrue(di, inside);
  }
  hits.used = static_cast<size_t>(out - hits.values);
  for (size_t k = 0; k < kBrackets; ++k) hits.above_low[k] += SumOfCounts(di, above[k]);
  if (i < count) ScalarKernels<T>().rank(values + i, count - i, brackets, hits);
}

template <typename T>
void Rank(const T* values, size_t count, const Brackets<RankKey<T>>& brackets,
          BracketHits<T>& hits) {
  static_assert(kMostBrackets == 4);
  switch (brackets.count) {
    case 0:
      return;
    case 1:
      return RankIn<T, 1>(values, count, brackets, hits);
    case 2:
      return RankIn<T, 2>(values, count, brackets, hits);
    case 3:
      return RankIn<T, 3>(values, count, brackets, hits);
    default:
      return RankIn<T, 4>(values, count, brackets, hits);
  }
}

template <typename T, size_t kThresholds>
void CountBelowIn(const T* values, size_t count, const Thresholds<RankKey<T>>& thresholds,
                  int64_t* below) {
  const IntTag<T> di;
  const size_t lanes = hn::Lanes(di);
  hn::Vec<IntTag<T>> bounds[kThresholds];
  hn::Vec<IntTag<T>> counts[kThresholds];
  for (size_t k = 0; k < kThresholds; ++k) {
    bounds[k] = hn::Set(di, thresholds.keys[k]);
    counts[k] = hn::Zero(di);
  }
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto keys = KeysOf(LoadBits(values + i));
    for (size_t k = 0; k < kThresholds; ++k) {
      counts[k] = CountMask(di, counts[k], hn::Lt(keys, bounds[k]));
    }
  }
  for (size_t k = 0; k < kThresholds; ++k) below[k] += SumOfCounts(di, counts[k]);
  if (i < count) ScalarKernels<T>().count_below(values + i, count - i, thresholds, below);
}

template <typename T>
void CountBelow(const T* values, size_t count, const Thresholds<RankKey<T>>& thresholds,
                int64_t* below) {
  static_assert(kMostThresholds == 4);
  switch (thresholds.count) {
    case 0:
      return;
    case 1:
      return CountBelowIn<T, 1>(values, count, thresholds, below);
    case 2:
      return CountBelowIn<T, 2>(values, count, thresholds, below);
    case 3:
      return CountBelowIn<T, 3>(values, count, thresholds, below);
    default:
      return CountBelowIn<T, 4>(values, count, thresholds, below);
  }
}

template <typename T>
constexpr BlockKernels<T> kTable = {
    Difference<T>,    Verdict<T>,  CountOutside<T>, WorstRatio<T>, Moments<T, false>,
    Moments<T, true>, Specials<T>, Products<T>,     Rank<T>,       CountBelow<T>,
};
inline const BlockKernels<float>& FloatTable() { return kTable<float>; }
inline const BlockKernels<double>& DoubleTable() { return kTable<double>; }

}  // namespace HWY_NAMESPACE
}  // namespace vernier
HWY_AFTER_NAMESPACE();

#endif
