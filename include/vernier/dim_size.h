// A size by the name of a dimension.
#pragma once

#include <cstdint>
#include <string>

namespace vernier {

/// A size for the dimensions that a model leaves free under one name, or for the one that
/// "INPUT[AXIS]" means.
struct DimSize {
  std::string dimension;
  int64_t size = 0;

  bool operator==(const DimSize&) const = default;
};

}  // namespace vernier
