// The data for the charts of an output: a few hundred numbers, whatever the tensor's size.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace vernier {

/// Differences by size: `counts[i]` elements differ by at least 10^(first_decade + i) and by less
/// than ten times that. The lowest decade holds smaller ones too, the highest larger ones.
struct DecadesRecord {
  int first_decade = 0;
  std::vector<int64_t> counts;
  int64_t equal = 0;       ///< elements that do not differ
  int64_t not_finite = 0;  ///< differences that are NaN or infinite
};

/// Where the differences lie: the elements as a matrix, its cells the worst absolute difference of
/// the elements in them. A character of `cells` is a cell, row by row: 'A' no difference, then in
/// the order of the alphabet of base64url (B-Z, a-z, 0-9) from `least` to `most` in equal steps of
/// the logarithm, '-' infinite, '_' NaN, '.' no element.
struct HeatRecord {
  int rows = 0;
  int columns = 0;
  int64_t matrix_rows = 0;
  int64_t matrix_columns = 0;
  /// The first `row_axes` axes count the rows, the others the columns; -1: a folded vector.
  int row_axes = 0;
  double least = 0;
  double most = 0;
  std::string cells;
};

/// Values of both sides. Empty `missing` means that everything else is there. Complex numbers count
/// as their magnitudes.
struct ChartRecord {
  std::string missing;  ///< why there are none
  double low = 0;       ///< of the finite values on both sides
  double high = 0;
  std::vector<int64_t> first;  ///< counts of values in equal steps from low to high
  std::vector<int64_t> second;
  DecadesRecord differences;
  HeatRecord heat;
  /// Some elements, always with the worst, as four characters of base64url: twelve bits of the
  /// first side's value between `low` and `high`, then of the second's.
  std::string points;
};

}  // namespace vernier
