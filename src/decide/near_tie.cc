#include "decide/near_tie.h"

#include <algorithm>
#include <utility>

#include "decide/class_rows.h"

namespace vernier {
namespace {

constexpr double kDeviationsOfMedian = 1.4826;

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

}  // namespace

double DifferenceNoise::scale() const {
  if (kept_.empty()) return 0;
  std::vector<double> sorted = kept_;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  const double upper = *middle;
  const double lower = sorted.size() % 2 == 1 ? upper : *std::max_element(sorted.begin(), middle);
  return kDeviationsOfMedian * (lower / 2 + upper / 2);
}

double OtherSamples::Without(int64_t sample) {
  if (own_.empty()) Measure();
  const std::vector<double>& own = own_[static_cast<size_t>(sample)];
  const size_t left = all_.size() - own.size();
  if (left == 0) return 0;
  const double lower = RankWithout(all_, own, (left - 1) / 2);
  return kDeviationsOfMedian * (lower / 2 + RankWithout(all_, own, left / 2) / 2);
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
