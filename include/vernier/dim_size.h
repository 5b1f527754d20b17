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

  bool operator==(const DimSize&) const = default;
};

}  // namespace vernier
