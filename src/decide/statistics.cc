#include "decide/statistics.h"

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
  const auto n = static_cast<double>(trials);
  const double share = static_cast<double>(successes) / n;
  const double z2 = z * z;
  const double centre = (share + z2 / (2 * n)) / (1 + z2 / n);
  const double half = z / (1 + z2 / n) * std::sqrt((share * (1 - share) + z2 / (4 * n)) / n);
  // The ends are exact where nothing, or everything, succeeded.
  return {successes == 0 ? 0 : std::max(centre - half, 0.0),
          successes == trials ? 1 : std::min(centre + half, 1.0)};
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

int64_t SamplesToDecide(double rate, double limit) {
  constexpr double kZ = 1.959963984540054;
  if (rate == limit) return 0;
  const double distance = rate - limit;
  return SampleCount(std::floor(kZ * kZ * limit * (1 - limit) / (distance * distance)) + 1);
}

}  // namespace vernier
