// Whether two runs that must agree did.
#pragma once

#include <string>

#include "compare/functions/error_bound.h"
#include "vernier/tensor.h"

namespace vernier {

struct CompareOptions;

/// How far one result is from another, from closest to farthest.
enum class Closeness : uint8_t {
  kSameBits,     ///< bit for bit
  kWithinBound,  ///< as far apart as rounding explains
  kApart,        ///< farther
};

struct Agreement {
  Closeness closeness = Closeness::kSameBits;
  double times_over = 0;  ///< the worst output in multiples of its bound or tolerance
  /// Of kWithinBound the worst output, of kApart also its worst element: "output 'y' at (1, 5):
  /// 0.25 against 0.5, 12 times the bound".
  std::string where;
};

/// Compares `found` with `expected`: the same names, types and shapes, and values as close as
/// `options` require, whose --tolerance auto takes its bounds from `bounds` (may be null). NaN
/// equals NaN, with any bits.
Agreement HoldAgainst(TensorMap expected, TensorMap found, const CompareOptions& options,
                      const ErrorBounds* bounds);

/// "(1, 5)": the index of the element at that place in row-major order.
std::string FormatPlace(int64_t place, const Dims& dims);

}  // namespace vernier
