// A size for a named dimension, as `--dim NAME=SIZE` gives it.
#pragma once

#include <cstdint>
#include <string>

namespace vernier {

/// A size for all free dimensions of a model with one name, or for the single one that
/// "INPUT[AXIS]" addresses (AXIS counts from 0). If that dimension has a name, the size applies to
/// the name.
struct DimSize {
  std::string dimension;
  int64_t size = 0;  ///< in elements, >= 0

  /// Calls `field(name, value)` for each field, for the file of a run.
  template <typename Plan, typename Fields>
  static void EachField(Plan& dim, Fields& field) {
    field("dimension", dim.dimension);
    field("size", dim.size);
  }

  bool operator==(const DimSize&) const = default;
};

}  // namespace vernier
