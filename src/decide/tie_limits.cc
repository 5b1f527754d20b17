#include "decide/tie_limits.h"

#include <bit>
#include <cmath>
#include <numeric>

#include "util/number_text.h"

namespace vernier {
namespace {

// The sign, the exponent and three bits of the fraction.
constexpr int kDroppedBits = 49;
constexpr size_t kBins = size_t{1} << (63 - kDroppedBits);

// Of a value >= 0, infinity included.
size_t BinOfValue(double value) { return std::bit_cast<uint64_t>(value) >> kDroppedBits; }

// P(X >= count) of a Poisson variable, where `count` is more than its mean.
double PoissonTail(int64_t count, double mean) {
  const auto k = static_cast<double>(count);
  double term = std::exp(k * std::log(mean) - mean - std::lgamma(k + 1));
  double sum = 0;
  for (double next = k + 1; sum + term != sum; ++next) {
    sum += term;
    term *= mean / next;
  }
  return sum;
}

}  // namespace

TieLimits::TieLimits() : margins_(kBins), limits_(kBins) {}

void TieLimits::Add(const DecisionSample& sample) {
  const double margin = sample.first_margin;
  if (!(margin >= 0)) return;
  ++counted_;
  if (margin == 0) return;
  ++margins_[BinOfValue(margin)];
  if (sample.flip != Flip::kNearTie) return;
  if (sample.by_noise) {
    ++by_noise_;
  } else if (sample.over_bound) {
    ++over_bound_;
  } else if (sample.near_tie > 0) {
    ++bounded_;
    ++limits_[BinOfValue(sample.near_tie)];
  }
}

// Limits beyond the bin of the median margin.
int64_t TieLimits::CountWide() const {
  int64_t below = counted_ - std::accumulate(margins_.begin(), margins_.end(), int64_t{0});
  int64_t wide = 0;
  for (size_t bin = 0; bin < kBins; ++bin) {
    if (2 * below > counted_) wide += limits_[bin];
    below += margins_[bin];
  }
  return wide;
}

bool TieLimits::AreTooMany() const {
  constexpr double kMostOfThoseBelow = 0.05, kUnlikely = 0.001;
  double below = 0;  // summed over the limits
  int64_t margins = 0;
  for (size_t bin = 0; bin < kBins; ++bin) {
    margins += margins_[bin];
    below += static_cast<double>(limits_[bin]) * static_cast<double>(margins);
  }
  const auto ties = static_cast<double>(bounded_);
  const double expected = kMostOfThoseBelow * below / ties;
  return ties > expected && PoissonTail(bounded_, expected) < kUnlikely;
}

DoubtfulTies TieLimits::Doubtful(bool one_margin) const {
  DoubtfulTies doubtful{by_noise_ + over_bound_, ""};
  std::vector<std::string> bounds;
  if (over_bound_ > 0) bounds.emplace_back("that the output exceeds");
  if (bounded_ > 0) {
    const int64_t wide = CountWide();
    const bool too_many = one_margin && AreTooMany();
    if (wide > 0) bounds.emplace_back("that is wider than most margins");
    if (too_many) bounds.emplace_back("that does not explain so many");
    doubtful.count += too_many ? bounded_ : wide;
  }
  std::vector<std::string> by;
  if (by_noise_ > 0) by.emplace_back("by the noise of the other values");
  if (!bounds.empty()) by.push_back("by an error bound " + JoinWords(bounds, " or "));
  doubtful.by = JoinWords(by, " or ");
  return doubtful;
}

}  // namespace vernier
