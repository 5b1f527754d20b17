#include "picture/scale.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "util/text/number_text.h"

namespace vernier {
namespace {

constexpr double kMostDecades = 24;

}  // namespace

double RoundUp(double value) {
  const double power = std::pow(10.0, std::floor(std::log10(value)));
  for (const double factor : {1.0, 2.0, 5.0, 10.0}) {
    // The quotient of two powers of ten may miss a whole number by one unit in the last place.
    if (value <= factor * power * (1 + 1e-12)) return factor * power;
  }
  return 10 * power;
}

Scale Scale::Linear(double high) { return {false, 0, high > 0 ? high : 1}; }

Scale Scale::Logarithmic(double low, double high) {
  // Below the normal numbers neither quotients nor logarithms are exact.
  constexpr double kLeast = std::numeric_limits<double>::min();
  high = std::max(high, 10 * kLeast);
  low = std::max(low, kLeast);
  if (!(low < high)) return {true, high / 10, high};
  const double decades = std::log10(high) - std::log10(low);
  return {true, decades > kMostDecades ? high * std::pow(10.0, -kMostDecades) : low, high};
}

double Scale::Position(double value) const {
  if (std::isnan(value) || value <= low_) return 0;
  if (value >= high_) return 1;
  if (!logarithmic_) return value / high_;
  return (std::log10(value) - std::log10(low_)) / (std::log10(high_) - std::log10(low_));
}

double Scale::Value(double position) const {
  if (!logarithmic_) return position * high_;
  return std::pow(10.0, std::log10(low_) + position * (std::log10(high_) - std::log10(low_)));
}

Tick Scale::At(double value, int digits) const { return {Position(value), FormatG(value, digits)}; }

std::vector<Tick> Scale::Ticks(int most) const {
  return logarithmic_ ? LogarithmicTicks(most) : LinearTicks(most);
}

std::vector<Tick> Scale::LinearTicks(int most) const {
  const double rough = high_ / std::max(most, 1);
  // So small that their tenth is no number any more.
  if (rough < std::numeric_limits<double>::min()) return {At(0, 1), At(high_, 3)};
  const double step = RoundUp(rough);
  std::vector<Tick> ticks;
  // Counted, not compared with the end: near the largest double that would overflow.
  const auto last = static_cast<int>(high_ / step + 1e-9);
  for (int i = 0; i <= last; ++i) ticks.push_back(At(i * step, 6));
  return ticks;
}

std::vector<Tick> Scale::LogarithmicTicks(int most) const {
  const auto first = static_cast<int>(std::ceil(std::log10(low_) - 1e-9));
  const auto last = static_cast<int>(std::floor(std::log10(high_) + 1e-9));
  const int decades = last - first + 1;
  std::vector<Tick> ticks;
  if (decades >= 3) {
    const int step = (decades + most - 1) / most;
    for (int i = first; i <= last; i += step) ticks.push_back(At(std::pow(10.0, i), 3));
    return ticks;
  }
  for (int i = first - 1; i <= last; ++i) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double value = factor * std::pow(10.0, i);
      if (Contains(value)) ticks.push_back(At(value, 3));
    }
  }
  if (ticks.size() < 2) ticks = {At(low_, 3), At(high_, 3)};
  return ticks;
}

}  // namespace vernier
