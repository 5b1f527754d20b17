// From an element's place to its coordinates.
#pragma once

#include <cstdint>

#include "vernier/tensor.h"

namespace vernier {

/// Of element `place`, in row-major order, of a tensor that has it: so no dimension is 0.
inline Dims CoordinatesOf(int64_t place, const Dims& dims) {
  Dims coordinates(dims.size());
  for (size_t axis = dims.size(); axis-- > 0;) {
    coordinates[axis] = place % dims[axis];
    place /= dims[axis];
  }
  return coordinates;
}

}  // namespace vernier
