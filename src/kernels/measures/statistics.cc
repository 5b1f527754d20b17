#include "kernels/measures/statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <type_traits>

#include "kernels/measures/compensated_sum.h"
#include "kernels/measures/quantile_rule.h"
#include "kernels/measures/rank_select.h"

namespace vernier {
namespace {

constexpr size_t kLanes = 16;
constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

template <typename T>
bool IsNan(T value) {
  if constexpr (std::is_floating_point_v<T>) return value != value;
  return false;
}

template <typename T>
double Magnitude(T value) {
  return std::fabs(static_cast<double>(value));
}

// Sixteen partial sums, whatever the vector width of the machine, so that the bits of the result
// do not depend on it.
template <typename T, typename Function>
double LaneSum(const T* values, size_t n, Function function) {
  std::array<double, kLanes> lanes;
  lanes.fill(-0.0);
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += function(values[i + lane]);
  }
  for (size_t lane = 0; i < n; ++i, ++lane) lanes[lane] += function(values[i]);
  for (size_t width = kLanes / 2; width > 0; width /= 2) {
    for (size_t lane = 0; lane < width; ++lane) lanes[lane] += lanes[lane + width];
  }
  return lanes[0];
}

// The smallest and largest value so far, NaN aside, with their first places.
template <typename T>
struct Extrema {
  T min{};
  T max{};
  int64_t argmin = -1;
  int64_t argmax = -1;
  int64_t first_nan = -1;

  void Add(const T* values, size_t n, int64_t start, bool has_nan) {
    size_t first = 0;
    while (first < n && IsNan(values[first])) ++first;
    if (has_nan && first_nan < 0) {
      const T* nan = std::find_if(values, values + n, IsNan<T>);
      first_nan = start + (nan - values);
    }
    if (first == n) return;
    T low = values[first];
    T high = values[first];
    for (size_t i = first; i < n; ++i) {
      low = values[i] < low ? values[i] : low;
      high = values[i] > high ? values[i] : high;
    }
    if (argmin < 0 || low < min) {
      min = low;
      argmin = start + (std::find(values, values + n, low) - values);
    }
    if (argmax < 0 || high > max) {
      max = high;
      argmax = start + (std::find(values, values + n, high) - values);
    }
  }
};

}  // namespace

template <typename T>
struct StatisticsBuilder<T>::State {
  State(int64_t total, std::span<const double> wanted)
      : count(total),
        quantiles(wanted.begin(), wanted.end()),
        ranks(total, NeededRanks(total, wanted)) {}

  int64_t count;
  std::vector<double> quantiles;
  RankSelector<T> ranks;
  Extrema<T> extrema;
  CompensatedSum sum;
  CompensatedSum magnitude_sum;
  int64_t seen = 0;
  int64_t nan_count = 0;
  int64_t infinite_count = 0;
  int64_t first_infinite = -1;
  double running_mean = 0;
  double squares = 0;  ///< sum of squared deviations from running_mean

  // Chan's rule for merging the moments of two sets.
  void MergeMoments(double block_mean, double block_squares, double block_count) {
    const auto before = static_cast<double>(seen);
    const double delta = block_mean - running_mean;
    const double total = before + block_count;
    squares += block_squares + delta * delta * (before * block_count / total);
    running_mean += delta * (block_count / total);
  }

  double Quantile(const RankPosition& position) const {
    if (nan_count > 0) return kNoValue;
    return Interpolate(static_cast<double>(ranks.Value(position.previous)),
                       static_cast<double>(ranks.Value(position.next)), position.fraction);
  }

  double Median() const {
    if (nan_count > 0) return kNoValue;
    return MiddleOf(static_cast<double>(ranks.Value((count - 1) / 2)),
                    static_cast<double>(ranks.Value(count / 2)));
  }
};

template <typename T>
StatisticsBuilder<T>::StatisticsBuilder(int64_t count, std::span<const double> quantiles)
    : state_(std::make_unique<State>(count, quantiles)) {}

template <typename T>
StatisticsBuilder<T>::~StatisticsBuilder() = default;

template <typename T>
void StatisticsBuilder<T>::Add(const T* values, size_t n) {
  State& s = *state_;
  if (n == 0) return;
  const double sum = LaneSum(values, n, [](T v) { return static_cast<double>(v); });
  const double magnitudes = LaneSum(values, n, [](T v) { return Magnitude(v); });
  s.sum.Add(sum);
  s.magnitude_sum.Add(magnitudes);
  int64_t nans = 0;
  if constexpr (std::is_floating_point_v<T>) {
    // The sum of magnitudes is finite unless it overflows or something is not finite.
    if (!std::isfinite(magnitudes)) {
      for (size_t i = 0; i < n; ++i) nans += IsNan(values[i]) ? 1 : 0;
      int64_t infinities = 0;
      for (size_t i = 0; i < n; ++i) infinities += std::isinf(values[i]) ? 1 : 0;
      if (infinities > 0 && s.first_infinite < 0) {
        const T* infinite = std::find_if(values, values + n, [](T v) { return std::isinf(v); });
        s.first_infinite = s.seen + (infinite - values);
      }
      s.infinite_count += infinities;
    }
  }
  s.nan_count += nans;
  s.extrema.Add(values, n, s.seen, nans > 0);
  const double mean = sum / static_cast<double>(n);
  const double squares = LaneSum(values, n, [mean](T v) {
    const double deviation = static_cast<double>(v) - mean;
    return deviation * deviation;
  });
  s.MergeMoments(mean, squares, static_cast<double>(n));
  s.ranks.Add(values, n);
  s.seen += static_cast<int64_t>(n);
}

template <typename T>
bool StatisticsBuilder<T>::NextPass() {
  // With a NaN the answer is NaN, whatever the order of the rest.
  return state_->nan_count == 0 && state_->ranks.NextPass();
}

template <typename T>
void StatisticsBuilder<T>::AddAgain(const T* values, size_t n) {
  state_->ranks.Add(values, n);
}

template <typename T>
ValueStatistics StatisticsBuilder<T>::Finish() const {
  const State& s = *state_;
  ValueStatistics out;
  out.count = s.count;
  if (s.count == 0) {
    out.mean = kNoValue;
    out.average_magnitude = kNoValue;
    out.quantiles.assign(s.quantiles.size(), std::numeric_limits<double>::infinity());
    return out;
  }
  const auto count = static_cast<double>(s.count);
  out.nan_count = s.nan_count;
  out.infinite_count = s.infinite_count;
  out.first_nan = s.extrema.first_nan;
  out.first_infinite = s.first_infinite;
  out.mean = s.sum.value() / count;
  out.average_magnitude = s.magnitude_sum.value() / count;
  const bool finite = s.nan_count == 0 && s.infinite_count == 0;
  out.variance = finite ? s.squares / count : kNoValue;
  out.std_dev = std::sqrt(out.variance);
  const bool has_nan = s.extrema.first_nan >= 0;
  out.min = has_nan ? kNoValue : static_cast<double>(s.extrema.min);
  out.max = has_nan ? kNoValue : static_cast<double>(s.extrema.max);
  out.argmin = has_nan ? s.extrema.first_nan : s.extrema.argmin;
  out.argmax = has_nan ? s.extrema.first_nan : s.extrema.argmax;
  out.median = s.Median();
  for (const double quantile : s.quantiles) {
    out.quantiles.push_back(s.Quantile(Locate(s.count, quantile)));
  }
  return out;
}

template class StatisticsBuilder<float>;
template class StatisticsBuilder<double>;
template class StatisticsBuilder<int64_t>;
template class StatisticsBuilder<uint64_t>;

namespace {

template <typename T, typename Load>
ValueStatistics Run(int64_t count, std::span<const double> quantiles, Load load) {
  StatisticsBuilder<T> builder(count, quantiles);
  T scratch[kBlockSize];
  for (int64_t start = 0; start < count; start += static_cast<int64_t>(kBlockSize)) {
    const auto n = static_cast<size_t>(std::min<int64_t>(kBlockSize, count - start));
    builder.Add(load(start, n, scratch), n);
  }
  while (builder.NextPass()) {
    for (int64_t start = 0; start < count; start += static_cast<int64_t>(kBlockSize)) {
      const auto n = static_cast<size_t>(std::min<int64_t>(kBlockSize, count - start));
      builder.AddAgain(load(start, n, scratch), n);
    }
  }
  return builder.Finish();
}

template <typename T>
ValueStatistics RunReal(const ElementSpan& elements, std::span<const double> quantiles) {
  return Run<T>(elements.count, quantiles, [&](int64_t start, size_t n, T* scratch) {
    return LoadBlock(elements, start, n, scratch);
  });
}

ValueStatistics RunMagnitudes(const ElementSpan& elements, std::span<const double> quantiles) {
  std::vector<std::complex<double>> buffer(kBlockSize);
  return Run<double>(elements.count, quantiles, [&](int64_t start, size_t n, double* scratch) {
    const std::complex<double>* values = LoadBlock(elements, start, n, buffer.data());
    for (size_t i = 0; i < n; ++i) scratch[i] = std::hypot(values[i].real(), values[i].imag());
    return static_cast<const double*>(scratch);
  });
}

}  // namespace

ValueStatistics ComputeStatistics(const ElementSpan& elements, std::span<const double> quantiles) {
  switch (NaturalArithmetic(elements.dtype)) {
    case Arithmetic::kFloat32:
      return RunReal<float>(elements, quantiles);
    case Arithmetic::kFloat64:
      return RunReal<double>(elements, quantiles);
    case Arithmetic::kInt64:
      return RunReal<int64_t>(elements, quantiles);
    case Arithmetic::kUint64:
      return RunReal<uint64_t>(elements, quantiles);
    case Arithmetic::kComplex:
      return RunMagnitudes(elements, quantiles);
    case Arithmetic::kString:
    case Arithmetic::kNone:
      break;
  }
  ValueStatistics none;
  none.count = elements.count;
  return none;
}

}  // namespace vernier
