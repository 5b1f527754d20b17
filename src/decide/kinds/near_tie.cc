#include "decide/kinds/near_tie.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numbers>
#include <span>
#include <utility>

#include "decide/kinds/class_rows.h"
#include "decide/kinds/value_grid.h"

namespace vernier {
namespace {

// How many differences stand for a batch.
constexpr size_t kMostOfBatch = size_t{1} << 22U;

// The element `rank` of what is left of `all` without `own`, which is part of it; both are sorted.
double RankWithout(const std::vector<double>& all, const std::vector<double>& own, size_t rank) {
  for (const double value : own) {
    if (value > all[rank]) break;
    ++rank;
  }
  return all[rank];
}

// Of the flips of Gaussian noise, the share whose margins are beyond z standard deviations.
double ShareBeyond(double z) {
  return std::exp(-z * z / 2) - z * std::sqrt(std::numbers::pi / 2) * std::erfc(z / std::sqrt(2.0));
}

// By bisection.
double DeviationsFor(int64_t changed) {
  constexpr double kDeviations = 2, kMost = 12;
  if (changed <= 1) return kDeviations;
  const double share = ShareBeyond(kDeviations) / static_cast<double>(changed);
  double low = kDeviations, high = kMost;
  for (int i = 0; i < 40; ++i) {
    const double middle = (low + high) / 2;
    (ShareBeyond(middle) > share ? low : high) = middle;
  }
  return high;
}

constexpr double kRoomOfSteps = 1 + 0x1p-16;  // grids are sums of rounded numbers

bool IsBfloat(float value) { return (std::bit_cast<uint32_t>(value) & 0xFFFFU) == 0; }

// Subnormal values are multiples of the least.
bool IsHalf(float value) {
  constexpr float kLeastNormal = 0x1p-14F, kLeastInverse = 0x1p24F, kMost = 65504;
  const float magnitude = std::fabs(value);
  if (magnitude < kLeastNormal) return std::trunc(value * kLeastInverse) == value * kLeastInverse;
  const bool short_enough = (std::bit_cast<uint32_t>(value) & 0x1FFFU) == 0;
  return short_enough && (magnitude <= kMost || !std::isfinite(value));
}

double StepOfFloats(std::span<const std::byte> bytes) {
  bool bfloat = true, half = true;
  for (size_t at = 0; at + sizeof(float) <= bytes.size() && (bfloat || half); at += sizeof(float)) {
    float value = 0;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    bfloat = bfloat && IsBfloat(value);
    half = half && IsHalf(value);
  }
  return bfloat ? StepOf(DType::kBFloat16) : half ? StepOf(DType::kFloat16) : 0;
}

}  // namespace

NumberSpacing StepsOf(const Tensor& output) {
  NumberSpacing steps;
  steps.relative = StepOfValues(output);
  if (IsIntegral(output.dtype())) steps.absolute = 1;
  if (Kind(output.dtype()) != DTypeKind::kFloat) return steps;
  steps.absolute = StepOfGrid(output);
  if (steps.relative == 0) steps.relative = output.dtype() == DType::kFloat64 ? 0x1p-52 : 0x1p-23;
  return steps;
}

std::array<NumberSpacing, 2> StepsOfSides(const Tensor& a, const Tensor& b) {
  std::array<NumberSpacing, 2> steps = {StepsOf(a), StepsOf(b)};
  if (steps[0].absolute > 0 || steps[1].absolute > 0) return steps;
  steps[0].absolute = steps[1].absolute = CommonStepOf(a, b);
  return steps;
}

double TwoSteps(double step) { return 2 * step * kRoomOfSteps * kRoomOfSteps; }

void NearTieRule::RaiseToSteps(double largest, DecisionSample& sample) const {
  const bool tied = sample.first_margin == 0;
  const double margin = tied ? sample.second_margin : sample.first_margin;
  sample.over_bound = tied && margin > 0;
  if (largest == 0) return;  // of boxes, whose numbers are of several kinds
  if (!steps_) steps_ = StepsOfSides(*sides_[0], *sides_[1]);
  const double steps = (*steps_)[0].At(largest) + (*steps_)[1].At(largest);
  const double limit = TwoSteps(steps / 2);
  if (!(margin <= steps * kRoomOfSteps)) return;
  if (FlipByMargin(sample.first_margin, sample.second_margin, limit) != Flip::kNearTie) return;
  if (margin >= sample.near_tie) sample.near_tie = limit;
  sample.over_bound = !tied;
}

double StepOfValues(const Tensor& output) {
  return output.dtype() == DType::kFloat32 ? StepOfFloats(output.bytes()) : StepOf(output.dtype());
}

double DeviationOf(double median, size_t count) {
  constexpr double kDeviationsOfMedian = 1.4826, kForFew = 3;
  return kDeviationsOfMedian * median * (1 + kForFew / static_cast<double>(count));
}

double NoiseLimit(double scale, NoisyValues values, int64_t changed) {
  return DeviationsFor(changed) * std::sqrt(static_cast<double>(values)) * scale;
}

double DifferenceNoise::scale() const {
  if (kept_.empty()) return 0;
  std::vector<double> sorted = kept_;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  const double upper = *middle;
  const double lower = sorted.size() % 2 == 1 ? upper : *std::max_element(sorted.begin(), middle);
  return DeviationOf(lower / 2 + upper / 2, sorted.size());
}

double OtherSamples::Without(int64_t sample) {
  if (own_.empty()) Measure();
  const std::vector<double>& own = own_[static_cast<size_t>(sample)];
  const size_t left = all_.size() - own.size();
  if (left == 0) return 0;
  const double lower = RankWithout(all_, own, (left - 1) / 2);
  return DeviationOf(lower / 2 + RankWithout(all_, own, left / 2) / 2, left);
}

void OtherSamples::Measure() {
  const auto count = static_cast<size_t>(reference_.element_count() / size_);
  const size_t share = std::clamp(kMostOfBatch / count, size_t{1}, DifferenceNoise::kMostKept);
  own_.resize(count);
  WithArithmetic(reference_, candidate_, [&](auto zero) {
    using T = decltype(zero);
    PartReader<T> a(reference_, size_);
    PartReader<T> b(candidate_, size_);
    for (size_t i = 0; i < count; ++i) {
      const T* from_a = a.Part(static_cast<int64_t>(i));
      const T* from_b = b.Part(static_cast<int64_t>(i));
      DifferenceNoise noise(share);
      for (int64_t j = 0; j < size_; ++j) noise.Add(from_a[j], from_b[j]);
      own_[i] = std::move(noise.kept());
      std::ranges::sort(own_[i]);
      all_.insert(all_.end(), own_[i].begin(), own_[i].end());
    }
  });
  std::ranges::sort(all_);
}

}  // namespace vernier
