// The scalar twin: what the vector kernels must compute, one element at a time.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/measures/block_kernels.h"
#include "kernels/measures/difference_readers.h"
#include "kernels/measures/tolerance_limit.h"

namespace vernier {

template <typename T>
T OutsideBound(double tolerance) {
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  if (tolerance != tolerance) return kInfinity;  // nothing is greater than NaN
  if (tolerance >= static_cast<double>(std::numeric_limits<T>::max())) {
    return tolerance == std::numeric_limits<double>::infinity() ? kInfinity
                                                                : std::numeric_limits<T>::max();
  }
  if (tolerance < -static_cast<double>(std::numeric_limits<T>::max())) return -kInfinity;
  const T nearest = static_cast<T>(tolerance);
  return static_cast<double>(nearest) > tolerance ? std::nextafter(nearest, -kInfinity) : nearest;
}
template float OutsideBound(double);
template double OutsideBound(double);

namespace {

class LaneSums {
 public:
  LaneSums() { lanes_.fill(-0.0); }
  void Add(size_t element, double value) { lanes_[element % kSumLanes] += value; }
  double Total() const {
    std::array<double, kSumLanes> lanes = lanes_;
    for (size_t width = kSumLanes / 2; width > 0; width /= 2) {
      for (size_t lane = 0; lane < width; ++lane) lanes[lane] += lanes[lane + width];
    }
    return lanes[0];
  }

 private:
  std::array<double, kSumLanes> lanes_;
};

template <typename T>
DifferenceNotes Difference(const BlockPair<T>& pair, ZeroRule zeros, T* absolute, T* relative) {
  DifferenceNotes notes;
  for (size_t i = 0; i < pair.count; ++i) {
    absolute[i] = std::fabs(pair.a[i] - pair.b[i]);
    T divisor = std::fabs(pair.b[i]);
    if (divisor == 0 && zeros == ZeroRule::kReplace) {
      divisor = static_cast<T>(kZeroReplacement);
      ++notes.zeros_in_b;
    }
    relative[i] = absolute[i] / divisor;
    notes.same = notes.same && absolute[i] == 0 && relative[i] == 0;
  }
  return notes;
}

template <typename T>
BlockVerdict Verdict(const BlockPair<T>& pair, T absolute_bound) {
  BlockVerdict out;
  T largest = 0;
  for (size_t i = 0; i < pair.count; ++i) {
    const T absolute = std::fabs(pair.a[i] - pair.b[i]);
    out.zeros_in_b += pair.b[i] == 0 ? 1 : 0;
    if (!(absolute <= absolute_bound)) out.may_be_outside = true;
    largest = absolute > largest ? absolute : largest;
  }
  if (!out.may_be_outside) out.max_absolute = static_cast<double>(largest);
  return out;
}

template <typename T>
int64_t CountOutside(const BlockPair<T>& differences, const OutsideBounds<T>& bounds) {
  int64_t count = 0;
  for (size_t i = 0; i < differences.count; ++i) {
    const bool inside = differences.a[i] <= bounds.absolute || differences.b[i] <= bounds.relative;
    count += inside ? 0 : 1;
  }
  return count;
}

template <typename T>
double WorstRatio(const BlockPair<T>& differences, const DifferenceRule& rule) {
  const Limit<T> absolute(rule.atol);
  const Limit<T> relative(rule.rtol);
  double worst = 0;
  for (size_t i = 0; i < differences.count; ++i) {
    if (!absolute.Exceeded(differences.a[i]) || !relative.Exceeded(differences.b[i])) continue;
    worst = std::max(worst,
                     std::min(absolute.Ratio(differences.a[i]), relative.Ratio(differences.b[i])));
  }
  return worst;
}

template <typename T, bool kNonNegative>
BlockMoments<T> Moments(const T* values, size_t count, double shift) {
  LaneSums sums;
  LaneSums magnitudes;
  LaneSums squares;
  BlockMoments<T> out;
  out.min = std::numeric_limits<T>::infinity();
  out.max = -out.min;
  for (size_t i = 0; i < count; ++i) {
    const auto value = static_cast<double>(values[i]);
    sums.Add(i, value);
    magnitudes.Add(i, std::fabs(value));
    squares.Add(i, (value - shift) * (value - shift));
    out.min = values[i] < out.min ? values[i] : out.min;
    out.max = values[i] > out.max ? values[i] : out.max;
  }
  out.sum = sums.Total();
  out.magnitude_sum = kNonNegative ? out.sum : magnitudes.Total();
  out.shifted_squares = squares.Total();
  return out;
}

template <typename T>
BlockSpecials<T> CountSpecials(const T* values, size_t count) {
  BlockSpecials<T> out;
  out.min = std::numeric_limits<T>::infinity();
  out.max = -out.min;
  for (size_t i = 0; i < count; ++i) {
    out.nan_count += std::isnan(values[i]) ? 1 : 0;
    out.infinite_count += std::isinf(values[i]) ? 1 : 0;
    out.min = values[i] < out.min ? values[i] : out.min;
    out.max = values[i] > out.max ? values[i] : out.max;
  }
  return out;
}

template <typename T>
BlockProducts Products(const BlockPair<T>& pair) {
  LaneSums dot;
  LaneSums a_squared;
  LaneSums b_squared;
  LaneSums difference_squared;
  for (size_t i = 0; i < pair.count; ++i) {
    const auto a = static_cast<double>(pair.a[i]);
    const auto b = static_cast<double>(pair.b[i]);
    const auto difference = static_cast<double>(pair.a[i] - pair.b[i]);
    dot.Add(i, a * b);
    a_squared.Add(i, a * a);
    b_squared.Add(i, b * b);
    difference_squared.Add(i, difference * difference);
  }
  return {dot.Total(), a_squared.Total(), b_squared.Total(), difference_squared.Total()};
}

template <typename T>
void Rank(const T* values, size_t count, const Brackets<RankKey<T>>& brackets,
          BracketHits<T>& hits) {
  for (size_t i = 0; i < count; ++i) {
    const RankKey<T> key = KeyOf(values[i]);
    bool inside = false;
    for (size_t bracket = 0; bracket < brackets.count; ++bracket) {
      if (key <= brackets.low[bracket]) continue;
      ++hits.above_low[bracket];
      inside = inside || key < brackets.high[bracket];
    }
    if (inside) hits.values[hits.used++] = values[i];
  }
}

template <typename T>
void CountBelow(const T* values, size_t count, const Thresholds<RankKey<T>>& thresholds,
                int64_t* below) {
  for (size_t k = 0; k < thresholds.count; ++k) {
    const RankKey<T> key = thresholds.keys[k];
    below[k] +=
        std::count_if(values, values + count, [key](T value) { return KeyOf(value) < key; });
  }
}

template <typename Bits>
BlockUlps Ulps(const RawPair& pair, uint64_t largest_magnitude) {
  constexpr Bits kMagnitude = static_cast<Bits>(~Bits{0}) >> 1;
  BlockUlps out;
  for (size_t i = 0; i < pair.count; ++i) {
    Bits a;
    Bits b;
    std::memcpy(&a, pair.a + i * sizeof(Bits), sizeof(Bits));
    std::memcpy(&b, pair.b + i * sizeof(Bits), sizeof(Bits));
    const uint64_t x = a & kMagnitude;
    const uint64_t y = b & kMagnitude;
    if (x > largest_magnitude || y > largest_magnitude) continue;
    const bool one_sign = (a > kMagnitude) == (b > kMagnitude);
    const uint64_t distance = !one_sign ? x + y : x > y ? x - y : y - x;
    ++out.measured;
    out.different += distance != 0 ? 1 : 0;
    out.max = std::max(out.max, distance);
  }
  return out;
}

template <DType kDType, typename T>
void Load(const std::byte* from, size_t count, T* to) {
  const ElementSpan elements{
      kDType, {from, count * static_cast<size_t>(BitsOf(kDType)) / 8}, static_cast<int64_t>(count)};
  const T* loaded = LoadBlock(elements, 0, count, to);
  if (loaded != to) std::copy(loaded, loaded + count, to);
}

template <DType... kDTypes>
StorageKernels MakeStorageKernels() {
  StorageKernels out;
  ((out.to_float[static_cast<size_t>(kDTypes)] = Load<kDTypes, float>), ...);
  ((out.to_double[static_cast<size_t>(kDTypes)] = Load<kDTypes, double>), ...);
  out.ulps[0] = Ulps<uint8_t>;
  out.ulps[1] = Ulps<uint16_t>;
  out.ulps[2] = Ulps<uint32_t>;
  out.ulps[3] = Ulps<uint64_t>;
  return out;
}

}  // namespace

template <typename T>
const BlockKernels<T>& ScalarKernels() {
  static constexpr BlockKernels<T> kTable = {
      Difference<T>,    Verdict<T>,       CountOutside<T>, WorstRatio<T>, Moments<T, false>,
      Moments<T, true>, CountSpecials<T>, Products<T>,     Rank<T>,       CountBelow<T>,
  };
  return kTable;
}
template const BlockKernels<float>& ScalarKernels();
template const BlockKernels<double>& ScalarKernels();

const StorageKernels& ScalarStorageKernels() {
  static const StorageKernels kTable =
      MakeStorageKernels<DType::kBool, DType::kInt8, DType::kUint8, DType::kInt16, DType::kUint16,
                         DType::kInt32, DType::kUint32, DType::kFloat16, DType::kBFloat16,
                         DType::kFloat32, DType::kFloat8E4M3FN, DType::kFloat8E4M3FNUZ,
                         DType::kFloat8E5M2, DType::kFloat8E5M2FNUZ>();
  return kTable;
}

}  // namespace vernier
