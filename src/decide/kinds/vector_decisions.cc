// embedding and regression: whether the two sides are near each other. Neither has a border on the
// reference's side alone, so there is no margin, and a flip is a clear one.
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "decide/kinds/class_rows.h"
#include "decide/kinds/kinds.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

void MakeFlip(DecisionSample& sample) { sample.flip = Flip::kClear; }

/// Of two rows.
struct RowProducts {
  double ab = 0;
  double aa = 0;
  double bb = 0;

  // 1 of equal rows, two rows of zeros among them; 0 of one row of zeros.
  double cosine() const {
    if (ab == aa && ab == bb) return 1;
    if (aa == 0 || bb == 0) return 0;
    const double both = aa * bb;
    const double norms = std::isnormal(both) ? std::sqrt(both) : std::sqrt(aa) * std::sqrt(bb);
    return std::clamp(ab / norms, -1.0, 1.0);
  }
};

// Partial sums that compilers make vectors of. `scale` keeps squares of huge and tiny values
// finite.
template <typename T>
RowProducts ProductsOf(std::span<const T> a, std::span<const T> b, double scale_a, double scale_b) {
  constexpr size_t kLanes = 8;
  double ab[kLanes] = {};
  double aa[kLanes] = {};
  double bb[kLanes] = {};
  const auto add = [&](size_t i, size_t lane) {
    const double x = static_cast<double>(a[i]) * scale_a;
    const double y = static_cast<double>(b[i]) * scale_b;
    ab[lane] += x * y;
    aa[lane] += x * x;
    bb[lane] += y * y;
  };
  size_t i = 0;
  for (; i + kLanes <= a.size(); i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) add(i + lane, lane);
  }
  for (; i < a.size(); ++i) add(i, 0);
  RowProducts products;
  for (size_t lane = 0; lane < kLanes; ++lane) {
    products.ab += ab[lane];
    products.aa += aa[lane];
    products.bb += bb[lane];
  }
  return products;
}

// 1, or what brings the largest magnitude of float64 values near 1 if squares could leave the
// range.
template <typename T>
double ScaleOf(std::span<const T> row) {
  if constexpr (sizeof(T) < sizeof(double)) return 1;
  double most = 0;
  for (const T value : row) most = std::max(most, std::abs(static_cast<double>(value)));
  if (most == 0 || !std::isfinite(most) || (most < 0x1p300 && most > 0x1p-300)) return 1;
  int exponent = 0;
  std::frexp(most, &exponent);
  return std::ldexp(1.0, std::clamp(-exponent, -1000, 1000));
}

template <typename T>
bool AllFinite(std::span<const T> row) {
  return std::ranges::all_of(row, [](T value) { return std::isfinite(value); });
}

template <typename T>
void DecideRow(std::span<const T> a, std::span<const T> b, double limit, DecisionSample& sample) {
  RowProducts products = ProductsOf(a, b, 1, 1);
  const bool in_range = std::isnormal(products.aa) && std::isnormal(products.bb);
  if (!in_range) products = ProductsOf(a, b, ScaleOf(a), ScaleOf(b));
  sample.first = "1";
  sample.first_margin = sample.second_margin = kNoMargin;
  const bool a_unusable = !std::isfinite(products.aa) && !AllFinite(a);
  const bool b_unusable = !std::isfinite(products.bb) && !AllFinite(b);
  if (a_unusable || b_unusable) return MakeInvalid(sample, a_unusable, b_unusable);
  const double cosine = products.cosine();
  sample.second = FormatG(cosine, 6);
  sample.similarity = std::max(cosine, 0.0);
  if (!(cosine >= limit)) MakeFlip(sample);
}

// "1.25", "0.5 0.25"; of many values the one that differs most, with its place.
template <typename T>
std::string ValueText(const T* values, int64_t count, int64_t worst) {
  constexpr int64_t kFewValues = 8;
  const auto text_of = [values](int64_t i) {
    constexpr int kDigits = 7;
    if constexpr (std::is_integral_v<T>) return std::to_string(values[i]);
    return FormatG(static_cast<double>(values[i]), kDigits);
  };
  if (count > kFewValues) return "[" + std::to_string(worst) + "] " + text_of(worst);
  std::string text;
  for (int64_t i = 0; i < count; ++i) text += (i > 0 ? " " : "") + text_of(i);
  return text;
}

/// How far two values are apart, and whether that is within the limit: exact of integers.
struct Apart {
  double by;
  bool within;
};

template <typename T>
Apart ApartBy(T a, T b, double limit) {
  if constexpr (std::is_integral_v<T>) {
    const auto x = static_cast<uint64_t>(a);
    const auto y = static_cast<uint64_t>(b);
    const uint64_t by = a > b ? x - y : y - x;
    return {static_cast<double>(by), limit >= 0x1p64 || by <= static_cast<uint64_t>(limit)};
  } else {
    const double by = a == b ? 0 : std::abs(static_cast<double>(a) - static_cast<double>(b));
    return {by, by <= limit};
  }
}

template <typename T>
void DecideValues(const T* a, const T* b, int64_t count, double limit, DecisionSample& sample) {
  int64_t within = 0;
  int64_t worst = 0;
  double most = -1;
  bool nan_a = false;
  bool nan_b = false;
  for (int64_t i = 0; i < count; ++i) {
    nan_a |= IsNan(a[i]);
    nan_b |= IsNan(b[i]);
    const Apart apart = ApartBy(a[i], b[i], limit);
    if (apart.within) ++within;
    if (apart.by > most) most = apart.by, worst = i;
  }
  sample.first = ValueText(a, count, worst);
  sample.second = ValueText(b, count, worst);
  sample.first_margin = sample.second_margin = kNoMargin;
  if (nan_a || nan_b) return MakeInvalid(sample, nan_a, nan_b);
  sample.similarity = static_cast<double>(within) / static_cast<double>(count);
  if (within == count) return;
  MakeFlip(sample);
  sample.detail = "largest difference " + FormatG(most, 6);
}

}  // namespace

std::vector<DecisionSample> DecideEmbedding(const DecideInput& input) {
  const Dims& dims = input.reference.dims();
  const ClassRows rows = RowsAlongAxis(dims, *ClassAxis(input.plan, dims));
  std::vector<DecisionSample> samples(static_cast<size_t>(rows.count()));
  WithFloats(input.reference, input.candidate, [&](auto zero) {
    using T = decltype(zero);
    RowReader<T> a(input.reference, rows);
    RowReader<T> b(input.candidate, rows);
    for (size_t i = 0; i < samples.size(); ++i) {
      const auto index = static_cast<int64_t>(i);
      DecideRow(a.Row(index), b.Row(index), input.plan.limit, samples[i]);
    }
  });
  return samples;
}

std::vector<DecisionSample> DecideRegression(const DecideInput& input) {
  const SampleShape shape = SamplesOf(input.reference.dims());
  std::vector<DecisionSample> samples;
  if (shape.size == 0) return samples;
  samples.resize(static_cast<size_t>(shape.samples));
  WithArithmetic(input.reference, input.candidate, [&](auto zero) {
    using T = decltype(zero);
    PartReader<T> a(input.reference, shape.size);
    PartReader<T> b(input.candidate, shape.size);
    for (int64_t i = 0; i < shape.samples; ++i) {
      DecideValues(a.Part(i), b.Part(i), shape.size, input.plan.limit,
                   samples[static_cast<size_t>(i)]);
    }
  });
  return samples;
}

}  // namespace vernier
