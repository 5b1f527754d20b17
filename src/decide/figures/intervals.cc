#include "decide/figures/intervals.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace vernier {
namespace {

int64_t SampleCount(double count) {
  if (std::isnan(count)) return 0;
  if (count >= 0x1p63) return std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(count);
}

constexpr double kZ95 = 1.959963984540054;

// Wilson's interval of counts that need not be whole. The ends are exact where nothing, or
// everything, succeeded.
std::pair<double, double> WilsonOf(double successes, double n, double z) {
  const double share = successes / n;
  const double z2 = z * z;
  const double centre = (share + z2 / (2 * n)) / (1 + z2 / n);
  const double half = z / (1 + z2 / n) * std::sqrt((share * (1 - share) + z2 / (4 * n)) / n);
  return {successes <= 0 ? 0 : std::max(centre - half, 0.0),
          successes >= n ? 1 : std::min(centre + half, 1.0)};
}

// The counts of PairedCounts, as many times as `scale` says.
struct PairedShares {
  double both, only_first, only_second, neither;

  PairedShares(const PairedCounts& counts, double scale)
      : both(static_cast<double>(counts.both) * scale),
        only_first(static_cast<double>(counts.only_first) * scale),
        only_second(static_cast<double>(counts.only_second) * scale),
        neither(static_cast<double>(counts.neither) * scale) {}

  double total() const { return both + only_first + only_second + neither; }

  // Newcombe's correlation of the two sides, lowered for continuity where it is positive.
  double Correlation() const {
    const double margins = std::sqrt(both + only_first) * std::sqrt(only_second + neither) *
                           std::sqrt(both + only_second) * std::sqrt(only_first + neither);
    if (margins == 0) return 0;
    const double product = both * neither - only_first * only_second;
    return (product > 0 ? std::max(product - total() / 2, 0.0) : product) / margins;
  }
};

std::pair<double, double> NewcombeInterval(const PairedShares& shares) {
  const double n = shares.total();
  const double p1 = (shares.both + shares.only_first) / n;
  const double p2 = (shares.both + shares.only_second) / n;
  const auto [low1, high1] = WilsonOf(shares.both + shares.only_first, n, kZ95);
  const auto [low2, high2] = WilsonOf(shares.both + shares.only_second, n, kZ95);
  const double phi = shares.Correlation();
  const auto reach = [phi](double x, double y) {
    return std::sqrt(std::max(x * x - 2 * phi * x * y + y * y, 0.0));
  };
  const double drop = (shares.only_first - shares.only_second) / n;
  return {drop - reach(p1 - low1, high2 - p2), drop + reach(high1 - p1, p2 - low2)};
}

// x with P(Z > x) = `tail`, by bisection: erfc keeps all digits of small tails.
double UpperQuantile(double tail) {
  double low = -40;
  double high = 40;
  for (int i = 0; i < 200; ++i) {
    const double middle = (low + high) / 2;
    (std::erfc(middle / std::sqrt(2.0)) / 2 > tail ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace

std::pair<double, double> WilsonInterval(int64_t successes, int64_t trials, double z) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  if (trials <= 0) return {kNone, kNone};
  return WilsonOf(static_cast<double>(successes), static_cast<double>(trials), z);
}

double McNemarP(int64_t only_first_right, int64_t only_second_right) {
  const int64_t few = std::min(only_first_right, only_second_right);
  const int64_t all = only_first_right + only_second_right;
  if (2 * few == all) return 1;
  // The probability of exactly `few`, as a product whose exponent is kept apart.
  long double term = 1;
  int64_t exponent = -all;
  for (int64_t i = 1; i <= few; ++i) {
    term *= static_cast<long double>(all - few + i) / static_cast<long double>(i);
    int shift = 0;
    term = std::frexp(term, &shift);
    exponent += shift;
  }
  // All that is rarer, each from the one before it.
  long double sum = 0;
  for (int64_t i = few; i >= 0 && sum + term != sum; --i) {
    sum += term;
    term *= static_cast<long double>(i) / static_cast<long double>(all - i + 1);
  }
  constexpr int64_t kBelowAll = -20000;
  const int power = static_cast<int>(std::max(exponent + 1, kBelowAll));
  return static_cast<double>(std::min(std::ldexp(sum, power), 1.0L));
}

int64_t McNemarSamples(double drop, double discordant, double alpha, double power) {
  const double share = std::max(drop, discordant);
  const double root = UpperQuantile(alpha / 2) * std::sqrt(share) +
                      UpperQuantile(1 - power) * std::sqrt(share - drop * drop);
  return SampleCount(std::ceil(std::max(root * root / (drop * drop), 1 / share)));
}

std::pair<double, double> PairedDropInterval(const PairedCounts& counts) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  if (counts.total() <= 0) return {kNone, kNone};
  return NewcombeInterval({counts, 1});
}

int64_t SamplesToDecideDrop(const PairedCounts& counts, double limit) {
  const auto n = static_cast<double>(counts.total());
  if (n <= 0 || static_cast<double>(counts.only_first - counts.only_second) / n == limit) return 0;
  const auto decides = [&](double samples) {
    const auto [low, high] = NewcombeInterval({counts, samples / n});
    return limit <= low || limit >= high;
  };
  double enough = n;
  while (!decides(enough)) {
    enough *= 2;
    if (enough >= 0x1p62) return 0;
  }
  double few = std::max(n, enough / 2);
  while (enough - few > std::max(0.5, enough * 1e-9)) {
    const double middle = (few + enough) / 2;
    (decides(middle) ? enough : few) = middle;
  }
  return SampleCount(std::ceil(enough));
}

int64_t SamplesToDecide(double rate, double limit) {
  if (rate == limit) return 0;
  const double distance = rate - limit;
  return SampleCount(std::floor(kZ95 * kZ95 * limit * (1 - limit) / (distance * distance)) + 1);
}

}  // namespace vernier
