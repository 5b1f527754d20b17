#include "util/values/student.h"

#include <algorithm>
#include <cmath>

namespace vernier {

double NormalQuantile(double tail) {
  double low = 0, high = 40;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    const bool above = 0.5 * std::erfc(middle / std::sqrt(2.0)) < tail;
    (above ? high : low) = middle;
  }
  return high;
}

double StudentQuantile(double tail, double freedom) {
  const double degrees = std::max(freedom, 1.0);
  const double scaled = NormalQuantile(tail) * (8 * degrees + 3) / (8 * degrees + 1);
  return std::sqrt(degrees * std::expm1(scaled * scaled / degrees));
}

}  // namespace vernier
