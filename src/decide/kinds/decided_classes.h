// Which classes an output decides for: all of them, of which a decision's text may list a part.
#pragma once

#include <cstdint>
#include <vector>

#include "vernier/decision_plan.h"
#include "vernier/dtype.h"
#include "vernier/tensor.h"

namespace vernier {

/// The X of `threshold` as an output of that type is compared with: rounded to float16, bfloat16 or
/// float32; of other types as it is.
double LimitAs(DType dtype, double limit);

/// The classes of sample number `row` in rising order: of topK the K largest values, of threshold
/// those at or above its limit. The decision is of one of these kinds, fits the output, and the
/// sample has no NaN.
std::vector<int64_t> ClassesDecided(const DecisionPlan& decision, const Tensor& output,
                                    int64_t row);

}  // namespace vernier
