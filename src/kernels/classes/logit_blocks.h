// What is done to a block of a row of logits at a time, in vectors. Internal to kernels.
#pragma once

#include <limits>

#include "kernels/measures/block_kernels.h"

namespace vernier {

/// Of what a row has shown so far.
struct LogitExtent {
  double a_least = std::numeric_limits<double>::infinity();
  double a_most = -std::numeric_limits<double>::infinity();
  double b_least = std::numeric_limits<double>::infinity();
  double b_most = -std::numeric_limits<double>::infinity();
  /// The largest |a - b|. Not finite where an element is NaN or infinite, or two of them are too
  /// far apart for float64; the other members are then unset.
  double difference = 0;
};

/// Sums over a row, element i in lane i mod kSumLanes: however a row is cut into blocks, of whose
/// lengths all but the last are multiples of kSumLanes, the bits are the same.
struct LogitSums {
  double weight[kSumLanes] = {};  ///< e^x, where x is a less its maximum
  double excess[kSumLanes] = {};  ///< e^y - e^x, where y is b less its maximum
  double tilt[kSumLanes] = {};    ///< e^x (x - y); 0 where e^x is
};

/// The largest |a - b| of a row for which `add_near` will do.
inline constexpr double kNearLogits = 0x1p-4;

template <typename T>
struct LogitKernels {
  void (*extend)(const BlockPair<T>& pair, LogitExtent& extent);
  /// No element may be NaN, +inf or above its maximum; the maxima are finite.
  void (*add)(const BlockPair<T>& pair, double a_most, double b_most, LogitSums& sums);
  /// The same of rows that are near each other, with less work: e^x is good to 1e-11 alone, but in
  /// all sums by the same error, and e^y - e^x to nearly all digits even where it is small.
  void (*add_near)(const BlockPair<T>& pair, double a_most, double b_most, LogitSums& sums);
};

/// For the best vectors that this machine has; all give the same bits. T is float or double.
template <typename T>
const LogitKernels<T>& VectorLogitKernels();

/// The lanes added by halves. Changes them.
double TotalOfLanes(double (&lanes)[kSumLanes]);

}  // namespace vernier
