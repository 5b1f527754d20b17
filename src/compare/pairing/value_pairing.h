// Which output of one runner has the values of which output of the other.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "vernier/tensor.h"

namespace vernier {

/// Two outputs that hold the same values up to this are the same one.
inline constexpr double kMostPairError = 0.1;
/// And any other is at least so many times as far away.
inline constexpr double kPairMargin = 10;

/// What two outputs are apart by.
struct ValueDistance {
  double error = 0;          ///< RMS of the differences over the larger RMS of the two
  std::vector<size_t> axes;  ///< of B's axes, in the order that gives A's shape; empty: as it is
};

/// nullopt where they cannot be compared: other types or numbers of elements, no elements, strings,
/// values that are not finite. Where the shapes differ and B's axes in another order have A's, the
/// order with the smallest error counts; where no order has it, elements are taken in sequence.
/// Two that are all zero are 0 apart. The bytes of both must be here.
std::optional<ValueDistance> DistanceOfValues(const Tensor& a, const Tensor& b);

/// What is known of a tensor's values whatever order they are in.
struct ValueSummary {
  double mean = 0, rms = 0;
  bool decides = false;  ///< it has two values that differ, and none that is not finite
};

/// All zero for what holds no numbers. The bytes must be here.
ValueSummary SummariseValues(const Tensor& tensor);

/// No error between two tensors of these values is below this, in whatever order B's axes are.
double LeastErrorBetween(const ValueSummary& a, const ValueSummary& b);

/// DistanceOfValues where that is at most kMostPairError; what is farther is found early. The
/// summaries are those of the tensors.
std::optional<ValueDistance> DistanceWithin(const Tensor& a, const ValueSummary& a_values,
                                            const Tensor& b, const ValueSummary& b_values);

/// Two elements that differ by at most this share of B's RMS are equal.
inline constexpr double kEqualElements = 1e-3;

/// How many of the elements are equal, which a fault in a few channels leaves high.
struct ValueShare {
  double equal = 0;          ///< 0 to 1
  std::vector<size_t> axes;  ///< as of ValueDistance
};

/// nullopt as for DistanceOfValues; of several orders of axes the one with the largest share.
std::optional<ValueShare> ShareOfEqualValues(const Tensor& a, const Tensor& b);

struct ValuePair {
  size_t a = 0;  ///< index into A's outputs
  size_t b = 0;
  ValueDistance distance;
};

/// The distances between some outputs of A (rows) and some of B (columns), and who is a pair.
struct ValuePairing {
  std::vector<size_t> rows, columns;  ///< indices into the outputs of A, of B
  std::vector<std::vector<std::optional<double>>> errors;
  std::vector<ValuePair> pairs;  ///< in A's order

  /// A table of the errors, one line for each of A's outputs, without the last line's end. What is
  /// not comparable is "-".
  std::string Table(const TensorMap& a, const TensorMap& b) const;
};

/// A and B pair when each is the other's nearest, at most kMostPairError apart, and the next
/// nearest on either side is farther than that and kPairMargin times as far. Outputs that are
/// constant, of a single element or not finite are in no pair, but may prevent one.
ValuePairing PairByValue(const TensorMap& a, std::span<const size_t> rows, const TensorMap& b,
                         std::span<const size_t> columns);

}  // namespace vernier
