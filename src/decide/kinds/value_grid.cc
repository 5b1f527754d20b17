#include "decide/kinds/value_grid.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <set>

#include "decide/kinds/class_rows.h"

namespace vernier {
namespace {

constexpr int64_t kLeastOfGrid = 1024;

// Euclid's algorithm. Values are rounded, so that what is below `zero` counts as 0.
double CommonDivisor(double a, double b, double zero) {
  while (b > zero) {
    const double rest = std::fabs(std::remainder(a, b));
    a = b;
    b = rest;
  }
  return a;
}

void AddFinite(const Tensor& output, std::vector<double>& values) {
  WithFloats(output, output, [&](auto zero) {
    const int64_t count = output.element_count();
    PartReader<decltype(zero)> reader(output, count);
    const auto* const from = reader.Part(0);
    for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<double>(from[i]));
  });
}

}  // namespace

double StepOfGrid(const Tensor& output) {
  constexpr size_t kMostLevels = 257;
  constexpr double kOffGrid = 0.01;
  constexpr GridWidth kWidth;
  if (output.element_count() < kLeastOfGrid) return 0;
  std::set<double> levels;
  const bool few = WithFloats(output, output, [&](auto zero) {
    using T = decltype(zero);
    PartReader<T> reader(output, 1);
    for (int64_t i = 0; i < output.element_count() && levels.size() <= kMostLevels; ++i) {
      const auto value = static_cast<double>(*reader.Part(i));
      if (std::isfinite(value)) levels.insert(value);
    }
    return levels.size() <= kMostLevels;
  });
  if (!few || levels.size() < 2) return 0;
  double step = std::numeric_limits<double>::infinity();
  for (auto level = std::next(levels.begin()); level != levels.end(); ++level) {
    step = std::min(step, *level - *std::prev(level));
  }
  const double least = *levels.begin();
  const auto is_on = [&](double level) {
    const double steps = (level - least) / step;
    return std::fabs(steps - std::round(steps)) <= kOffGrid;
  };
  const double width = (*levels.rbegin() - least) / step;
  const bool wide = width > kWidth.least && width < kWidth.most;
  return wide && std::ranges::all_of(levels, is_on) ? step : 0;
}

double CommonStep(const std::vector<double>& values, const GridWidth& width) {
  constexpr size_t kLeastLevels = 4;
  constexpr double kRounding = 0x1p-22, kZeroOfStep = 0.25;
  double low = 0, high = 0;
  std::vector<double> levels;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
    if (value != 0) levels.push_back(std::fabs(value));
  }
  std::ranges::sort(levels);
  levels.erase(std::ranges::unique(levels).begin(), levels.end());
  if (levels.size() < kLeastLevels) return 0;
  const double most = levels.back(), least_step = most / width.most;
  double step = most;
  for (const double level : levels) {
    step = CommonDivisor(std::max(step, level), std::min(step, level), kZeroOfStep * least_step);
    if (step < least_step) return 0;
    step = most / std::round(most / step);  // or errors would add up
  }
  const auto is_on = [&](double level) {
    return std::fabs(level - std::round(level / step) * step) <= kRounding * most;
  };
  const double steps = (high - low) / step;
  const bool wide = steps > width.least && steps < width.most;
  return wide && std::ranges::all_of(levels, is_on) ? step : 0;
}

double CommonStepOf(const Tensor& a, const Tensor& b) {
  if (a.element_count() >= kLeastOfGrid || b.element_count() >= kLeastOfGrid) return 0;
  std::vector<double> values;
  AddFinite(a, values);
  AddFinite(b, values);
  return CommonStep(values);
}

}  // namespace vernier
