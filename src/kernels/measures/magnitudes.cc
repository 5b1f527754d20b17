#include "kernels/measures/magnitudes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace vernier {
namespace {

// The halfway point to the number behind float16's largest one, and its smallest normal number.
constexpr double kFloat16Limit = 65520;
constexpr double kFloat16Normal = 6.103515625e-05;

}  // namespace

Magnitudes MeasureMagnitudes(const ElementSpan& elements) {
  Magnitudes m;
  m.count = elements.count;
  const Arithmetic arithmetic = NaturalArithmetic(elements.dtype);
  if (arithmetic == Arithmetic::kComplex || arithmetic == Arithmetic::kString ||
      arithmetic == Arithmetic::kNone) {
    return m;
  }
  double min = std::numeric_limits<double>::infinity();
  double max = -min;
  std::vector<double> scratch(kBlockSize);
  for (int64_t start = 0; start < elements.count; start += static_cast<int64_t>(kBlockSize)) {
    const auto n = static_cast<size_t>(std::min<int64_t>(kBlockSize, elements.count - start));
    const double* values = LoadBlock(elements, start, n, scratch.data());
    for (size_t i = 0; i < n; ++i) {
      const double value = values[i];
      if (!std::isfinite(value)) {
        ++(std::isnan(value) ? m.nan_count : m.infinite_count);
        if (m.first_not_finite < 0) m.first_not_finite = start + static_cast<int64_t>(i);
        continue;
      }
      const double size = std::fabs(value);
      min = std::min(min, value);
      max = std::max(max, value);
      m.beyond_float16 += size >= kFloat16Limit ? 1 : 0;
      m.below_float16 += size < kFloat16Normal && size > 0 ? 1 : 0;
    }
  }
  if (min <= max) {
    m.min = min;
    m.max = max;
  }
  return m;
}

}  // namespace vernier
