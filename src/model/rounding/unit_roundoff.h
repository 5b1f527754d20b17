// How finely a float type resolves.
#pragma once

#include "vernier/dtype.h"

namespace vernier {

/// Half the distance from 1 to the next number, of a float type; 0 for other types.
double UnitRoundoff(DType dtype);

}  // namespace vernier
