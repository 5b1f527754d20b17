// Values that lie on a grid, as those that were integers of 8 bits. Internal to decide.
#pragma once

#include <vector>

#include "vernier/tensor.h"

namespace vernier {

/// From the least value to the largest, in steps.
struct GridWidth {
  double least = 63;
  double most = 257;
};

/// Of floats: the step of a grid on which all of a thousand values or more lie, from 64 to 256
/// steps wide. Fewer steps do not come from rounding, but may be votes. 0: not on a grid.
double StepOfGrid(const Tensor& output);

/// Of fewer values: the largest step of which all are multiples but for the rounding of float32, as
/// of integers times a scale. 0: there is none of that width, or fewer than four magnitudes other
/// than 0, which may have a common step by chance. Values that are not finite are left out.
double CommonStep(const std::vector<double>& values, const GridWidth& width = {});

/// CommonStep() of the values of both sides, which have fewer than StepOfGrid() needs; else 0.
double CommonStepOf(const Tensor& a, const Tensor& b);

}  // namespace vernier
