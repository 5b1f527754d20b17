// threshold and sign: on which side of a border each value is.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>

#include "decide/kinds/class_rows.h"
#include "decide/kinds/decided_classes.h"
#include "decide/kinds/kinds.h"
#include "decide/kinds/logit_noise.h"
#include "decide/kinds/row_top.h"
#include "kernels/classes/class_blocks.h"

namespace vernier {
namespace {

/// Which values of a side are "in": for threshold those >= least, for sign those < 0.
struct Border {
  double limit = 0;  // what margins are measured from
  bool is_sign = false;
  double least = 0;  // the limit as the side's type has it

  bool IsIn(double value) const { return is_sign ? value < 0 : value >= least; }
  double Margin(double value) const { return Gap(std::max(value, limit), std::min(value, limit)); }
};

struct Borders {
  Border a, b;
};

Border BorderOf(const DecideInput& input, const Tensor& side) {
  if (input.plan.kind == DecisionKind::kSign) return {0, true, 0};
  return {input.plan.limit, false, LimitAs(side.dtype(), input.plan.limit)};
}

// The least value of T that is >= limit.
template <typename T>
T LeastNotBelow(double limit) {
  const auto near = static_cast<T>(limit);
  if (static_cast<double>(near) >= limit) return near;
  return std::nextafter(near, std::numeric_limits<T>::infinity());
}

/// The least values of both sides that are not below their limit.
template <typename T>
struct LeastValues {
  explicit LeastValues(const Borders& borders)
      : a(LeastNotBelow<T>(borders.a.least)), b(LeastNotBelow<T>(borders.b.least)) {}
  T a, b;
};

/// What a sample's values on both sides show, a vector at a time.
template <typename T>
struct BorderScan {
  static constexpr size_t kBytes = 16;
  static constexpr size_t kLanes = kBytes / sizeof(T);
  using Vector [[gnu::vector_size(kBytes)]] = T;
  using Mask = decltype(Vector{} < Vector{});  // 0 or -1

  /// Of one side.
  struct Side {
    Vector above = Vector{} + std::numeric_limits<T>::infinity();  // the least not below the limit
    Vector below = Vector{} - std::numeric_limits<T>::infinity();  // the largest below it
    Mask not_below = {};   // how many, negative; no sample has 2^33 values
    size_t others_in = 0;  // how many more

    // What another kernel has found.
    void Take(const BorderSide& found) {
      above[0] = std::min(above[0], static_cast<T>(found.above));
      below[0] = std::max(below[0], static_cast<T>(found.below));
      others_in += found.not_below;
    }
    double LeastMargin(double limit) const {
      double least = std::numeric_limits<double>::infinity();
      for (size_t lane = 0; lane < kLanes; ++lane) {
        // The least that is in may be below a limit that the type does not hold.
        least = std::min(least, std::abs(Gap(static_cast<double>(above[lane]), limit)));
        least = std::min(least, std::abs(Gap(limit, static_cast<double>(below[lane]))));
      }
      return least;
    }
    size_t count() const {
      int64_t sum = 0;
      for (size_t lane = 0; lane < kLanes; ++lane) sum -= not_below[lane];
      return static_cast<size_t>(sum) + others_in;
    }
  };

  Side a;
  Side b;
  bool differs = false;
  bool has_nan = false;  // on either side

  // Adds values. Is one of them not on the same side in both?
  bool Read(const T* from_a, const T* from_b, size_t count, const LeastValues<T>& limits) {
    bool found = false;
    if constexpr (std::is_same_v<T, float>) {
      const BorderSides sides = FindSides(from_a, from_b, count, limits.a, limits.b);
      a.Take(sides.a);
      b.Take(sides.b);
      has_nan |= sides.has_nan;
      found = sides.differs;
    } else {
      found = ReadInVectors(from_a, from_b, count, limits);
    }
    differs |= found;
    return found;
  }

 private:
  bool ReadInVectors(const T* from_a, const T* from_b, size_t count, const LeastValues<T>& limits) {
    const Vector least_a = Vector{} + limits.a, least_b = Vector{} + limits.b;
    Mask changed = {};
    Mask nan = {};
    bool found = false;
    size_t i = 0;
    for (; i + kLanes <= count; i += kLanes) {
      Vector x;
      Vector y;
      std::memcpy(&x, from_a + i, kBytes);
      std::memcpy(&y, from_b + i, kBytes);
      nan |= (x != x) | (y != y);
      changed |= Place(x, least_a, a) ^ Place(y, least_b, b);
    }
    for (; i < count; ++i) {
      const bool in_a = PlaceOne(from_a[i], limits.a, a);
      found |= in_a != PlaceOne(from_b[i], limits.b, b);
      has_nan |= IsNan(from_a[i]) || IsNan(from_b[i]);
    }
    for (size_t lane = 0; lane < kLanes; ++lane) {
      found |= changed[lane] != 0;
      has_nan |= nan[lane] != 0;
    }
    return found;
  }

  static Mask Place(Vector values, Vector least, Side& side) {
    constexpr T kInfinity = std::numeric_limits<T>::infinity();
    const Mask in = values >= least;
    const Vector high = in ? values : Vector{} + kInfinity;
    const Vector low = in ? Vector{} - kInfinity : values;
    side.above = high < side.above ? high : side.above;
    side.below = low > side.below ? low : side.below;
    side.not_below += in;
    return in;
  }

  static bool PlaceOne(T value, T least, Side& side) {
    if (!(value >= least)) {
      if (value > side.below[0]) side.below[0] = value;
      return false;
    }
    if (value < side.above[0]) side.above[0] = value;
    side.not_below[0] -= 1;
    return true;
  }
};

/// One sample on both sides.
template <typename T>
struct ValuePair {
  const T* a;
  const T* b;
  size_t count;
  int64_t index;
};

// `not_below`: how many of the values are not below the limit; none is NaN.
template <typename T>
std::string BorderText(const T* values, size_t count, size_t not_below, const Border& border) {
  const size_t total = border.is_sign ? count - not_below : not_below;
  if (count == 1) {
    if (border.is_sign) return total == 1 ? "-" : "+";
    return total == 1 ? "yes" : "no";
  }
  std::vector<size_t> in;
  for (size_t i = 0; i < count && in.size() < std::min(total, kMostListedSides); ++i) {
    if (border.IsIn(static_cast<double>(values[i]))) in.push_back(i);
  }
  return NumbersText(in, total);
}

/// Of a sample whose sides differ.
struct BorderFlips {
  size_t count = 0;
  double first_most = 0;
  double second_most = 0;
  double largest = 0;  // magnitude of a value that changed sides
};

// Where there is NaN, what is found means nothing.
template <typename T>
void AddBorderFlips(const ValuePair<T>& pair, const Borders& borders, BorderFlips& flips) {
  constexpr size_t kGroup = 64;
  const LeastValues<T> limits(borders);
  const auto changed = [&](size_t i) { return (pair.a[i] >= limits.a) != (pair.b[i] >= limits.b); };
  for (size_t first = 0; first < pair.count; first += kGroup) {
    const size_t end = std::min(first + kGroup, pair.count);
    int any = 0;
    for (size_t i = first; i < end; ++i) any |= changed(i) ? 1 : 0;
    for (size_t i = first; any != 0 && i < end; ++i) {
      if (!changed(i)) continue;
      const auto a = static_cast<double>(pair.a[i]);
      const auto b = static_cast<double>(pair.b[i]);
      ++flips.count;
      flips.first_most = std::max(flips.first_most, borders.a.Margin(a));
      flips.second_most = std::max(flips.second_most, borders.b.Margin(b));
      Raise(flips.largest, a);
      Raise(flips.largest, b);
    }
  }
}

// What changes sides is looked at again while it is at hand.
template <typename T>
BorderFlips ScanSample(const ValuePair<T>& pair, const Borders& borders, BorderScan<T>& scan) {
  constexpr size_t kChunk = 4096;
  const LeastValues<T> limits(borders);
  BorderFlips flips;
  for (size_t first = 0; first < pair.count; first += kChunk) {
    const size_t count = std::min(kChunk, pair.count - first);
    const ValuePair<T> chunk{pair.a + first, pair.b + first, count, pair.index};
    if (scan.Read(chunk.a, chunk.b, count, limits)) AddBorderFlips(chunk, borders, flips);
  }
  return flips;
}

// By the noise of the values that did not change sides.
template <typename T>
double LimitByOthers(const ValuePair<T>& pair, const Borders& borders, int64_t changed,
                     OtherSamples& others) {
  DifferenceNoise noise;
  const double limit = borders.a.limit;  // of sign 0
  LogitsOfValues logits(limit);
  for (size_t i = 0; i < pair.count; ++i) {
    const auto a = static_cast<double>(pair.a[i]);
    const auto b = static_cast<double>(pair.b[i]);
    if (borders.a.IsIn(a) != borders.b.IsIn(b)) continue;
    noise.Add(a, b);
    logits.Add(a, b);
  }
  if (const std::optional<double> scale = logits.scale()) {
    return LogitsOfValues::LimitAt(limit, NoiseLimit(*scale, NoisyValues::kOne, changed));
  }
  const double scale = noise.empty() ? others.Without(pair.index) : noise.scale();
  return NoiseLimit(scale, NoisyValues::kOne, changed);
}

template <typename T>
void DecideSides(const ValuePair<T>& pair, const Borders& borders, const NearTieRule& near_tie,
                 OtherSamples& others, DecisionSample& sample) {
  BorderScan<T> scan;
  const BorderFlips flips = ScanSample(pair, borders, scan);
  const bool nan_a = scan.has_nan && HasNan(std::span<const T>(pair.a, pair.count));
  const bool nan_b = scan.has_nan && HasNan(std::span<const T>(pair.b, pair.count));
  sample.near_tie = near_tie.known();
  sample.all_above = scan.a.count() + scan.b.count() == 2 * pair.count;
  if (!nan_a) sample.first = BorderText(pair.a, pair.count, scan.a.count(), borders.a);
  sample.second = sample.first;
  if (!nan_b && (scan.differs || nan_a)) {
    sample.second = BorderText(pair.b, pair.count, scan.b.count(), borders.b);
  }
  sample.first_margin = scan.a.LeastMargin(borders.a.limit);
  sample.second_margin = scan.b.LeastMargin(borders.b.limit);
  if (nan_a || nan_b) return MakeInvalid(sample, nan_a, nan_b);
  if (!scan.differs) return;
  sample.similarity = 1 - static_cast<double>(flips.count) / static_cast<double>(pair.count);
  sample.first_margin = flips.first_most;
  sample.second_margin = flips.second_most;
  if (pair.count > 1) {
    sample.detail = std::to_string(flips.count) + " of " + std::to_string(pair.count) + " values";
  }
  near_tie.Judge(sample, flips.largest, [&] {
    return LimitByOthers(pair, borders, static_cast<int64_t>(flips.count), others);
  });
}

}  // namespace

std::vector<DecisionSample> DecideBorder(const DecideInput& input) {
  if (HasWideIntegers(input)) return DecideIntegerBorder(input);
  const SampleShape shape = SamplesOf(input.reference.dims());
  const Borders borders{BorderOf(input, input.reference), BorderOf(input, input.candidate)};
  std::vector<DecisionSample> samples;
  if (shape.size == 0) return samples;
  samples.resize(static_cast<size_t>(shape.samples));
  WithFloats(input.reference, input.candidate, [&](auto zero) {
    using T = decltype(zero);
    PartReader<T> a(input.reference, shape.size);
    PartReader<T> b(input.candidate, shape.size);
    OtherSamples others(input.reference, input.candidate, shape.size);
    for (int64_t i = 0; i < shape.samples; ++i) {
      const ValuePair<T> pair{a.Part(i), b.Part(i), static_cast<size_t>(shape.size), i};
      DecideSides(pair, borders, input.near_tie, others, samples[static_cast<size_t>(i)]);
    }
  });
  return samples;
}

}  // namespace vernier
